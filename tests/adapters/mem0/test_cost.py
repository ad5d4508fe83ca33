"""What mem0's shape costs beside the same call of Longmind's own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from longmind import Longmind
from longmind.adapters.mem0 import AsyncMemory


async def test_the_cost_of_a_call(longmind: Longmind, measure_cost: Callable[..., Awaitable[None]]) -> None:
    m, mem = AsyncMemory(longmind, agent="adapter"), longmind.agent("direct", user="alice")
    await measure_cost(
        "add",
        lambda number: m.add(f"I like tea number {number}.", user_id="alice"),
        lambda number: mem.remember(f"I like tea number {number}."),
    )
    await measure_cost(
        "search",
        lambda number: m.search(f"Which tea is number {number}?", filters={"user_id": "alice"}),
        lambda number: mem.recall(f"Which tea is number {number}?", 20, where={"users": ["alice"]}),
    )
