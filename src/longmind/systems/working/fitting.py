"""Fit working memory into its limits: chunk related items first, then evict the least attended."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from longmind.systems.scoped_store import ScopedStore
from longmind.systems.working.attention import common_label, find_relations
from longmind.systems.working.models import SlotBody, WorkingLimits
from longmind.systems.working.state import Tokens, WorkingState

CHUNK = 5
"""The most items in one slot."""


async def chunk(scoped: ScopedStore, state: WorkingState, *, until: int = 1) -> int:
    """Join the most closely related slots until this many are left; return how many were joined."""
    ids = [id for slot in state.slots for id in slot.members]
    close = await find_relations(scoped, [state.items[id].content for id in ids])
    number = {id: n for n, id in enumerate(ids)}
    joined = 0
    while len(state.slots) > until:
        pair = _closest(state.slots, number, close)
        if pair is None:
            break
        a, b = pair
        members = (*state.slots[a].members, *state.slots[b].members)
        joined_slot = SlotBody(members=members, label=common_label([state.items[id].content for id in members]))
        state.slots = [joined_slot if n == a else slot for n, slot in enumerate(state.slots) if n != b]
        joined += 1
    return joined


def _closest(
    slots: list[SlotBody], number: Mapping[str, int], close: Mapping[tuple[int, int], float]
) -> tuple[int, int] | None:
    """Return the two slots with the most closely related items; of equals, the first.

    Every item of one slot must be related to every item of the other, so that a chain of loosely related items does not
    become one chunk.
    """
    best: tuple[float, int, int] | None = None
    for a, b in combinations(range(len(slots)), 2):
        first, second = slots[a].members, slots[b].members
        if len(first) + len(second) > CHUNK:
            continue
        weakest = min(close.get(_pair(number[x], number[y]), 0.0) for x in first for y in second)
        if weakest > 0 and (best is None or weakest > best[0]):
            best = (weakest, a, b)
    return None if best is None else best[1:]


def _pair(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def total(state: WorkingState, tokens: Tokens) -> int:
    return sum(tokens(item.content) for item in state.items.values())


def exceeds_limits(state: WorkingState, limits: WorkingLimits, tokens: Tokens) -> bool:
    """Whether the items exceed the limits."""
    return len(state.slots) > limits.items or total(state, tokens) > limits.tokens


def evict(
    state: WorkingState, limits: WorkingLimits, tokens: Tokens, attention: Mapping[str, float], keep: str | None
) -> None:
    """Evict the least attended slots until the rest fits; the item ``keep``, which was just put, stays."""
    while exceeds_limits(state, limits, tokens):
        leaving = [slot for slot in state.slots if keep not in slot.members]
        if not leaving:
            # the new item shares its slot with others, and together they are too long
            (own,) = state.slots
            others = [id for id in own.members if id != keep]
            state.remove([min(others, key=lambda id: attention[id])], "evicted")
            continue
        least = min(leaving, key=lambda slot: max(attention[id] for id in slot.members))
        state.remove(list(least.members), "evicted")
