"""Knowledge entries as records: learning an entry, and archiving the least useful when there are too many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.ownership import find_own, marks, mine, own_key
from longmind.systems.persona import evidence
from longmind.systems.persona.evidence import fold_label
from longmind.systems.persona.models import (
    KNOWLEDGE,
    LEDGER,
    Knowledge,
    KnowledgeBody,
    Learnt,
    PersonaSettings,
    ProfileSubject,
)
from longmind.systems.persona.traits import check_evidence, profile_scope
from longmind.systems.records import KeyedRecord
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Link, Memory, Model, Scope, Source, State

_DAY = 86_400.0
_RECENT_DAYS = 30.0
_OFTEN = 3.0
"""The number of uses at which the use part of ``usefulness`` reaches one half."""


class KnowledgeRevision(Model):
    """A counter of the changes to a user's knowledge."""

    revision: int = 0


@dataclass(frozen=True, slots=True)
class KnowledgeEntries:
    """The knowledge entries about the user, or of the agent."""

    scoped: ScopedStore
    about: ProfileSubject

    @property
    def scope(self) -> Scope:
        return profile_scope(self.scoped, self.about)

    async def all(self, state: State = "active") -> list[Memory]:
        where = mine(self.scope, kinds=(KNOWLEDGE,), metadata={"about": self.about}, states=(state,))
        return [record async for record in self.scoped.store.scan_all(self.scope, where)]

    async def learn(self, text: str, observed: KnowledgeBody, importance: float, settings: PersonaSettings) -> Learnt:
        """Store an entry. One that exists gains confidence, and comes back from the archive."""
        await check_evidence(self.scoped, observed.evidence)
        record = await find_own(self.scoped, entry_name(self.about, text), self.scope)
        if record is None:
            entry = self._record(text, observed, importance)
            return await self._write_entry(entry, Put(entry, existing="fail"), observed.evidence, settings)
        body = KnowledgeBody.read(record)
        if record.state == "active" and observed.evidence and set(observed.evidence) <= set(body.evidence):
            return Learnt(knowledge=as_knowledge(record, self.scoped.now()), created=False)
        more = body.model_copy(
            update={
                "confidence": evidence.raise_confidence(body.confidence, observed.confidence),
                "observations": body.observations + 1,
                "evidence": evidence.merge_evidence(body.evidence, observed.evidence),
            }
        )
        changes = {
            "body": more.model_dump(mode="json"),
            "importance": max(record.importance, importance),
            "state": "active",
        }
        return await self._write_entry(record, Update(record.id, changes, record.version), observed.evidence, settings)

    async def _write_entry(
        self, record: Memory, write: Write, fresh: Sequence[str], settings: PersonaSettings
    ) -> Learnt:
        """Write an entry and archive the least useful ones beyond the limit, in one batch."""
        now = self.scoped.now()
        revision = await self._revision_write()
        others = [other for other in await self.all() if other.id != record.id]
        over = len(others) + 1 - settings.knowledge
        leaving = _least_useful(others, over, now) if over > 0 else []
        links = [AddLink(Link(source=record.id, relation="derived_from", target=id)) for id in fresh]
        gone = [Update(other.id, {"state": "archived"}, other.version) for other in leaving]
        receipt = await self.scoped.rewrite([revision, write, *links, *gone], "persona: learnt")
        return Learnt(
            knowledge=as_knowledge(receipt.memories[1], now),
            created=isinstance(write, Put),
            archived=tuple(other.id for other in leaving),
        )

    async def _revision_write(self) -> Write:
        """Return a write that makes concurrent learners retry, so that each counts the entries of the other."""
        key = own_key(self.scope, f"{LEDGER}:{self.about}")
        fields = {"source": Source(role="assistant")}
        record = KeyedRecord(self.scoped.store, self.scope, self.scoped.clock, key, KnowledgeRevision(), fields=fields)
        return record.overwrite(KnowledgeRevision(revision=(await record.read()).revision + 1))

    def _record(self, text: str, body: KnowledgeBody, importance: float) -> Memory:
        return self.scoped.new(
            KNOWLEDGE,
            text,
            user=self.scope.user,
            key=own_key(self.scope, entry_name(self.about, text)),
            body=body.model_dump(mode="json"),
            importance=importance,
            metadata=marks(self.scope, about=self.about),
        )


def entry_name(about: ProfileSubject, text: str) -> str:
    """Return the name of an entry, which is the same for the same statement."""
    return f"knowledge:{about}:{sha256(fold_label(text).encode()).hexdigest()[:32]}"


def usefulness(record: Memory, now: datetime) -> float:
    """Return how much an entry is worth: by confidence, importance, and how often and recently it was used."""
    confidence = KnowledgeBody.read(record).confidence
    used = record.access_count / (record.access_count + _OFTEN)
    days = max((now - (record.last_accessed_at or record.recorded_at)).total_seconds(), 0.0) / _DAY
    recent = _RECENT_DAYS / (_RECENT_DAYS + days)
    return 0.3 * confidence + 0.3 * record.importance + 0.3 * used + 0.1 * recent


def _least_useful(entries: Sequence[Memory], count: int, now: datetime) -> list[Memory]:
    ranked = sorted(entries, key=lambda entry: (usefulness(entry, now), entry.recorded_at, entry.id))
    return ranked[:count]


def as_knowledge(record: Memory, now: datetime) -> Knowledge:
    body = KnowledgeBody.read(record)
    return Knowledge(
        id=record.id,
        about=body.about,
        text=record.content,
        confidence=body.confidence,
        importance=record.importance,
        observations=body.observations,
        evidence=body.evidence,
        used=record.access_count,
        usefulness=min(usefulness(record, now), 1.0),
        since=record.recorded_at,
        archived=record.state == "archived",
    )
