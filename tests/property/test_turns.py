"""Whatever is said in a conversation, in whatever parts and how often it is delivered: every turn is there, once."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.property.conftest import Host, few

from longmind import Longmind

_agents = itertools.count(1)
START = datetime(2026, 1, 1, tzinfo=UTC)
TURNS = st.lists(
    st.tuples(st.sampled_from(["user", "assistant"]), st.sampled_from(["Yes.", "No.", "Go on.", "Why?"])), max_size=6
)
STEPS = st.lists(
    st.tuples(st.sampled_from(["alone", "with ids", "at times", "history", "operation"]), TURNS, st.integers(1, 3)),
    max_size=8,
)


async def deliver(longmind: Longmind, steps: list[tuple[str, list[tuple[str, str]], int]]) -> None:
    mem = longmind.agent(f"turns-{next(_agents)}", user="ann")
    said: list[dict[str, Any]] = []
    earlier: list[dict[str, Any]] = []
    """What can be delivered again at any time, since it has an id."""
    for number, (way, words, deliveries) in enumerate(steps):
        new: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in words]
        for n, turn in enumerate(new):
            if way == "with ids":
                turn["id"] = f"{number}.{n}"
            if way == "at times":
                turn["occurred_at"] = START + timedelta(days=number, minutes=n)
        if way == "alone":
            for turn in new:
                await mem.remember(turn, session="s")
        elif way == "history":  # the client sends all it has, as often as it likes
            for _ in range(deliveries if said or new else 0):
                await mem.remember(said + new, session="s")
        elif way == "operation":
            for n, turn in enumerate(new):
                for _ in range(deliveries):
                    await mem.remember([turn] if len(said) > 1 else turn, session="s", operation=f"call {number}.{n}")
        else:
            for _ in range(deliveries):
                for turn in new:
                    await mem.remember(turn, session="s")
            earlier += new
            for turn in earlier[:2]:
                await mem.remember(turn, session="s")
        said += new
        stored = await mem.conversation("s").history()
        assert [(m.source.role, m.content) for m in stored] == [(turn["role"], turn["content"]) for turn in said]


@few(15)
@given(STEPS)
def test_every_turn_is_stored_once(host: Host, steps: list[tuple[str, list[tuple[str, str]], int]]) -> None:
    host.runner.run(deliver(host.longmind, steps))
