"""``SharedMemory``: the knowledge that a tenant's agents share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from secrets import token_hex
from typing import Any

from longmind.arguments import checked_arguments
from longmind.errors import InvalidInput, NotFound
from longmind.pacing import Pace
from longmind.store import journal
from longmind.store.base import Delete, Put, Update, Write
from longmind.systems import configuration
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.systems.shared.models import (
    AGENT,
    KNOWLEDGE,
    STATUSES,
    KnowledgeCandidate,
    SharedBody,
    SharedHit,
    SharedKnowledge,
    SharedSettings,
    ShareProposal,
    Status,
    Supporter,
)
from longmind.systems.shared.personal import find_personal
from longmind.systems.shared.support import (
    count_agents,
    count_independent,
    count_users,
    fingerprint_scope,
    is_supported,
    is_supporter,
)
from longmind.text.analysis import stem, words
from longmind.types import Filter, Json, Memory, Scope, State

NAME = "shared"
_STATES: dict[Status, State] = {"pending": "quarantined", "approved": "active", "rejected": "quarantined"}
_ARTICLES = frozenset(("a", "an", "the"))
_RANK = 60
"""The constant of reciprocal rank fusion: how fast a lower place in a ranking loses weight."""


Names = list[str]
Proposals = list[ShareProposal]


@checked_arguments
class SharedMemory:
    """The shared knowledge of a tenant: what enough of its agents and users know, without anything personal.

    Every agent of the tenant reads it. It is stored under the tenant's agent ``@shared``.
    """

    def __init__(self, scoped: ScopedStore) -> None:
        self._mine = scoped
        scope = Scope(tenant=scoped.scope.tenant, agent=AGENT)
        self._scoped = replace(scoped, scope=scope)

    async def configuration(self) -> SharedSettings:
        """Return the tenant's current settings."""
        return await configuration.configuration(self._scoped, NAME, SharedSettings())

    async def configure(self, /, **changes: Any) -> SharedSettings:
        """Change settings of the tenant permanently."""
        return await configuration.configure(self._scoped, NAME, SharedSettings(), changes)

    # -- moving up -----------------------------------------------------------------------------------------------

    async def propose(
        self, candidate: str, *, evidence: Sequence[str] = (), names: Sequence[str] = ()
    ) -> ShareProposal:
        """Add this scope's support to a statement. Once enough independent scopes support it, it becomes shared.

        A text that looks personal is refused, and nothing of it is stored. ``names`` are further names to look for; the
        speakers of the evidence are looked for too.
        """
        proposed = validated(KnowledgeCandidate, {"text": candidate, "names": [*names, *await self._names(evidence)]})
        return (await self.propose_many([proposed]))[0]

    async def propose_many(
        self, candidates: Sequence[KnowledgeCandidate], *, settings: SharedSettings | None = None, dry_run: bool = False
    ) -> Proposals:
        """Propose many statements in one write; return the results in order. A dry run writes nothing."""
        chosen = settings or await self.configuration()
        own = [name for name in (self._mine.scope.user,) if name]
        personal_parts = await asyncio.to_thread(
            lambda: [
                find_personal(candidate.text, [*own, *candidate.names], chosen.allowed) for candidate in candidates
            ]
        )
        texts = list(
            dict.fromkeys(
                c.text for c, personal_part in zip(candidates, personal_parts, strict=True) if personal_part is None
            )
        )
        proposals = await retry_on_conflict(lambda: self._add_support(texts, chosen, dry_run=dry_run)) if texts else {}
        return [
            proposals[candidate.text] if personal_part is None else ShareProposal(refused=f"It holds {personal_part}.")
            for candidate, personal_part in zip(candidates, personal_parts, strict=True)
        ]

    async def withdraw(self, candidate: str) -> SharedKnowledge | None:
        """Withdraw this scope's support; a statement with too little support is no longer shared.

        A statement that has no support left and was not reviewed is erased. Return None if nothing is left of it.
        """
        settings = await self.configuration()

        async def take() -> SharedKnowledge | None:
            record = await self._held(candidate)
            if record is None:
                return None
            body = SharedBody.read(record)
            mine = fingerprint_scope(self._mine.scope, body.salt)
            left = tuple(supporter for supporter in body.supporters if supporter != mine)
            if len(left) == len(body.supporters):
                return _as_shared(record)
            return await self._with_supporters(record, body, left, settings)

        return await retry_on_conflict(take)

    async def _with_supporters(
        self, record: Memory, body: SharedBody, left: tuple[Supporter, ...], settings: SharedSettings
    ) -> SharedKnowledge | None:
        """Store a statement with fewer supporters; erase it if none is left and nobody reviewed it."""
        if not left and body.by != "review":
            await self._scoped.rewrite([Delete(record.id, record.version, erase=True)], "shared: no support left")
            return None
        updated = body.model_copy(update={"supporters": left})
        if updated.status == "approved" and updated.by == "support" and count_independent(updated) < settings.support:
            updated = updated.model_copy(update={"status": "pending", "by": None})
        return await self._write(record, updated, "support withdrawn")

    async def remove_supporter(self, *, user: str | None = None, agent: str | None = None) -> Names:
        """Take a user, or an agent with all its users, out of who supports what is shared, for an erasure.

        Return the ids of the statements that count it as a supporter, or did before. What then has too little support
        is no longer shared; a statement that nobody supports any more, and that nobody reviewed, is erased.
        """
        settings = await self.configuration()
        supported: dict[str, None] = {}
        async for change in journal.changes(self._scoped.store.backend, self._scoped.scope):
            if change.before and is_supported(change.before.get("body"), user=user, agent=agent):
                supported[change.memory_id] = None
        where = Filter(kinds=(KNOWLEDGE,), states=None)
        async for record in self._scoped.store.scan_all(self._scoped.scope, where):
            if is_supported(record.body, user=user, agent=agent):
                supported[record.id] = None
        for id in supported:
            await retry_on_conflict(lambda id=id: self._without(id, settings, user=user, agent=agent))  # type: ignore[misc]
        return list(supported)

    async def _without(self, id: str, settings: SharedSettings, *, user: str | None, agent: str | None) -> None:
        record = await self._scoped.store.get(self._scoped.scope, id)
        if record is None or record.kind != KNOWLEDGE:
            return
        body = SharedBody.read(record)
        left = tuple(s for s in body.supporters if not is_supporter(s, body.salt, user=user, agent=agent))
        if len(left) < len(body.supporters):
            await self._with_supporters(record, body, left, settings)

    async def approve(self, id: str, note: str = "") -> SharedKnowledge:
        """Share a candidate after a review, whatever its support."""
        return await self._review(id, "approved", note)

    async def reject(self, id: str, note: str = "") -> SharedKnowledge:
        """Keep a candidate out, whatever its support, until it is approved."""
        return await self._review(id, "rejected", note)

    # -- reading -------------------------------------------------------------------------------------------------

    async def get(self, id: str) -> SharedKnowledge:
        """Return a piece of shared knowledge or a candidate."""
        return _as_shared(await self._scoped.need(id, KNOWLEDGE))

    async def list(self, status: Status | None = "approved") -> tuple[SharedKnowledge, ...]:
        """Return the knowledge with a status, the best supported first; with None all of it."""
        if status is not None and status not in STATUSES:
            raise InvalidInput(f"There is no status {status!r}.", hint=f"There are: {', '.join(STATUSES)}.")
        metadata = None if status is None else {"status": status}
        where = Filter(kinds=(KNOWLEDGE,), states=None, metadata=metadata)
        entries = [_as_shared(record) async for record in self._scoped.store.scan_all(self._scoped.scope, where)]
        return tuple(sorted(entries, key=lambda entry: (-entry.support, entry.id)))

    async def known(self, texts: Sequence[str]) -> frozenset[str]:
        """Return those of these statements that are shared, wait or were rejected."""
        keys = {text: _key(text) for text in texts}
        where = Filter(keys=tuple(sorted(set(keys.values()))), states=None)
        stored = (
            {record.key async for record in self._scoped.store.scan_all(self._scoped.scope, where)} if keys else set()
        )
        return frozenset(text for text, key in keys.items() if key in stored)

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
        return tuple(SharedHit(knowledge=_as_shared(record), score=scores[record.id]) for record in records)

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
        self, texts: Sequence[str], settings: SharedSettings, *, dry_run: bool
    ) -> dict[str, ShareProposal]:
        """Add this scope's support to these statements, in one write."""
        keys = {text: _key(text) for text in texts}
        where = Filter(keys=tuple(sorted(set(keys.values()))), states=None)
        stored = {m.key: m async for m in self._scoped.store.scan_all(self._scoped.scope, where)}
        writes: dict[str, Write] = {}
        by_key: dict[str, ShareProposal] = {}
        pace = Pace()
        for text, key in keys.items():
            await pace.pause()
            if key in by_key:  # the same statement in other words, handled above
                continue
            record, write = self._with_support(text, key, stored.get(key), settings)
            by_key[key] = ShareProposal(knowledge=_as_shared(record), changed=write is not None)
            if write is not None:
                writes[key] = write
        proposals = {text: by_key[key] for text, key in keys.items()}
        if writes and not dry_run:
            await self._scoped.rewrite(list(writes.values()), "shared: supported")
        return proposals

    def _with_support(
        self, text: str, key: str, record: Memory | None, settings: SharedSettings
    ) -> tuple[Memory, Write | None]:
        """Return a statement with this scope's support added, and the write that stores it."""
        now = self._scoped.now()
        if record is None:
            salt = token_hex(16)
            body = SharedBody(salt=salt, supporters=(fingerprint_scope(self._mine.scope, salt),), last_at=now)
            new = self._scoped.new(KNOWLEDGE, text, key=key, trust=0.6, **_fields(_share_if_supported(body, settings)))
            return new, Put(new, existing="fail")
        body = SharedBody.read(record)
        mine = fingerprint_scope(self._mine.scope, body.salt)
        if mine in body.supporters:
            return record, None
        more = body.model_copy(update={"supporters": (*body.supporters, mine), "last_at": now})
        fields = _fields(_share_if_supported(more, settings))
        return record.model_copy(update=fields), Update(record.id, fields, expected_version=record.version)

    async def _review(self, id: str, status: Status, note: str) -> SharedKnowledge:
        async def review() -> SharedKnowledge:
            record = await self._scoped.need(id, KNOWLEDGE)
            body = SharedBody.read(record).model_copy(update={"status": status, "by": "review", "note": note})
            return await self._write(record, body, status)

        return await retry_on_conflict(review)

    async def _write(self, record: Memory, body: SharedBody, reason: str) -> SharedKnowledge:
        write = Update(record.id, _fields(body), expected_version=record.version)
        return _as_shared((await self._scoped.rewrite([write], f"shared: {reason}")).memories[0])

    async def _names(self, evidence: Sequence[str]) -> Names:
        """Return the names that must not occur: those of the user, the agent, and the speakers of the evidence."""
        scope = self._mine.scope
        memories = await self._mine.store.get_all(scope, list(evidence)) if evidence else []
        if missing := set(evidence) - {memory.id for memory in memories}:
            raise NotFound(f"The evidence {min(missing)} is not among the memories here.", ids=sorted(missing))
        names = [scope.user, *(memory.user for memory in memories), *(memory.source.name for memory in memories)]
        return [name for name in names if name]

    async def _held(self, text: str) -> Memory | None:
        return await self._scoped.store.by_key(self._scoped.scope, _key(text))


def _key(text: str) -> str:
    """Return a key that is equal for the same words, apart from articles, endings and punctuation."""
    stems = " ".join(stem(word) for word in words(text) if word not in _ARTICLES)
    return f"shared:{sha256(stems.encode()).hexdigest()[:32]}"


def _share_if_supported(body: SharedBody, settings: SharedSettings) -> SharedBody:
    """Share a candidate that has enough support, unless it needs a review or was reviewed."""
    enough = count_independent(body) >= settings.support
    if body.status == "pending" and enough and not settings.approval:
        return body.model_copy(update={"status": "approved", "by": "support"})
    return body


def _fields(body: SharedBody) -> Json:
    return {
        "body": body.model_dump(mode="json"),
        "state": _STATES[body.status],
        "metadata": {"status": body.status, "support": count_independent(body)},
    }


def _as_shared(record: Memory) -> SharedKnowledge:
    body = SharedBody.read(record)
    return SharedKnowledge(
        id=record.id,
        text=record.content,
        status=body.status,
        by=body.by,
        note=body.note,
        support=count_independent(body),
        agents=count_agents(body),
        users=count_users(body),
        first_at=record.recorded_at,
        last_at=body.last_at,
    )
