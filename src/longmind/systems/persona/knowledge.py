"""Knowledge entries as records: learning one, and which leaves when there are too many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.ownership import find_own, marks, mine, own_key
from longmind.systems.persona import evidence
from longmind.systems.persona.evidence import folded
from longmind.systems.persona.models import (
    KNOWLEDGE,
    LEDGER,
    Knowledge,
    KnowledgeBody,
    Learnt,
    PersonaSettings,
    ProfileSubject,
)
from longmind.systems.persona.traits import check_evidence, whose
from longmind.systems.records import KeyedRecord
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Link, Memory, Model, Scope, Source, State

_DAY = 86_400.0
_RECENT_DAYS = 30.0
_OFTEN = 3.0
"""Uses after which an entry counts half as much as one that is used all the time."""


class KnowledgeRevision(Model):
    """Counts the changes of a user's knowledge."""

    revision: int = 0


@dataclass(frozen=True, slots=True)
class Entries:
    """The knowledge of the user, or of the agent."""

    scoped: ScopedStore
    about: ProfileSubject

    @property
    def scope(self) -> Scope:
        return whose(self.scoped, self.about)

    async def all(self, state: State = "active") -> list[Memory]:
        where = mine(self.scope, kinds=(KNOWLEDGE,), metadata={"about": self.about}, states=(state,))
        return [record async for record in self.scoped.store.scan_all(self.scope, where)]

    async def learn(self, text: str, observed: KnowledgeBody, importance: float, settings: PersonaSettings) -> Learnt:
        """Take in a piece of knowledge; one that is there becomes surer, and comes back from the archive."""
        await check_evidence(self.scoped, observed.evidence)
        record = await find_own(self.scoped, entry_name(self.about, text), self.scope)
        if record is None:
            entry = self._record(text, observed, importance)
            return await self._in(entry, Put(entry, existing="fail"), observed.evidence, settings)
        body = KnowledgeBody.read(record)
        if record.state == "active" and observed.evidence and set(observed.evidence) <= set(body.evidence):
            return Learnt(knowledge=as_knowledge(record, self.scoped.now()), created=False)
        more = body.model_copy(
            update={
                "confidence": evidence.agreed(body.confidence, observed.confidence),
                "observations": body.observations + 1,
                "evidence": evidence.seen(body.evidence, observed.evidence),
            }
        )
        changes = {
            "body": more.model_dump(mode="json"),
            "importance": max(record.importance, importance),
            "state": "active",
        }
        return await self._in(record, Update(record.id, changes, record.version), observed.evidence, settings)

    async def _in(self, record: Memory, write: Write, fresh: Sequence[str], settings: PersonaSettings) -> Learnt:
        """Write an entry, and let the least useful go if there are too many, in one."""
        now = self.scoped.now()
        anchor = await self._anchor()
        others = [other for other in await self.all() if other.id != record.id]
        over = len(others) + 1 - settings.knowledge
        leaving = _least_useful(others, over, now) if over > 0 else []
        links = [AddLink(Link(source=record.id, relation="derived_from", target=id)) for id in fresh]
        gone = [Update(other.id, {"state": "archived"}, other.version) for other in leaving]
        receipt = await self.scoped.rewrite([anchor, write, *links, *gone], "persona: learnt")
        return Learnt(
            knowledge=as_knowledge(receipt.memories[1], now),
            created=isinstance(write, Put),
            archived=tuple(other.id for other in leaving),
        )

    async def _anchor(self) -> Write:
        """The write that makes two learners at once take turns, so that both see how many entries there are."""
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
    """The name under which an entry is held: the same statement is the same entry."""
    return f"knowledge:{about}:{sha256(folded(text).encode()).hexdigest()[:32]}"


def usefulness(record: Memory, now: datetime) -> float:
    """How much an entry is worth keeping: how sure and how important it is, how often and how lately it was used."""
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
