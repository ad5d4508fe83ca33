"""What was forgotten or edited since the last run, and what was learnt from words that are no longer there.

A message that was edited is read again. Facts that quote what it said before lose that evidence, and one that has no
other is stale, as is what was derived from it. If the new wording says the same, nothing changes; if the fact is told
again later, it is active again. The link to the message stays: erasing the message still erases what came from it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from longmind.consolidate.rules.extraction import extract_memory
from longmind.consolidate.watermark import Ledger, gone
from longmind.consolidate.work import Work
from longmind.store.base import Batch, Update, Write
from longmind.systems.semantic import find_derived, fold_name, predicate_name, with_next_revision
from longmind.types import Memory

_ALL = 10_000_000
Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Edited:
    """A memory whose wording was changed: what it said until when, oldest first, and what it states now."""

    memory: Memory
    wordings: tuple[tuple[datetime, str], ...]
    states: frozenset[Triple]

    def said(self, moment: datetime) -> str:
        """What it said at a moment."""
        return next((text for until, text in self.wordings if until >= moment), self.memory.content)


async def withdraw(work: Work) -> None:
    """Take back, in the draft, the evidence that sources which were edited no longer give."""
    changed = [memory for memory in work.sources if memory.version > 1]
    if not changed:
        return
    links = await work.draft.links(
        work.scope, [memory.id for memory in changed], relation="derived_from", direction="in", limit=_ALL
    )
    resting = await work.draft.get(work.scope, list(dict.fromkeys(link.source for link in links)))
    facts = [fact for fact in resting if fact.kind == "fact" and fact.body.get("evidence")]
    quoted = {evidence["memory"] for fact in facts for evidence in fact.body["evidence"]}
    edited = {m.id: found for m in changed if m.id in quoted and (found := await _edited(work, m)) is not None}
    gone = {fact.id: fact for fact in facts if len(_standing(fact, edited)) < len(fact.body["evidence"])}
    if gone:
        await _take_back(work, gone, edited, resting)


async def forgotten(work: Work) -> set[str]:
    """What was removed since the last run."""
    mark = await Ledger(work.store, work.scope, work.clock).read()
    return await gone(work.store, work.scope, mark.through)


async def wordings(work: Work, memory: Memory) -> list[tuple[datetime, str]]:
    """What a memory said before, each with when that was changed, oldest first."""
    found: list[tuple[datetime, str]] = []
    for change in await work.store.history(work.scope, memory.id) if memory.version > 1 else ():
        before, after = (change.before or {}).get("content"), (change.after or {}).get("content")
        if change.action == "update" and before is not None and before != after:
            found.append((change.at, before))
    return found


async def _edited(work: Work, memory: Memory) -> _Edited | None:
    """How a memory read before; None if its text was never changed."""
    said = await wordings(work, memory)
    if not said:
        return None
    claims = extract_memory(memory).claims
    states = frozenset((fold_name(c.subject), predicate_name(c.predicate), fold_name(c.object)) for c in claims)
    return _Edited(memory, tuple(said), states)


def _standing(fact: Memory, edited: Mapping[str, _Edited]) -> list[dict[str, Any]]:
    """The evidence of a fact that still says what it said when the fact was learnt."""
    body = fact.body
    told = (fold_name(body["subject_name"]), body["predicate"], fold_name(str(body["object"])))
    return [
        one
        for one in body["evidence"]
        if (source := edited.get(one["memory"])) is None
        or told in source.states
        or _quoted(source.said(fact.recorded_at), one["span"]) == _quoted(source.memory.content, one["span"])
    ]


def _quoted(text: str, span: Sequence[int] | None) -> str:
    """The characters that evidence points to: without a span all of them."""
    return text if span is None else text[span[0] : span[1]]


async def _take_back(
    work: Work, facts: Mapping[str, Memory], edited: Mapping[str, _Edited], resting: Collection[Memory]
) -> None:
    """Write, in the draft, that these facts have less to rest on."""
    writes: list[Write] = []
    without: list[str] = []
    for fact in facts.values():
        kept = _standing(fact, edited)
        changes: dict[str, Any] = {"body": {**with_next_revision(fact), "evidence": kept}}
        lost = next(one["memory"] for one in fact.body["evidence"] if one not in kept)
        if not kept and fact.state == "active":
            changes["state"] = "stale"
            without.append(fact.id)
        writes.append(Update(fact.id, changes, fact.version))
        work.notes.why[fact.id] = (lost, "the words that said so were changed")
    told = {facts[id].content for id in without}
    follow = [m for m in resting if m.kind == "knowledge" and m.content in told]
    follow += await find_derived(work.scoped(work.scope.user), without)
    for record in {m.id: m for m in follow if m.state == "active" and m.id not in facts}.values():
        writes.append(Update(record.id, {"state": "stale"}, record.version))
        work.notes.why.setdefault(record.id, (without[0], "rested on words that were changed"))
    await work.draft.apply(Batch(work.scope, work.operation, work.clock.now(), tuple(writes)))
