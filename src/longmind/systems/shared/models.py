"""What shared memory stores and returns.

It lives in an agent of its own in every tenant, whose name no user can give. A candidate waits there ``quarantined``,
so that no recall finds it, and becomes ``active`` when it moves up. Who supported it is kept as fingerprints, which can
be counted and compared but not read.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from longmind.systems.scoped_store import validated
from longmind.types import Memory, Model, Moment, Tag, Text, Unit

AGENT = "@shared"
"""The reserved agent of a tenant that holds its shared memory."""
KNOWLEDGE = "knowledge"
Status = Literal["pending", "approved", "rejected"]
STATUSES: tuple[Status, ...] = ("pending", "approved", "rejected")
Statement = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
MAX_SUPPORT = 10_000


class SharedSettings(Model):
    """What a tenant does its own way with shared memory; see ``SharedMemory.configure``."""

    support: Annotated[int, Field(ge=1, le=1_000)] = 3
    """Independent scopes that must know the same before it moves up."""
    approval: bool = False
    """Whether a person has to approve what has enough support; without it the support is enough."""
    allowed: tuple[Tag, ...] = ()
    """Names that are not of people, such as products, and may stand in shared knowledge."""
    automatic: bool = True
    """Whether consolidation proposes by itself what agents and users of the tenant have learnt."""


class Supporter(Model):
    """A scope that knows it: fingerprints of its agent and, if it has one, of its user."""

    agent: str
    user: str | None = None


class SharedBody(Model):
    """Shared knowledge as it is stored."""

    status: Status = "pending"
    by: Literal["support", "review"] | None = None
    """What moved it up or kept it out: enough support, or a review."""
    note: Text = ""
    salt: str
    supporters: Annotated[tuple[Supporter, ...], Field(max_length=MAX_SUPPORT)] = ()
    last_at: Moment

    @classmethod
    def read(cls, record: Memory) -> SharedBody:
        return validated(cls, record.body)


class SharedKnowledge(Model):
    """A piece of shared knowledge, or a candidate for it. It tells how many support it, never who."""

    id: str
    text: str
    status: Status
    by: Literal["support", "review"] | None
    note: str
    support: int
    """Independent scopes that know it."""
    agents: int
    users: int
    first_at: Moment
    last_at: Moment


class ShareProposal(Model):
    """What proposing did: the candidate as it stands now, or why it was refused."""

    knowledge: SharedKnowledge | None = None
    refused: str | None = None
    """What looked personal in it; nothing of a refused text is stored."""
    changed: bool = False
    """Whether this proposal added support; False where it was there already."""


class KnowledgeCandidate(Model):
    """Something to propose: the statement, and the names of those it could be about."""

    text: Statement
    names: tuple[str, ...] = ()


class SharedHit(Model):
    """Shared knowledge that fits a question."""

    knowledge: SharedKnowledge
    score: Unit
