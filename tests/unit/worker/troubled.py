"""Stores whose agents fail on purpose, and what tests of the worker say and wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from longmind import Longmind
from longmind.errors import InvalidInput, StoreUnavailable
from longmind.memory import AgentMemory
from longmind.types import ConsolidationReport, Scope

TEA = ["I like green tea.", "I like green tea!", "We went to Rome in May."]


class Troubled(AgentMemory):
    """What an agent knows, whose consolidation may go wrong."""

    _longmind: TroubledStore

    async def consolidate(self, **options: Any) -> ConsolidationReport:
        store, name = self._longmind, self.scope.agent
        store.tried.append(name)
        if name in store.hopeless:
            raise InvalidInput("This agent cannot be consolidated.", hint="Ask its keeper.")
        if name in store.failing and store.tried.count(name) <= store.failing[name]:
            raise StoreUnavailable("Not now.")
        await store.before(name)
        return await super().consolidate(**options)


class TroubledStore(Longmind):
    """A real store; for chosen agents consolidation fails, so many times or always."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.hopeless: set[str] = set()
        self.failing: dict[str, int] = {}
        self.tried: list[str] = []

    async def before(self, name: str) -> None:
        """Called before an agent is consolidated."""

    def agent(
        self, name: str, user: str | None = None, *, tenant: str | None = None, all_users: bool = False
    ) -> AgentMemory:
        return Troubled(self, super().agent(name, user, tenant=tenant, all_users=all_users).scope)


async def told(longmind: Longmind, *agents: str) -> list[Scope]:
    """Tell these agents something that can be consolidated; their scopes."""
    for name in agents:
        await longmind.agent(name).remember(TEA)
    return [Scope(agent=name, all_users=True) for name in agents]


async def until(holds: Callable[[], object]) -> None:
    """Wait until something holds; pytest's own limit ends a wait for what never comes."""
    while not holds():  # noqa: ASYNC110  # what is waited for has no event
        await asyncio.sleep(0.02)
