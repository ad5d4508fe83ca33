"""How a request reaches the memory it is about."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from longmind.agent_memory import AgentMemory
from longmind.memory import Longmind
from longmind.security import Permission


class MemoryAccess(Protocol):
    """The memory of one agent, or of one agent with one user, and what the caller may do with it."""

    def memory(self, permission: Permission, operation: str) -> AbstractAsyncContextManager[AgentMemory]:
        """Hold the memory open for an operation; ``Forbidden`` without the permission."""
        ...


@dataclass(frozen=True, slots=True)
class LocalAccess:
    """The memory of an agent in this process, for its owner, who may do everything."""

    longmind: Longmind
    agent: str
    user: str | None = None

    @asynccontextmanager
    async def memory(self, permission: Permission, operation: str) -> AsyncIterator[AgentMemory]:
        yield self.longmind.agent(self.agent, self.user)
