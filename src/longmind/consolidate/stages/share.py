"""The stage ``share``: offers what an agent knows to the shared memory of its tenant.

That is facts, profile entries, lessons, procedures and general statements of messages. Shared memory judges what each
is about and refuses what is about a person, counts who supports a statement without keeping who, and shares it once
enough agents support it or somebody approves it. What no longer holds takes its support back.

Shared memory belongs to another agent, and a batch has one scope. So the stage writes a draft and a batch of its own:
after the batches of the agent and before its bookmark moves. A crash in between makes the next run propose the same
again, which changes nothing: a scope supports a statement once. When a memory is forgotten, or an operation that put
or reworded it is undone, or a run that read it, its support is withdrawn at once (``withdraw``). One that changed in
another way, by an edit for example, loses it in the next run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from longmind.consolidate.bookmarks import Bookmarks
from longmind.consolidate.edits import former_wordings
from longmind.consolidate.rules.extraction import speaker_of
from longmind.consolidate.rules.shareable import candidates_of, holds
from longmind.consolidate.work import Work, in_order
from longmind.kinds import SHAREABLE
from longmind.store import journal
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.shared import KnowledgeCandidate, SharedMemory, SharedSettings, claim_key
from longmind.systems.unvalidated import copy_unvalidated
from longmind.types import Memory

_PART = 500
"""Memories that are read at once."""
_NAMELESS = "user"
"""What facts call a user without a name. What is said of them is as personal as if they had one."""
Offers = list[tuple[Memory, KnowledgeCandidate]]


@dataclass(frozen=True, slots=True)
class ShareStage:
    """The stage."""

    name: str = "share"

    async def propose(self, work: Work) -> None:
        settings: SharedSettings | None = None
        offers: Offers = []
        ended: Offers = []
        for start in range(0, len(work.learnt), _PART):
            memories = await _memories(work, work.learnt[start : start + _PART])
            for memory, candidate in await asyncio.to_thread(_candidates, memories):
                (offers if holds(memory) else ended).append((memory, candidate))
            ended += await asyncio.to_thread(_candidates, await _as_worded_before(work, memories))
        ended += await asyncio.to_thread(_candidates, await _deleted(work))
        if not offers and not ended:
            return
        settings = await SharedMemory(work.scoped_shared(None)).configuration()
        still_stated = {(memory.user, claim_key(candidate)) for memory, candidate in offers}
        lost = [(memory, c) for memory, c in ended if (memory.user, claim_key(c)) not in still_stated]
        await _withdraw(work.scoped_shared(None), lost)
        if settings.automatic:
            for user in in_order({memory.user for memory, _ in offers}):
                await _offer(work, user, [offer for offer in offers if offer[0].user == user], settings)


async def withdraw(scoped: ScopedStore, memories: Iterable[Memory], *, present: Sequence[Memory] = ()) -> None:
    """Take back the support that these memories gave, each for the user it belongs to.

    What one of the ``present`` memories states keeps its support.
    """
    stated = [memory for memory in memories if memory.kind in SHAREABLE]
    if stated:
        kept = {(m.user, claim_key(c)) for m, c in await asyncio.to_thread(_candidates, present)}
        lost = await asyncio.to_thread(_candidates, stated)
        await _withdraw(scoped, [(memory, c) for memory, c in lost if (memory.user, claim_key(c)) not in kept])


async def read_by_run(scoped: ScopedStore, after: int, through: int) -> list[Memory]:
    """Return the messages between two numbers of the journal, whose sentences a run over them has offered."""
    parts = scoped.store.backend.feed(scoped.scope, after)
    rows = [row async for part in parts for row in part.rows if row.kind == "message" and after < row.seq <= through]
    return await scoped.store.get_all(scoped.scope, [row.id for row in rows])


async def _withdraw(scoped: ScopedStore, offers: Offers) -> None:
    for user in in_order({memory.user for memory, _ in offers}):
        own = replace(scoped, scope=scoped.scope.of_user(user))
        await SharedMemory(own).withdraw_many([candidate for memory, candidate in offers if memory.user == user])


def _candidates(memories: Sequence[Memory]) -> Offers:
    return [(memory, candidate) for memory in memories for candidate in candidates_of(memory)]


async def _memories(work: Work, ids: Sequence[str]) -> list[Memory]:
    """Return memories as this run leaves them. Those that it did not touch are not kept in the draft."""
    here = [id for id in ids if work.draft.has(id)]
    elsewhere = [id for id in ids if not work.draft.has(id)]
    return await work.draft.get(work.scope, here) + await work.store.get_all(work.scope, elsewhere)


async def _as_worded_before(work: Work, memories: Sequence[Memory]) -> list[Memory]:
    """Return the messages among these whose texts were changed, once with each former text."""
    edited = [memory for memory in memories if memory.kind == "message" and memory.version > 1]
    return [
        copy_unvalidated(memory, content=text)
        for memory in edited
        for _, text in await former_wordings(work, memory)
        if text != memory.content
    ]


async def _offer(work: Work, user: str | None, offers: Offers, settings: SharedSettings) -> None:
    """Add the support of one user to what these memories state."""
    names = await _names_of_speakers(work, [memory for memory, _ in offers if memory.kind == "fact"])
    candidates = [
        candidate.model_copy(update={"names": (*candidate.names, *names.get(memory.id, ()))})
        for memory, candidate in offers
    ]
    proposals = await SharedMemory(work.scoped_shared(user)).propose_many(candidates, settings=settings)
    for (memory, _), proposal in zip(offers, proposals, strict=True):
        statement = proposal.knowledge
        if statement is None:
            work.notes.rejected["personal"] += 1
        elif proposal.changed:
            why = f"shared memory: {statement.status}, known to {statement.support} of {settings.support}"
            work.notes.why[statement.id] = (memory.id, why)


async def _names_of_speakers(work: Work, facts: Sequence[Memory]) -> dict[str, tuple[str, ...]]:
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


async def _deleted(work: Work) -> list[Memory]:
    """Return what was deleted since the last run and may have given support, as far as the journal still has it."""
    if not work.deleted:
        return []
    memories: dict[str, Memory] = {}
    through = (await Bookmarks(work.store, work.scope, work.clock).run.read()).through
    async for change in journal.changes(work.store.backend, work.scope, after=through):
        before = change.before
        if change.action == "delete" and change.memory_id in work.deleted and before and before["kind"] in SHAREABLE:
            memories[change.memory_id] = Memory.model_validate(before)
    return list(memories.values())
