"""What the tests of the dialogue tiers share: pages on topics that have no word in common."""

from __future__ import annotations

from typing import Any

import pytest

from longmind.systems.dialogue import DialogueMemory
from longmind.systems.scoped_store import ScopedStore

TOPICS = {
    "garden": ("the tomatoes in the greenhouse need compost and water", "tomatoes love compost and plenty of water"),
    "trains": (
        "the express train to Vienna leaves from platform nine",
        "express trains to Vienna stop at platform nine",
    ),
    "violin": (
        "my violin teacher gave me a sonata by Bach to practise",
        "practise the Bach sonata slowly on the violin",
    ),
    "budget": (
        "quarterly budget invoices overran the marketing forecast",
        "check invoices against the budget forecast",
    ),
    "whales": (
        "humpback whales migrate past the lighthouse each autumn",
        "whales migrate in autumn, watch the lighthouse",
    ),
}


class Talk:
    """Adds pages on a topic, and tells their ids: ``await talk("garden", 3)``."""

    names = tuple(TOPICS)
    segments = TOPICS

    def __init__(self, dialogue: DialogueMemory) -> None:
        self._dialogue = dialogue

    async def __call__(self, segment: str, times: int = 1, **fields: Any) -> list[str]:
        user, reply = TOPICS[segment]
        added = [await self._dialogue.add(f"{user}, part {n}", reply, **fields) for n in range(times)]
        return [one.pages[0].id for one in added]


@pytest.fixture
def dialogue(scoped: ScopedStore) -> DialogueMemory:
    """The dialogue tiers with the default settings, without vectors, on every backend in turn."""
    return DialogueMemory(scoped)


@pytest.fixture
def talk(dialogue: DialogueMemory) -> Talk:
    """A way to fill the tiers."""
    return Talk(dialogue)
