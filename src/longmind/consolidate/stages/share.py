"""What an agent learnt, offered to all agents of its tenant: the support of many makes it shared knowledge.

Every fact that consolidation finds new is proposed to shared memory, for the scope it belongs to. Shared memory refuses
what looks personal, counts who supports a statement without keeping who, and lets it move up when enough independent
scopes know it, or when somebody approves it. A fact that no longer holds takes its support with it.

Shared memory belongs to no agent, so this is no part of the agent's own transactions. It is safe to repeat: a scope
supports a statement once. What is forgotten, or taken back by ``undo``, takes its support with it at once; a fact that
was changed in other ways does in the next run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from longmind.consolidate.rules.extraction import speaker_of
from longmind.consolidate.watermark import Ledger
from longmind.consolidate.work import Work
from longmind.store import journal
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.shared import Candidate, SharedMemory, SharedSettings
from longmind.types import Memory, Proposed

KIND = "fact"
_CONFIDENCE = 0.5
_TRUST = 0.5
"""What is less sure, or comes from a source that is trusted less, is no support."""
_LONGEST = 2_000
_NAMELESS = "user"
"""What somebody who gave no name is called in facts: what is said of them is as personal as if they had one."""


@dataclass(slots=True)
class Promoted:
    """What came of offering the facts of one run."""

    lines: list[Proposed] = field(default_factory=list)
    refused: int = 0


async def promote(work: Work, facts: Mapping[str, Memory], gone: Iterable[str], *, dry_run: bool) -> Promoted:
    """Support with these facts what they state, and withdraw the support of those that hold no longer."""
    told = Promoted()
    ended = [memory for memory in facts.values() if not _holds(memory)]
    ended += [] if dry_run else await _forgotten(work, frozenset(gone))
    lasting = [memory for memory in facts.values() if _holds(memory) and _is_sure(memory)]
    if not ended and not lasting:
        return told
    settings = await SharedMemory(work.reading(None)).configuration()
    if ended and not dry_run:
        still = Counter((m.user, m.content) for m in lasting)
        await withdraw(work.outside(None), [m for m in ended if not still[m.user, m.content]])
    if settings.automatic:
        for user in sorted({m.user for m in lasting}, key=lambda user: (user is not None, user or "")):
            own = [memory for memory in lasting if memory.user == user]
            await _offer(work, work.outside(user), own, settings, told, dry_run=dry_run)
    return told


async def withdraw(scoped: ScopedStore, facts: Iterable[Memory]) -> None:
    """Take back the support that these facts gave, each for the scope it belongs to."""
    stated = [fact for fact in facts if fact.kind == KIND and fact.content.strip() and len(fact.content) <= _LONGEST]
    if not stated:
        return
    known = await SharedMemory(scoped).known([fact.content for fact in stated])
    for fact in stated:
        if fact.content in known:
            await SharedMemory(_of(scoped, fact.user)).withdraw(fact.content)


async def _offer(
    work: Work, scoped: ScopedStore, facts: list[Memory], settings: SharedSettings, told: Promoted, *, dry_run: bool
) -> None:
    speakers = await _speakers(work, facts)
    candidates = [Candidate(text=fact.content, names=speakers[fact.id]) for fact in facts]
    proposals = await SharedMemory(scoped).propose_many(candidates, settings=settings, dry_run=dry_run)
    for fact, proposal in zip(facts, proposals, strict=True):
        shared = proposal.knowledge
        if shared is None:
            told.refused += 1
        elif proposal.changed:
            told.lines.append(
                Proposed(
                    action="add" if shared.support == 1 else "change",
                    memory_id=shared.id,
                    because_of=fact.id,
                    why=f"shared memory: {shared.status}, known to {shared.support} of {settings.support}",
                    stage="distill",
                    kind="knowledge",
                    content=shared.text[:300],
                )
            )


async def _speakers(work: Work, facts: list[Memory]) -> dict[str, tuple[str, ...]]:
    """For each fact the names of those who are known to have said it."""
    cited = {fact.id: [one["memory"] for one in fact.body.get("evidence", ())] for fact in facts}
    found = await work.draft.get(work.scope, list(dict.fromkeys(id for ids in cited.values() for id in ids)))
    by_id = {memory.id: memory for memory in found}
    named: dict[str, tuple[str, ...]] = {}
    for id, ids in cited.items():
        said = [by_id[one] for one in ids if one in by_id]
        told = {name for memory in said for name in (memory.user, memory.source.name, speaker_of(memory)) if name}
        named[id] = (*sorted(told), _NAMELESS)
    return named


async def _forgotten(work: Work, gone: Collection[str]) -> list[Memory]:
    """Facts that were removed since the last run, as far as the journal still tells them."""
    found: dict[str, Memory] = {}
    if not gone:
        return []
    last = (await Ledger(work.store, work.scope, work.clock).read()).through
    async for change in journal.changes(work.store.backend, work.scope, after=last):
        before = change.before
        if change.action == "delete" and change.memory_id in gone and before and before.get("kind") == KIND:
            found[change.memory_id] = Memory.model_validate(before)
    return list(found.values())


def _holds(memory: Memory) -> bool:
    return memory.state == "active" and memory.body.get("retracted_at") is None and memory.valid_to is None


def _is_sure(memory: Memory) -> bool:
    sure = float(memory.body.get("confidence", 0.0)) >= _CONFIDENCE and memory.trust >= _TRUST
    return sure and bool(memory.content.strip()) and len(memory.content) <= _LONGEST


def _of(scoped: ScopedStore, user: str | None) -> ScopedStore:
    return ScopedStore(
        scoped.store, scoped.scope.model_copy(update={"user": user}), scoped.clock, scoped.embed, scoped.search
    )
