"""Settings: validated, stored with the agent, with a history."""

from __future__ import annotations

from typing import Any

import pytest

from longmind.errors import InvalidSetting
from longmind.systems.dialogue import DialogueMemory, DialogueSettings
from longmind.systems.scoped_store import ScopedStore


def test_the_published_constants_are_the_defaults() -> None:
    told = DialogueSettings()
    assert (told.window, told.join, told.segments, told.hot) == (7, 0.6, 200, 5.0)
    assert (told.heat_visits, told.heat_length, told.heat_recency) == (1.0, 1.0, 1.0)


async def test_changes_last_and_are_the_agents(scoped_stores: Any, dialogue: DialogueMemory) -> None:
    assert await dialogue.configuration() == DialogueSettings()
    changed = await dialogue.configure(window=3, hot=2)
    assert (changed.window, changed.hot) == (3, 2.0)
    assert await DialogueMemory(await scoped_stores.open(user="alice")).configuration() == changed
    other = DialogueMemory(await scoped_stores.open(agent=f"{scoped_stores.agent}-other"))
    assert await other.configuration() == DialogueSettings()
    await DialogueMemory(await scoped_stores.open(user="alice")).configure(window=4)
    again = DialogueMemory(await scoped_stores.restart())
    assert await again.configuration() == changed.model_copy(update={"window": 4})


async def test_what_cannot_be_set_changes_nothing(dialogue: DialogueMemory) -> None:
    with pytest.raises(InvalidSetting, match="window is not usable"):
        await dialogue.configure(window=0, hot=1)
    with pytest.raises(InvalidSetting, match="no such setting: colour"):
        await dialogue.configure(colour="red")
    assert await dialogue.configuration() == DialogueSettings()


async def test_the_stored_settings_have_a_history(dialogue: DialogueMemory, scoped: ScopedStore) -> None:
    await dialogue.configure(window=3)
    await dialogue.configure(window=5)
    record = await scoped.store.by_key(scoped.scope, "configuration:dialogue")
    assert record is not None
    assert record.body == {"window": 5}, "only what was changed"
    changes = await scoped.store.history(scoped.scope, record.id)
    assert [change.action for change in changes] == ["put", "update"]
    assert changes[1].before == {"body": {"window": 3}}


async def test_a_programs_own_settings_give_way_to_stored_ones(scoped: ScopedStore) -> None:
    mine = DialogueMemory(scoped, DialogueSettings(window=2, hot=9))
    assert (await mine.configuration()).window == 2
    await mine.configure(window=4)
    told = await mine.configuration()
    assert (told.window, told.hot) == (4, 9.0)
