"""The loop with plain functions as policies: what is perceived, recalled, done, recorded."""

from typing import Any

import pytest

from longmind import Longmind
from longmind.agent import Agent, Call, Limits, NoRecall, Observation, Outcome, ReflectiveAgent, Say, Turn, load_outcome
from longmind.agent_memory import AgentMemory
from longmind.errors import Conflict, InvalidInput, OperationMismatch
from longmind.systems.procedural import ToolRegistry


def look_up_then_say(turn: Turn) -> Call | Say:
    if not turn.done:
        return Call(tool="look_up", args={"city": "Lisbon"}, thought="I need the weather.")
    return Say(text=f"It is {turn.done[0].result}.", success=True)


async def look_up(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


def weather(mem: AgentMemory, **parts: Any) -> Agent:
    agent = Agent(mem, policy=look_up_then_say, **parts)
    agent.tool(look_up)
    return agent


async def messages(mem: AgentMemory, session: str) -> list[tuple[str, str]]:
    page = await mem.list(kinds=["message"], where={"sessions": (session,)}, order="occurred", descending=False)
    return [(m.source.role, m.content) for m in page.items]


async def test_a_run_does_the_task_and_writes_it_down(mem: AgentMemory) -> None:
    agent = weather(mem)
    outcome = await agent.run("What is the weather in Lisbon?", session="s1")
    assert (outcome.ending, outcome.text, outcome.success) == ("answered", "It is sunny in Lisbon.", True)
    assert [(d.call.tool, d.ok, d.result) for d in outcome.done] == [("look_up", True, "sunny in Lisbon")]
    assert outcome.problems == ()
    assert outcome.steps == 1
    assert agent.last == outcome
    assert await messages(mem, "s1") == [
        ("user", "What is the weather in Lisbon?"),
        ("assistant", "It is sunny in Lisbon."),
    ]
    assert outcome.episode is not None
    episode = await mem.episodic.get(outcome.episode)
    assert (episode.type, episode.outcome, episode.open) == ("task", "succeeded", False)
    call, answer = (await mem.episodic.events(outcome.episode)).items
    assert call.data["tool"] == "look_up"
    assert call.data["args"] == {"city": "Lisbon"}
    assert call.data["ok"] is True
    assert call.data["result"] == "sunny in Lisbon"
    assert (answer.type, answer.what) == ("answer", "It is sunny in Lisbon.")


async def test_what_memory_has_comes_without_being_asked_for(mem: AgentMemory) -> None:
    await mem.remember("My favourite city is Lisbon.")
    seen: list[Turn] = []

    def policy(turn: Turn) -> Say:
        seen.append(turn)
        return Say(text="Lisbon.")

    outcome = await Agent(mem, policy=policy).run("Which city is my favourite?")
    assert "My favourite city is Lisbon." in [hit.memory.content for hit in seen[0].memories]
    assert "My favourite city is Lisbon." in seen[0].context
    assert "Which city is my favourite?" not in [hit.memory.content for hit in seen[0].memories]
    assert outcome.memories == seen[0].memories


async def test_a_session_is_one_conversation_and_others_are_not_in_it(mem: AgentMemory) -> None:
    seen: list[Turn] = []

    async def policy(turn: Turn) -> Say:
        seen.append(turn)
        return Say(text=f"answer {len(seen)}")

    agent = Agent(mem, policy=policy)
    for _ in range(2):
        await agent.run("yes", session="a")
    await agent.run("no", session="b")
    assert [(m.role, m.content) for m in seen[1].conversation] == [("user", "yes"), ("assistant", "answer 1")]
    assert seen[2].conversation == ()
    assert await messages(mem, "a") == [
        ("user", "yes"),
        ("assistant", "answer 1"),
        ("user", "yes"),
        ("assistant", "answer 2"),
    ]


async def test_what_left_the_window_is_told_in_short(mem: AgentMemory) -> None:
    seen: list[Turn] = []

    def policy(turn: Turn) -> Say:
        seen.append(turn)
        return Say(text="I see.")

    agent = Agent(mem, policy=policy, limits=Limits(messages=2, memories=0))
    for said in ("My sister Eva plays the cello.", "It rains.", "It still rains.", "Now the sun shines."):
        await agent.run(said, session="s")
    assert len(seen[-1].conversation) == 2
    assert "## Earlier in this conversation" in seen[-1].context
    assert "Eva plays the cello" in seen[-1].context


async def test_goals_are_told_whatever_the_task_is(mem: AgentMemory) -> None:
    agent = ReflectiveAgent(mem, policy=lambda turn: Say(text=turn.context))
    assert agent.goals is mem.goals
    await mem.goals.create("Learn Portuguese")
    assert "Learn Portuguese" in (await agent.run("What is the weather?")).text


async def test_without_a_model_it_answers_from_memory_and_says_so(mem: AgentMemory) -> None:
    await mem.remember("Ann moved to Lisbon in May.")
    agent = ReflectiveAgent(mem)
    for _ in range(2):  # it does not quote its own quotation the second time
        outcome = await agent.run("Where did Ann move to?")
        assert outcome.ending == "answered"
        assert "No language model" in outcome.text
        assert outcome.text.count('"Ann moved to Lisbon in May." (user, ') == 1
    nothing = await Agent(mem, recall=NoRecall()).run("Where did Ann move to?")
    assert nothing.text.startswith("I remember nothing about this.")
    assert nothing.memories == ()


async def test_tools_are_those_of_the_store_or_ones_own(opened: Longmind, mem: AgentMemory) -> None:
    shared = weather(mem)
    assert "look_up" in opened.tools
    own = ToolRegistry()
    apart = Agent(mem, policy=look_up_then_say, tools=own, limits=Limits(bad_answers=1))
    assert apart.tools is own
    assert (await apart.run("weather")).ending == "failed"
    assert (await shared.run("weather")).ending == "answered"


async def test_a_procedure_that_fits_is_a_tool(mem: AgentMemory) -> None:
    own = ToolRegistry()

    @own.tool
    def brew(cups: int) -> str:
        return f"{cups} cups of coffee"

    steps = [{"name": "brew", "use": "brew", "args": {"cups": "{{ params.cups }}"}}]
    parameters = {"type": "object", "properties": {"cups": {"type": "integer"}}, "required": ["cups"]}
    definition = {"name": "make.coffee", "purpose": "Make coffee for guests", "parameters": parameters, "steps": steps}
    await mem.procedural.store(definition)

    def policy(turn: Turn) -> Call | Say:
        if turn.problem:
            return Call(tool="procedure_make.coffee", args={"cups": 3})
        if not turn.done:
            return Call(tool="procedure_make.coffee", args={"cups": "many"})
        return Say(text=str(turn.done[-1].result))

    outcome = await Agent(mem, policy=policy, tools=own).run("Make coffee for three guests")
    assert outcome.text == "3 cups of coffee"
    assert "make.coffee" in str(outcome.problems)
    assert [run.name for run in (await mem.procedural.runs()).items] == ["make.coffee"]


async def test_a_judge_has_the_last_word(mem: AgentMemory) -> None:
    async def no(outcome: Outcome) -> bool:
        return outcome.text == "something else"

    outcome = await weather(mem, judge=no).run("weather")
    assert outcome.success is False
    assert outcome.episode is not None
    assert (await mem.episodic.get(outcome.episode)).outcome == "failed"
    unsure = await weather(mem, judge=lambda outcome: None).run("weather")
    assert unsure.success is True

    def broken(outcome: Outcome) -> bool:
        raise ZeroDivisionError("no verdict")

    failed = await weather(mem, judge=broken).run("weather")
    assert failed.success is True
    assert "no verdict" in failed.problems[0]


async def test_step_by_step(mem: AgentMemory) -> None:
    agent = weather(mem)
    with pytest.raises(InvalidInput, match="no run to step"):
        await agent.step()
    run = await agent.perceive("weather", session="s")
    assert await messages(mem, "s") == [("user", "weather")]
    with pytest.raises(Conflict, match="still going on"):
        await agent.perceive("another")
    assert isinstance(await agent.step(), Observation)
    outcome = await agent.step()
    assert isinstance(outcome, Outcome)
    assert outcome.text == "It is sunny in Lisbon."
    assert agent.last == outcome
    with pytest.raises(Conflict, match="ended"):
        await run.step()
    async with agent:
        left = await agent.perceive("weather", session="s")
        await agent.step()
    assert left.outcome is not None
    assert left.outcome.ending == "cancelled"
    assert (await agent.run("weather", session="s")).ending == "answered"


async def test_a_key_makes_a_call_repeatable(mem: AgentMemory) -> None:
    agent = weather(mem)
    first = await agent.run("weather", key="monday")
    again = await agent.run("weather", key="monday")
    assert again.episode == first.episode
    assert (again.text, again.success, again.done) == (first.text, first.success, first.done)
    assert len((await mem.list(kinds=["message"])).items) == 2
    with pytest.raises(OperationMismatch, match="another task"):
        await agent.run("something else", key="monday")
    assert (await agent.run("weather", key="tuesday")).episode != first.episode
    assert first.episode is not None
    assert (await load_outcome(mem, first.episode)).text == first.text


@pytest.mark.parametrize("task", ["", " \n", "nul \x00"])
async def test_a_task_that_is_none(mem: AgentMemory, task: str) -> None:
    agent = weather(mem)
    with pytest.raises(InvalidInput):
        await agent.run(task)
    with pytest.raises(InvalidInput):
        agent.stream(task)
    with pytest.raises(InvalidInput):
        await agent.run("weather", session=" ")
    assert (await mem.list()).items == ()


async def test_erasing_the_task_erases_all_that_was_done_for_it(mem: AgentMemory) -> None:
    outcome = await weather(mem).run("The secret is 4711: what is the weather?", session="s")
    assert outcome.episode is not None
    (asked,) = [m for m in (await mem.list(kinds=["message"])).items if m.source.role == "user"]
    await mem.forget(asked.id, erase=True)
    assert [m.kind for m in (await mem.list(where={"states": None})).items] == []


async def test_users_of_one_agent_do_not_share_a_session(opened: Longmind) -> None:
    seen: dict[str, Turn] = {}
    for user in ("ann", "bob"):

        def policy(turn: Turn, user: str = user) -> Say:
            seen[user] = turn
            return Say(text=f"hello {user}")

        await Agent(opened.agent("assistant", user=user), policy=policy).run(f"I am {user}", session="same")
    assert seen["bob"].conversation == ()
    assert "ann" not in seen["bob"].context
