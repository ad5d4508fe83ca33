"""``SharedMemory``: the knowledge that a tenant's agents share, as one agent reads it and adds to it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from longmind.arguments import checked_arguments
from longmind.errors import InvalidInput, NotFound
from longmind.pacing import Pace
from longmind.store.base import Delete, Put, Write
from longmind.systems import configuration
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.systems.shared.about import Judgement, judge
from longmind.systems.shared.claims import claim_key
from longmind.systems.shared.entries import NAME, add_support, as_shared, shared_store, with_supporters
from longmind.systems.shared.models import (
    KNOWLEDGE,
    KnowledgeCandidate,
    SharedBody,
    SharedHit,
    SharedKnowledge,
    SharedSettings,
    ShareProposal,
)
from longmind.systems.shared.support import fingerprint_scope
from longmind.types import Filter, Memory

_RANK = 60
"""The constant of reciprocal rank fusion: how fast a lower place in a ranking loses weight."""
_ROOM = 10
"""Room is made for a tenth of the candidates at once, so that a full memory is not searched at every proposal."""
Names = list[str]
Proposals = list[ShareProposal]


@checked_arguments
class SharedMemory:
    """The shared knowledge of a tenant: what enough of its agents know, without anything personal.

    Every agent of the tenant reads what is approved, and may support a statement. The rules, the reviews and what waits
    are the administrator's (``Longmind.shared``). It is stored under the tenant's agent ``@shared``.
    """

    def __init__(self, scoped: ScopedStore) -> None:
        self._mine = scoped
        self._scoped = shared_store(scoped)

    async def configuration(self) -> SharedSettings:
        """Return the tenant's current settings."""
        return await configuration.configuration(self._scoped, NAME, SharedSettings())

    # -- moving up -----------------------------------------------------------------------------------------------

    async def propose(
        self, candidate: str, *, evidence: Sequence[str] = (), names: Sequence[str] = ()
    ) -> ShareProposal:
        """Add this scope's support to a statement. Once enough agents support it, it becomes shared.

        A text that is about a person is refused, and nothing of it is stored. ``names`` are further names to look for;
        the speakers of the evidence are looked for too.
        """
        proposed = validated(KnowledgeCandidate, {"text": candidate, "names": [*names, *await self._names(evidence)]})
        return (await self.propose_many([proposed]))[0]

    async def propose_many(
        self, candidates: Sequence[KnowledgeCandidate], *, settings: SharedSettings | None = None, dry_run: bool = False
    ) -> Proposals:
        """Propose many statements in one write; return the results in order. A dry run writes nothing."""
        chosen = settings or await self.configuration()
        own = tuple(name for name in (self._mine.scope.user,) if name)
        judgements = await asyncio.to_thread(
            lambda: [
                judge(candidate.model_copy(update={"names": (*own, *candidate.names)}), chosen.allowed)
                for candidate in candidates
            ]
        )
        accepted: dict[str, tuple[KnowledgeCandidate, Judgement]] = {}
        for candidate, judgement in zip(candidates, judgements, strict=True):
            if judgement.about != "person":
                accepted.setdefault(claim_key(candidate), (candidate, judgement))
        proposals = (
            await retry_on_conflict(lambda: self._add_support(accepted, chosen, dry_run=dry_run)) if accepted else {}
        )
        return [
            ShareProposal(refused=f"It holds {judgement.personal}.")
            if judgement.about == "person"
            else proposals[claim_key(candidate)]
            for candidate, judgement in zip(candidates, judgements, strict=True)
        ]

    async def withdraw(self, candidate: str) -> SharedKnowledge | None:
        """Withdraw this scope's support; a statement with too little support is no longer shared.

        A statement that has no support left and was not reviewed is erased. Return None if nothing is left of it.
        """
        withdrawn = await self.withdraw_many([validated(KnowledgeCandidate, {"text": candidate})])
        return next(iter(withdrawn), None)

    async def withdraw_many(self, candidates: Sequence[KnowledgeCandidate]) -> tuple[SharedKnowledge, ...]:
        """Withdraw this scope's support of many statements in one write; return what is left of them."""
        keys = tuple(sorted({claim_key(candidate) for candidate in candidates}))
        if not keys:
            return ()
        settings = await self.configuration()

        async def take() -> tuple[SharedKnowledge, ...]:
            left: list[Memory] = []
            writes: list[Write] = []
            where = Filter(keys=keys, states=None)
            async for record in self._scoped.store.scan_all(self._scoped.scope, where):
                body = SharedBody.read(record)
                mine = fingerprint_scope(self._mine.scope, body.salt)
                others = tuple(supporter for supporter in body.supporters if supporter != mine)
                if len(others) == len(body.supporters):
                    left.append(record)
                else:
                    writes.append(with_supporters(record, body, others, settings))
            if writes:
                left += (await self._scoped.rewrite(writes, "shared: support withdrawn")).memories
            return tuple(as_shared(record) for record in left)

        return await retry_on_conflict(take)

    # -- reading -------------------------------------------------------------------------------------------------

    async def get(self, id: str) -> SharedKnowledge:
        """Return a piece of shared knowledge; what still waits, or was rejected, is ``NotFound``."""
        record = await self._scoped.store.get(self._scoped.scope, id)
        if record is None or record.kind != KNOWLEDGE or record.state != "active":
            raise NotFound(f"There is no shared knowledge {id}.", id=id)
        return as_shared(record)

    async def list(self) -> tuple[SharedKnowledge, ...]:
        """Return what is shared, the best supported first."""
        where = Filter(kinds=(KNOWLEDGE,), states=("active",))
        entries = [as_shared(record) async for record in self._scoped.store.scan_all(self._scoped.scope, where)]
        return tuple(sorted(entries, key=lambda entry: (-entry.support, entry.id)))

    async def search(self, query: str, *, k: int = 10) -> tuple[SharedHit, ...]:
        """Return the shared knowledge that matches a query best."""
        if k < 1:
            raise InvalidInput(f"k must be at least 1, not {k}.")
        if not query.strip():
            return ()
        scores = await self._ranked(query, k)
        best = sorted(scores, key=lambda id: (-scores[id], id))[:k]
        records = await self._scoped.store.get_all(self._scoped.scope, best) if best else []
        if records:
            await self._scoped.store.touch(self._scoped.scope, [record.id for record in records])
        return tuple(SharedHit(knowledge=as_shared(record), score=scores[record.id]) for record in records)

    # -- inside --------------------------------------------------------------------------------------------------

    async def _ranked(self, query: str, k: int) -> dict[str, float]:
        """Rank by words and, if there is an embedder, by meaning, combined by reciprocal ranks."""
        scope, where = self._scoped.scope, Filter(kinds=(KNOWLEDGE,), states=("active",))
        rankings = [await self._scoped.store.search_text(scope, query, k=4 * k, where=where)]
        vector = (await self._scoped.embed([query]))[0][0]
        if vector is not None:
            near = await self._scoped.store.search_vector(scope, vector, k=4 * k, where=where)
            rankings.append([hit for hit in near if hit.score > 0])
        scores: dict[str, float] = {}
        for ranking in rankings:
            for place, hit in enumerate(ranking):
                scores[hit.id] = scores.get(hit.id, 0.0) + (_RANK + 1) / (_RANK + 1 + place) / len(rankings)
        return {id: min(score, 1.0) for id, score in scores.items()}

    async def _add_support(
        self, accepted: dict[str, tuple[KnowledgeCandidate, Judgement]], settings: SharedSettings, *, dry_run: bool
    ) -> dict[str, ShareProposal]:
        """Add this scope's support to these statements, by key, in one write."""
        where = Filter(keys=tuple(sorted(accepted)), states=None)
        stored = {m.key: m async for m in self._scoped.store.scan_all(self._scoped.scope, where)}
        writes: list[Write] = []
        proposals: dict[str, ShareProposal] = {}
        pace = Pace()
        for key, (candidate, judgement) in accepted.items():
            await pace.pause()
            known = stored.get(key)
            record, write = add_support(
                self._scoped, self._mine.scope, candidate.text, key, judgement.about, known, settings
            )
            proposals[key] = ShareProposal(knowledge=as_shared(record), changed=write is not None)
            if write is not None:
                writes.append(write)
        if writes and not dry_run:
            writes += await self._make_room(sum(isinstance(write, Put) for write in writes), set(accepted), settings)
            await self._scoped.rewrite(writes, "shared: supported")
        return proposals

    async def _make_room(self, new: int, keys: set[str], settings: SharedSettings) -> Sequence[Write]:
        """Return what removes the candidates with the least support, the oldest first, if too many would wait."""
        waiting = (await self._scoped.store.stats(self._scoped.scope)).by_state.get("quarantined", 0) if new else 0
        excess = waiting + new - settings.candidates
        if excess <= 0:
            return ()
        where = Filter(kinds=(KNOWLEDGE,), states=None, metadata={"status": "pending"})
        pending = [m async for m in self._scoped.store.scan_all(self._scoped.scope, where) if m.key not in keys]
        pending.sort(key=lambda m: (m.metadata["support"], m.body["last_at"], m.id))
        most = max(excess, settings.candidates // _ROOM)
        return [Delete(record.id, record.version, erase=True) for record in pending[:most]]

    async def _names(self, evidence: Sequence[str]) -> Names:
        """Return the names that must not occur: those of the user, the agent, and the speakers of the evidence."""
        scope = self._mine.scope
        memories = await self._mine.store.get_all(scope, list(evidence)) if evidence else []
        if missing := set(evidence) - {memory.id for memory in memories}:
            raise NotFound(f"The evidence {min(missing)} is not among the memories here.", ids=sorted(missing))
        names = [scope.user, *(memory.user for memory in memories), *(memory.source.name for memory in memories)]
        return [name for name in names if name]
