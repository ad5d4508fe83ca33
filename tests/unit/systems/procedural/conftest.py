"""What the tests of procedural memory share: a desk with functions on it that count how often they were called."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from longmind.systems.procedural import ProceduralMemory, ToolRegistry
from longmind.systems.scoped_store import ScopedStore


class Desk:
    """Functions for procedures, what they did, and what they shall fail at."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.keys: list[str] = []
        self.fail: Counter[str] = Counter()
        """How many more times a call with this name or value fails."""
        self.slept: list[float] = []
        self.gate = asyncio.Event()
        self.entered = asyncio.Event()
        self.tools = ToolRegistry()
        self._register()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def _called(self, name: str, value: Any) -> None:
        self.calls.append((name, value))
        for what in (name, str(value)):
            if self.fail[what]:
                self.fail[what] -= 1
                raise RuntimeError(f"{what} is broken")

    def _register(self) -> None:
        tools = self.tools

        @tools.tool(pure=True)
        async def add(a: int, b: int = 1) -> int:
            """Add two numbers."""
            self._called("add", a)
            return a + b

        @tools.tool
        def echo(value: Any) -> Any:
            """Give back what was given."""
            self._called("echo", value)
            return value

        @tools.tool
        async def keyed(value: str, idempotency_key: str) -> str:
            """Remember the key."""
            self._called("keyed", value)
            self.keys.append(idempotency_key)
            return value.upper()

        @tools.tool
        async def undo(value: Any) -> None:
            """Take something back."""
            self._called("undo", value)

        @tools.tool
        async def hold() -> str:
            """Wait until the test opens the gate."""
            self._called("hold", None)
            self.entered.set()
            await self.gate.wait()
            return "held"

        @tools.tool
        async def huge(size: int) -> str:
            """Return a lot."""
            return "x" * size

    def memory(self, scoped: ScopedStore, **options: Any) -> ProceduralMemory:
        return ProceduralMemory(scoped, self.tools, sleep=self.sleep, **{"poll_seconds": 0.01, **options})

    def names(self) -> list[str]:
        return [name for name, _ in self.calls]


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def procedures(scoped: ScopedStore, desk: Desk) -> ProceduralMemory:
    """Procedural memory on every backend in turn."""
    return desk.memory(scoped)


def params(**types: str) -> dict[str, Any]:
    """A schema of required parameters."""
    return {"type": "object", "properties": {n: {"type": t} for n, t in types.items()}, "required": list(types)}
