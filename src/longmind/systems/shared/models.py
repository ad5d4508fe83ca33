"""The stored and returned types of shared memory.

Shared memory is stored under a reserved agent of each tenant. A candidate is ``quarantined``, so that no recall finds
it, and becomes ``active`` when it is shared. Supporters are stored as fingerprints, which can be counted and compared
but not read.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from longmind.systems.scoped_store import validated
from longmind.types import SHARED_AGENT, Memory, Model, Moment, Tag, Text, Unit

AGENT = SHARED_AGENT
"""The reserved agent of a tenant that holds its shared memory."""
KNOWLEDGE = "knowledge"
About = Literal["person", "world", "how-to"]
"""What a statement is about: a person, which is never shared; the world; or how to do something."""
Status = Literal["pending", "approved", "rejected"]
STATUSES: tuple[Status, ...] = ("pending", "approved", "rejected")
Statement = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
MAX_SUPPORT = 10_000


class SharedSettings(Model):
    """Settings of a tenant for shared memory; an administrator changes them, see ``SharedAdministration``."""

    support: Annotated[int, Field(ge=1, le=1_000)] = 3
    """How many must support a statement, independently of each other, before it is shared."""
    authenticated_users: bool = False
    """Whether user ids are authenticated, so that no agent can invent one. Only then do users count as supporters;
    otherwise an agent counts once, whatever users it names."""
    approval: bool = False
    """Whether a person has to approve a statement that has enough support."""
    allowed: tuple[Tag, ...] = ()
    """Names that may occur in shared knowledge because they are not of people, such as products."""
    automatic: bool = True
    """Whether consolidation proposes what agents and users of the tenant have learnt."""
    candidates: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    """How many candidates may wait. Beyond that, those with the least support go, the oldest first."""


class Supporter(Model):
    """A scope that supports a statement: fingerprints of its agent and, if it has one, of its user."""

    agent: str
    user: str | None = None


class SharedBody(Model):
    """Shared knowledge as it is stored."""

    status: Status = "pending"
    by: Literal["support", "review"] | None = None
    """What decided the status: the support, or a review."""
    about: About = "world"
    note: Text = ""
    salt: str
    supporters: Annotated[tuple[Supporter, ...], Field(max_length=MAX_SUPPORT)] = ()
    last_at: Moment

    @classmethod
    def read(cls, record: Memory) -> SharedBody:
        return validated(cls, record.body)


class SharedKnowledge(Model):
    """A piece of shared knowledge, or a candidate. It says how many support it, never who."""

    id: str
    text: str
    about: About
    status: Status
    by: Literal["support", "review"] | None
    note: str
    support: int
    """How many support it independently: agents, and users where user ids are authenticated."""
    agents: int
    users: int
    """The number of user ids, whether they count or not."""
    first_at: Moment
    last_at: Moment


class ShareProposal(Model):
    """The result of a proposal: the candidate as it is now, or why it was refused."""

    knowledge: SharedKnowledge | None = None
    refused: str | None = None
    """What looked personal in it; nothing of a refused text is stored."""
    changed: bool = False
    """Whether this proposal added support; False if this scope supported it already."""


class ClaimParts(Model):
    """A claim as subject, predicate and object."""

    subject: str
    predicate: str
    object: str


class KnowledgeCandidate(Model):
    """A statement to propose, and what helps to judge it."""

    text: Statement
    names: tuple[str, ...] = ()
    """The names of those it could be about."""
    claim: ClaimParts | None = None
    """The parts of a fact."""
    identity: str | None = None
    """What makes two candidates the same, if that is not their words: the calls of a procedure, for example."""
    practical: bool = False
    """Whether it is known to say how to do something, as lessons and procedures do."""


class SharedHit(Model):
    """Shared knowledge that matches a query."""

    knowledge: SharedKnowledge
    score: Unit
