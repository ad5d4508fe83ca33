"""Facts are drawn from what people said; what agent, tools and instructions say is never the user's word."""

from __future__ import annotations

import pytest

from longmind import Longmind, Settings
from longmind.config import AgentSettings
from longmind.errors import InvalidSetting
from longmind.types import Document

TALK = [
    {"role": "system", "content": "I work at Acme. The capital of Peru is Lima."},
    {"role": "user", "content": "I love tea."},
    {"role": "assistant", "content": "I am vegan. The capital of Togo is Lome."},
    {"role": "tool", "name": "atlas", "content": "I live in Paris. The capital of Ghana is Accra."},
    {"role": "assistant", "name": "Ben", "content": "I love coffee."},
]


async def learnt(longmind: Longmind, agent: str) -> set[tuple[str, str]]:
    facts = (await longmind.agent(agent, user="ann").semantic.facts()).items
    return {(fact.subject, str(fact.object)) for fact in facts}


async def test_facts_are_drawn_from_what_people_said(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    await mem.remember(TALK, session="s")
    await mem.remember(Document(title="Atlas", content="The capital of Chile is Santiago."))
    await mem.consolidate()
    assert await learnt(longmind, "a") == {("ann", "tea"), ("Ben", "coffee"), ("Chile", "Santiago")}


async def test_a_setting_adds_the_others_but_never_as_the_user(longmind: Longmind) -> None:
    mem = longmind.agent("b", user="ann")
    await mem.configure(facts_from=["people", "tools", "assistant", "system"])
    await mem.remember(TALK, session="s")
    await mem.consolidate()
    world = {("Ghana", "Accra"), ("Togo", "Lome"), ("Peru", "Lima")}
    assert await learnt(longmind, "b") == {("ann", "tea"), ("Ben", "coffee"), *world}


def test_the_setting_is_checked() -> None:
    assert AgentSettings().changed({"facts_from": "people, tools"}).facts_from == ("people", "tools")
    with pytest.raises(InvalidSetting):
        AgentSettings().changed({"facts_from": ["everybody"]})
    defaults = Settings.load({"LONGMIND_AGENT_FACTS_FROM": "people"}).defaults
    assert AgentSettings().changed(defaults["agent"]).facts_from == ("people",)
