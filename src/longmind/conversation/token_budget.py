"""Cutting the parts of a conversation to a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from longmind.tokens import estimate
from longmind.types import Memory


def first_lines(lines: Sequence[str], tokens: float) -> list[str]:
    """Return as many lines as fit, starting with the first."""
    kept: list[str] = []
    for line in lines:
        tokens -= estimate(line) + 1
        if tokens < 0:
            break
        kept.append(line)
    return kept


def last_messages(
    messages: Sequence[Memory], tokens: int, cost: Callable[[Memory], int] = lambda m: estimate(m.content) + 4
) -> list[Memory]:
    """Return as many messages as fit, counted back from the last. The last one is always kept."""
    kept: list[Memory] = []
    for message in reversed(messages):
        tokens -= cost(message)
        if tokens < 0 and kept:
            break
        kept.append(message)
    return kept[::-1]
