"""From deeds to skills: what was done in the same way again and again, with success, becomes a procedure.

Procedural memory finds the steps that most of the episodes have in common; here it is decided when to keep them. Each
kind of task has one procedure, known by the first episode of its kind. It grows as more is seen, by new versions, and
as long as nobody else has touched it: one that somebody changed is theirs, and one that somebody deleted stays deleted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from longmind.consolidate.work import Work
from longmind.errors import InvalidInput
from longmind.store.base import Batch, Put, Update
from longmind.systems.episodic import Cluster
from longmind.systems.procedural import (
    Distilled,
    ProceduralMemory,
    Procedure,
    ProcedureStore,
    ToolRegistry,
    Version,
    distill_procedure,
    load_traces,
)
from longmind.systems.scoped_store import ScopedStore
from longmind.text.analysis import STOP_WORDS, words
from longmind.types import Memory, Source

SUPPORT = 3
"""Successful episodes that must have done it in the same way."""
_STEPS = 2
"""A single call is no procedure."""
_EPISODES = 50
_TRUST = 0.5
_WORDS = 5
_NAME = 60
_UNNAMED = "procedure"


async def practise(work: Work, scoped: ScopedStore, cluster: Cluster, kind: str) -> None:
    """Keep, or renew, the procedure that a cluster of episodes suggests; ``kind`` names the cluster for good."""
    succeeded = [e.id for e in cluster.episodes if e.outcome == "succeeded"]
    if len(succeeded) < SUPPORT:
        return
    done = await load_traces(work.reading(scoped.scope.user), None, succeeded, limit=_EPISODES, min_trust=_TRUST)
    account = await _account(work, scoped, kind)
    try:
        distilled = distill_procedure(done, name=_UNNAMED, purpose=None, min_support=SUPPORT)
    except InvalidInput:  # such as a function whose name no step can have
        work.notes.rejected["invalid"] += 1
        return
    if distilled is None or len(distilled.procedure.steps) < _STEPS:
        return
    name = await _name(scoped, cluster, distilled.procedure) if account is None else str(account.body["name"])
    if not await _ours(scoped, name, account):
        return
    distilled = distilled.model_copy(update={"procedure": distilled.procedure.model_copy(update={"name": name})})
    stored = await ProceduralMemory(scoped, ToolRegistry()).store(
        distilled.procedure, why=distilled.why, derived_from=distilled.episodes
    )
    await _note(work, scoped, account, kind, distilled, stored)


async def _ours(scoped: ScopedStore, name: str, account: Memory | None) -> bool:
    """Whether the procedure is not there yet, or still as consolidation left it."""
    head = await ProcedureStore(scoped).find(name)
    if account is None:
        return head is None
    return head is not None and head.id == account.body["procedure"] and head.meta.number == account.body["number"]


async def _account(work: Work, scoped: ScopedStore, kind: str) -> Memory | None:
    """What consolidation noted of the procedure that it made of these episodes."""
    key = _key(kind)
    await work.draft.know_keys([key])
    held = (work.draft.now[id] for id in work.draft.holders(key))
    return next((memory for memory in held if memory is not None and memory.user == scoped.scope.user), None)


async def _note(
    work: Work, scoped: ScopedStore, account: Memory | None, kind: str, distilled: Distilled, stored: Version
) -> None:
    body = {"name": stored.name, "procedure": stored.id, "number": stored.number}
    if account is not None and account.body == body:
        return
    work.notes.why[stored.id] = (distilled.episodes[0], distilled.why)
    write: Put | Update
    if account is None:
        record = scoped.new("configuration", "", key=_key(kind), body=body, source=Source(role="system"), trust=1.0)
        write = Put(record, existing="fail")
    else:
        write = Update(account.id, {"body": body}, account.version)
    await work.draft.apply(Batch(work.scope, work.operation, work.clock.now(), (write,)))


def _key(kind: str) -> str:
    return f"configuration:distilled:{kind}"


async def _name(scoped: ScopedStore, cluster: Cluster, procedure: Procedure) -> str:
    """Return a name for a new procedure that no other bears: the words that the titles share, or else its steps."""
    name = common_title([episode.title for episode in cluster.episodes]) or steps_title(procedure)
    base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_NAME].rstrip("-") or _UNNAMED
    number, name = 2, base
    while await ProcedureStore(scoped).find(name) is not None:
        name, number = f"{base}-{number}", number + 1
    return name


def steps_title(procedure: Procedure) -> str:
    """Return what a procedure does, by the tools of its steps: "diagnose then apply fix"."""
    tools = dict.fromkeys(step.use for step in procedure.steps if step.use)
    return " then ".join(list(tools)[:_WORDS])


def common_title(titles: Sequence[str]) -> str:
    """Return the words of the most typical title that more than half of the titles have, without words that only join.

    A word at either end that joins or points ("the", "of") is left out: "Reset the password of" becomes "reset the
    password".
    """
    split = [[word for word in words(title) if not any(c.isdigit() for c in word)] for title in titles]
    spread = Counter(word for each in split for word in set(each))
    common = [[word for word in each if 2 * spread[word] > len(titles)] for each in split]
    best = max(common, key=lambda each: (sum(spread[word] for word in each), -len(each)), default=[])
    kept = list(dict.fromkeys(best))[:_WORDS]
    while kept and kept[-1] in STOP_WORDS:
        kept.pop()
    while kept and kept[0] in STOP_WORDS:
        kept.pop(0)
    return " ".join(kept)
