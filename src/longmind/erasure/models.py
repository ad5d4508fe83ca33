"""The receipt of an erasure, and what its verification says.

A receipt can be kept for ever: it names nobody and holds no words. Ids, and the names of agents and users, are in it as
hashes with a salt of its own, so that they can be recognised by whoever has the store, and not be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Literal

from pydantic import Field

from longmind.types import Model, Moment

Subject = Literal["user", "agent", "tenant"]
_DIGITS = 32


def digest(salt: str, what: str, value: str) -> str:
    """Return the hash of an id or a name as a receipt holds it."""
    return sha256(f"{salt}:{what}:{value}".encode()).hexdigest()[:_DIGITS]


class ErasedAgent(Model):
    """What was erased of one agent."""

    agent: str
    """The hash of the agent's name."""
    kinds: Mapping[str, int] = Field(default_factory=dict)
    """Memories that were removed, counted by kind."""
    forgotten: int = 0
    """Memories that had been removed before, of which the journal still told."""
    memories: tuple[str, ...] = ()
    """The hashes of the ids of all of them."""


class ErasureReceipt(Model):
    """What an erasure removed. ``Longmind.verify_erasure`` says whether anything of it is there."""

    id: str
    at: Moment
    subject: Subject
    name: str
    """The hash of the name of the user, agent or tenant."""
    salt: str
    agents: tuple[ErasedAgent, ...] = ()
    shared: int = 0
    """Statements in the shared memory of the tenant that lost support."""
    pending: tuple[str, ...] = ()
    """Where erased words may still be stored, with what to do; empty when that is nowhere known."""

    @property
    def memories(self) -> int:
        """How many memories were removed, those that had been forgotten before included."""
        return sum(len(agent.memories) for agent in self.agents)


class ErasureCheck(Model):
    """Whether anything of an erasure is still, or again, in the store."""

    ok: bool
    memories: int = 0
    """Erased memories that are there."""
    changes: int = 0
    """Lines of the journal that tell something of an erased memory."""
    pending: tuple[str, ...] = ()
    """Where erased words may still be stored below the records, such as a log that could not be emptied yet."""
