"""The stage ``share``: offers the facts of an agent to the shared memory of its tenant.

Shared memory refuses what looks personal, counts who supports a statement without keeping who, and shares it once
enough independent scopes support it or somebody approves it. A fact that no longer holds takes its support back.

Shared memory belongs to another agent, and a batch has one scope. So the stage writes a draft and a batch of its own:
after the batches of the agent and before its bookmark moves. A crash in between makes the next run propose the same
again, which changes nothing: a scope supports a statement once. When a fact is forgotten, or a run is undone, its
support is withdrawn at once (``withdraw``); a fact that changed in another way loses it in the next run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from longmind.consolidate.bookmarks import Bookmarks
from longmind.consolidate.rules.extraction import speaker_of
from longmind.consolidate.work import Work, in_order
from longmind.pacing import Pace
from longmind.store import journal
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.shared import KnowledgeCandidate, SharedMemory, SharedSettings
from longmind.types import Memory

KIND = "fact"
_MIN_CONFIDENCE = 0.5
_MIN_TRUST = 0.5
_MAX_CHARS = 2_000
_NAMELESS = "user"
"""What facts call a user without a name. What is said of them is as personal as if they had one."""


@dataclass(frozen=True, slots=True)
class ShareStage:
    """The stage."""

    name: str = "share"

    async def propose(self, work: Work) -> None:
        facts = await work.draft.get(work.scope, work.facts)
        ended = [fact for fact in facts if not _holds(fact)] + await _deleted_facts(work)
        lasting = [fact for fact in facts if _holds(fact) and _is_sure(fact)]
        if not ended and not lasting:
            return
        settings = await SharedMemory(work.scoped_shared(None)).configuration()
        still_stated = Counter((fact.user, fact.content) for fact in lasting)
        lost = [fact for fact in ended if not still_stated[fact.user, fact.content]]
        await withdraw(work.scoped_shared(None), lost)
        if settings.automatic:
            for user in in_order({fact.user for fact in lasting}):
                await _offer(work, user, [fact for fact in lasting if fact.user == user], settings)


async def withdraw(scoped: ScopedStore, facts: Iterable[Memory]) -> None:
    """Take back the support that these facts gave, each for the user it belongs to."""
    stated = [fact for fact in facts if fact.kind == KIND and fact.content.strip() and len(fact.content) <= _MAX_CHARS]
    if not stated:
        return
    known = await SharedMemory(scoped).known([fact.content for fact in stated])
    for fact in stated:
        if fact.content in known:
            own = replace(scoped, scope=scoped.scope.of_user(fact.user))
            await SharedMemory(own).withdraw(fact.content)


async def _offer(work: Work, user: str | None, facts: list[Memory], settings: SharedSettings) -> None:
    """Add the support of one user to what these facts state."""
    names = await _names_of_speakers(work, facts)
    candidates: list[KnowledgeCandidate] = []
    pace = Pace()
    for fact in facts:
        await pace.pause()
        candidates.append(KnowledgeCandidate(text=fact.content, names=names[fact.id]))
    proposals = await SharedMemory(work.scoped_shared(user)).propose_many(candidates, settings=settings)
    for fact, proposal in zip(facts, proposals, strict=True):
        statement = proposal.knowledge
        if statement is None:
            work.notes.rejected["personal"] += 1
        elif proposal.changed:
            why = f"shared memory: {statement.status}, known to {statement.support} of {settings.support}"
            work.notes.why[statement.id] = (fact.id, why)


async def _names_of_speakers(work: Work, facts: list[Memory]) -> dict[str, tuple[str, ...]]:
    """Return, for each fact, the names of those who are known to have said it."""
    cited = {fact.id: [evidence["memory"] for evidence in fact.body.get("evidence", ())] for fact in facts}
    sources = await work.draft.get(work.scope, list(dict.fromkeys(id for ids in cited.values() for id in ids)))
    by_id = {source.id: source for source in sources}
    names: dict[str, tuple[str, ...]] = {}
    for fact_id, source_ids in cited.items():
        said = [by_id[id] for id in source_ids if id in by_id]
        speakers = {name for source in said for name in (source.user, source.source.name, speaker_of(source)) if name}
        names[fact_id] = (*sorted(speakers), _NAMELESS)
    return names


async def _deleted_facts(work: Work) -> list[Memory]:
    """Return the facts that were deleted since the last run, as far as the journal still has them."""
    if not work.deleted:
        return []
    facts: dict[str, Memory] = {}
    through = (await Bookmarks(work.store, work.scope, work.clock).run.read()).through
    async for change in journal.changes(work.store.backend, work.scope, after=through):
        before = change.before
        if change.action == "delete" and change.memory_id in work.deleted and before and before.get("kind") == KIND:
            facts[change.memory_id] = Memory.model_validate(before)
    return list(facts.values())


def _holds(fact: Memory) -> bool:
    return fact.state == "active" and fact.body.get("retracted_at") is None and fact.valid_to is None


def _is_sure(fact: Memory) -> bool:
    sure = float(fact.body.get("confidence", 0.0)) >= _MIN_CONFIDENCE and fact.trust >= _MIN_TRUST
    return sure and bool(fact.content.strip()) and len(fact.content) <= _MAX_CHARS
