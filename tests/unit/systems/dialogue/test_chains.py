"""Chains: which page goes on from which, and the summary that rolls along."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from longmind.systems.dialogue import DialogueMemory
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock


async def chain_of(dialogue: DialogueMemory, user: str, **fields: Any) -> str:
    return (await dialogue.add(user, "I see.", **fields)).pages[0].chain


async def test_what_speaks_of_the_same_goes_on(dialogue: DialogueMemory, scoped: ScopedStore) -> None:
    first = await dialogue.add("The tomatoes in the greenhouse are dry.", "Water them.")
    second = await dialogue.add("How much water do tomatoes need?", "Two litres.")
    assert second.pages[0].chain == first.pages[0].chain
    links = await scoped.store.links(scoped.scope, [first.pages[0].id], relation="next")
    assert [link.target for link in links] == [second.pages[0].id]
    other = await dialogue.add("When does the train to Vienna leave?", "At nine.")
    assert other.pages[0].chain != first.pages[0].chain
    assert await scoped.store.links(scoped.scope, [second.pages[0].id], relation="next") == []


@pytest.mark.parametrize("opening", ["And the other one?", "That sounds fine.", "Why?", "ok"])
async def test_what_points_back_goes_on(dialogue: DialogueMemory, opening: str) -> None:
    first = await chain_of(dialogue, "When does the train to Vienna leave?")
    assert await chain_of(dialogue, opening) == first


async def test_another_session_or_a_long_pause_begins_anew(dialogue: DialogueMemory, clock: FakeClock) -> None:
    text = "When does the train to Vienna leave?"
    first = await chain_of(dialogue, text, session="a")
    other = await chain_of(dialogue, text, session="b")
    assert other != first
    assert await chain_of(dialogue, text, session="a") == first, "sessions side by side keep their chains"
    clock.advance(timedelta(hours=7))
    assert await chain_of(dialogue, text, session="a") != first


async def test_the_summary_rolls_along(dialogue: DialogueMemory, talk: Any) -> None:
    assert await dialogue.chain() == ""
    await dialogue.configure(summary_chars=120)
    await talk("garden", 2)
    assert "tomatoes" in await dialogue.chain()
    await talk("garden", 20)
    told = await dialogue.chain()
    assert 0 < len(told) <= 120, "however long the chain, the summary stays short"
    assert all(line.startswith(("user: ", "assistant: ")) for line in told.splitlines())
    await talk("trains")
    assert "Vienna" in await dialogue.chain()
    assert "tomatoes" not in await dialogue.chain()


async def test_erasing_a_page_erases_the_summary_that_quotes_it(
    dialogue: DialogueMemory, scoped: ScopedStore, talk: Any
) -> None:
    (id,) = await talk("garden")
    chain = (await dialogue.page(id)).chain
    links = await scoped.store.links(scoped.scope, [id], relation="derived_from", direction="in")
    assert [link.source for link in links] == [chain]
    await scoped.store.delete(scoped.scope, chain, erase=True)
    assert await dialogue.chain() == ""
    (again,) = await talk("garden")
    assert (await dialogue.page(again)).chain != chain
