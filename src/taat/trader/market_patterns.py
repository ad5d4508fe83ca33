"""Market patterns: how executions usually differ from announcements, learnt as facts with validity."""

from collections import defaultdict
from datetime import UTC, datetime
from decimal import Decimal
from statistics import median
from typing import Any

from taat.memory import Execution, TraderMemory

LEAST_EXECUTIONS = 5
"""With fewer executions nothing is called usual."""


class MarketPatterns:
    """The function that the procedure ``learn_market_patterns`` calls."""

    def __init__(self, memory: TraderMemory) -> None:
        self._memory = memory

    async def learn_patterns(self, at: str) -> dict[str, Any]:
        """Learn the usual slippage and delay of each symbol, and of each hour of the day; return what is known now."""
        groups: defaultdict[str, list[Execution]] = defaultdict(list)
        async for execution in self._memory.executions():
            groups[execution.instrument.symbol].append(execution)
            groups[f"{execution.at.astimezone(UTC):%H}:00 UTC"].append(execution)
        patterns = {
            name: usual(executions) for name, executions in groups.items() if len(executions) >= LEAST_EXECUTIONS
        }
        for name, facts in sorted(patterns.items()):
            await self._memory.knowledge.learn_pattern(name, facts, valid_from=datetime.fromisoformat(at))
        return patterns


def usual(executions: list[Execution]) -> dict[str, str | int | float | bool]:
    """Return the median slippage and delay of executions. Slippage above zero is worse than what was announced."""
    facts: dict[str, str | int | float | bool] = {"executions": len(executions)}
    facts["usual delay seconds"] = round(median(execution.delay_seconds for execution in executions), 1)
    slippages = [_slippage_percent(execution) for execution in executions]
    if known := [value for value in slippages if value is not None]:
        facts["usual slippage percent"] = f"{median(known):.4f}"
    return facts


def _slippage_percent(execution: Execution) -> Decimal | None:
    announced = execution.announced_price
    if not announced:
        return None
    worse = execution.price - announced if execution.order.side == "buy" else announced - execution.price
    return worse / announced * 100
