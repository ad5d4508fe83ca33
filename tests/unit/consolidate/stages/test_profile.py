"""The profile of the user and that of the agent, as consolidation fills them."""

from __future__ import annotations

from typing import Any

from longmind import Longmind
from longmind.agent import Call, ReflectiveAgent, Say, Turn
from longmind.consolidate.stages.agent_persona import statements_of_itself
from longmind.systems.dialogue import DialoguePage, DialogueTurn


async def chat(mem: Any, session: str, turns: int, said: str, reply: str) -> None:
    """Remember a conversation on one topic."""
    await mem.remember(
        [
            {"role": role, "content": f"{text} Number {n}."}
            for n in range(turns)
            for role, text in (("user", said), ("assistant", reply))
        ],
        session=session,
    )


async def test_the_agents_persona_is_filled_from_its_turns_and_is_not_the_users(longmind: Longmind) -> None:
    mem = longmind.agent("guide", user="ana")
    for n in range(4):
        await chat(mem, f"s{n}", 6, "compost tomatoes!", "Please water the tomatoes and add compost, thank you.")
        await mem.consolidate()
    user = {trait.dimension: trait.value for trait in await mem.persona.traits("user")}
    agent = {trait.dimension: trait for trait in await mem.persona.traits("agent")}
    assert (user["tone"], user["politeness"]) == ("lively", "plain")
    assert (agent["tone"].value, agent["politeness"].value) == ("calm", "polite")
    assert agent["tone"].established
    other = longmind.agent("guide", user="ben")
    assert {t.dimension for t in await other.persona.traits("agent")} >= {"tone", "politeness"}
    assert await other.persona.traits("user") == ()
    context = await mem.context("how do I write?", tokens=2_000)
    assert "tone: lively" in context
    assert "tone: calm" not in context, "what the agent is like is not the user's"


async def test_one_conversation_makes_no_trait(longmind: Longmind) -> None:
    mem = longmind.agent("guide", user="ana")
    await chat(mem, "one", 14, "compost tomatoes!", "Please water the tomatoes, thank you.")
    await mem.consolidate()
    traits = await mem.persona.traits()
    assert {trait.dimension for trait in traits} == {"verbosity", "curiosity", "tone", "politeness"}
    assert not any(trait.established for trait in traits)
    assert "tone" not in await mem.context("how do I write?", tokens=2_000)


async def test_how_runs_and_tools_fare_is_part_of_the_agents_persona(longmind: Longmind) -> None:
    mem = longmind.agent("guide", user="ana")

    async def look_up(order: str) -> str:
        if order.startswith("X"):
            raise ValueError("no such order")
        return "shipped"

    def look_then_say(turn: Turn) -> Call | Say:
        order = turn.task.split()[-1]
        return Say(text="Done.", success=True) if turn.done else Call(tool="look_up", args={"order": order})

    agent = ReflectiveAgent(mem, policy=look_then_say)
    agent.tool(look_up)
    for order in ("A1", "A2", "X3", "A4"):
        await agent.run(f"Find the order {order}")
        await mem.consolidate()
    traits = {trait.dimension: trait for trait in await mem.persona.traits("agent")}
    assert traits["tool look_up"].value == "works"
    before = traits["tool look_up"].observations
    await mem.consolidate()
    again = await mem.persona.trait("tool look_up", "agent")
    assert again is not None
    assert again.observations == before, "a reflection counts once"


def page(text: str, session: str, role: str = "assistant") -> DialoguePage:
    fields: dict[str, Any] = {"session": session, "at": "2026-01-01T00:00:00Z", "importance": 0.5, "chain": "c"}
    return DialoguePage(id="p", turns=(DialogueTurn(role=role, text=text),), segment=None, state="active", **fields)  # type: ignore[arg-type]


def test_what_the_agent_says_of_itself_without_anything_of_the_user() -> None:
    pages = [
        page("I love gardening.", "one"),
        page("I love gardening.", "two"),
        page("I love gardening.", "two"),
        page("I like ana and I like Lisbon. I like your garden.", "one"),
        page("I love opera.", "one", role="user"),
    ]
    assert dict(statements_of_itself(pages, "ana")) == {"likes gardening": 2}


async def test_relatives_and_conditions_are_part_of_the_profile(longmind: Longmind) -> None:
    mem = longmind.agent("guide", user="ana")
    for n, said in enumerate(("My sister Ines visits me.", "My dog Rex chews my shoes.", "I am a vegan.")):
        await chat(mem, f"s{n}", 14, said, "I see.")
        await mem.consolidate()
    entries = [entry.text for entry in (await mem.persona.profile()).knowledge]
    assert {"ana has sister Ines", "ana has dog Rex", "ana diet vegan"} <= set(entries)
