"""Working memory in the loop: what a run has in mind, what was put there by hand, and who does not see it."""

from __future__ import annotations

import asyncio

import pytest

from longmind import Longmind
from longmind.agent import Action, Agent, Call, Outcome, Say, Turn, divergence, replay
from longmind.agent_memory import AgentMemory
from longmind.errors import Conflict, InvalidInput
from longmind.models.chat import Answer, ToolCall
from longmind.systems.procedural import ToolRegistry
from longmind.systems.working import Item, items_text
from longmind.testing import ScriptedModel


def calling(tool: str, text: str = "", **arguments: object) -> Answer:
    return Answer(text=text, tool_calls=(ToolCall(id="c", name=tool, arguments=arguments),), finish="tools")


def importance(items: tuple[Item, ...]) -> dict[str, float]:
    return {item.key: item.importance for item in items}


async def test_goal_plan_and_results_are_in_mind_while_the_run_goes_on(mem: AgentMemory) -> None:
    seen: list[dict[str, float]] = []
    agent = Agent(
        mem,
        chat=ScriptedModel(
            calling("look", "First I look.", at="the sky"), calling("look", at="the sea"), "Fine."
        ).chat(),
        tools=ToolRegistry(),
    )

    @agent.tool
    async def look(at: str) -> str:
        seen.append(importance(await mem.working.items()))
        return f"{at} is blue"

    outcome = await agent.run("What colour is the sky?", session="s")
    assert outcome.problems == ()
    assert seen == [{"goal": 0.9, "plan": 0.8}, {"goal": 0.9, "plan": 0.8, "result 1": 0.7}]
    assert await mem.working.items() == ()
    assert await mem.working.session("s").items() == ()


async def test_the_prompt_is_built_from_what_is_in_mind(mem: AgentMemory) -> None:
    await mem.working.put("gate", "The gate code is 4711", source="ann")
    model = ScriptedModel(calling("note"), "Done.")
    agent = Agent(mem, chat=model.chat(), tools=ToolRegistry())

    @agent.tool
    async def note() -> str:
        await mem.working.put("dog", "The dog is loose", importance=0.9)
        return "noted"

    await agent.run("Open the gate")
    first, second = (request.messages[-1].content for request in model.requests)
    assert first.startswith("<working_memory>")
    assert '"gate": "The gate code is 4711" (from "ann"' in first
    assert "The dog is loose" not in first
    assert '"dog": "The dog is loose"' in second
    assert '"result 1": "note() -> noted"' in second
    assert {item.key for item in await mem.working.items()} == {"gate", "dog"}, "what was put by hand stays"


async def test_a_policy_sees_it_and_so_does_the_answer_from_memory(mem: AgentMemory) -> None:
    await mem.working.put("gate", "The gate code is 4711")
    turns: list[Turn] = []

    def policy(turn: Turn) -> Say:
        turns.append(turn)
        return Say(text="ok")

    await Agent(mem, policy=policy).run("Which code has the gate?")
    assert [item.key for item in turns[0].working if item.session is None] == ["gate"]
    assert '"The gate code is 4711"' in turns[0].context
    assert "The gate code is 4711" in (await Agent(mem).run("Which code has the gate?")).text


async def test_items_of_a_session_stay_in_it(mem: AgentMemory) -> None:
    await mem.working.session("one").put("secret", "The party is on Friday")
    contexts: dict[str, str] = {}

    def policy(turn: Turn) -> Say:
        contexts[turn.session] = turn.context
        return Say(text="ok")

    agent = Agent(mem, policy=policy)
    for session in ("one", "two"):
        await agent.run("When is the party?", session=session)
    assert "The party is on Friday" in contexts["one"]
    assert "Friday" not in contexts["two"]
    assert [item.key for item in await mem.working.session("one").items()] == ["secret"]
    assert await mem.working.session("two").items() == ()
    assert not [hit for hit in await mem.recall("When is the party?") if "Friday" in hit.memory.content]


async def test_nothing_leaks_between_users_sessions_and_runs_at_the_same_time(opened: Longmind) -> None:
    everybody = asyncio.Barrier(4)
    contexts: dict[str, list[str]] = {}

    async def policy(turn: Turn) -> Action:
        contexts.setdefault(turn.task, []).append(items_text(turn.working))
        if not turn.done:
            return Call(tool="meet", args={"word": turn.task})
        return Say(text="ok")

    async def meet(word: str) -> str:
        await everybody.wait()
        return f"result of {word}"

    words = {"apple": ("ann", "s1"), "bridge": ("ann", "s2"), "candle": ("bob", "s1"), "dragon": (None, "s1")}
    async with asyncio.TaskGroup() as group:
        for word, (user, session) in words.items():
            mem = opened.agent("assistant", user=user)
            await mem.working.put(f"of {user}", f"belongs to {user or 'nobody'}")
            agent = Agent(mem, policy=policy, tools=ToolRegistry())
            agent.tool(meet)
            group.create_task(agent.run(word, session=session))
    for word, (user, _) in words.items():
        text = "\n".join(contexts[word])
        assert f"result of {word}" in text
        assert f"belongs to {user or 'nobody'}" in text
        assert not [other for other in words if other != word and other in text]
        assert not [
            other for other in ("ann", "bob", "nobody") if other != (user or "nobody") and f"to {other}" in text
        ]
    for user in ("ann", "bob", None):
        assert len(await opened.agent("assistant", user=user).working.items()) == 1


async def test_what_no_longer_fits_is_in_the_episode_and_can_be_fetched_back(mem: AgentMemory) -> None:
    fetched: list[str] = []

    def policy(turn: Turn) -> Action:
        return Say(text="counted") if len(turn.done) == 9 else Call(tool="count", args={"n": len(turn.done)})

    agent = Agent(mem, policy=policy, tools=ToolRegistry())

    @agent.tool
    async def count(n: int) -> str:
        if n == 8:
            fetched.append((await mem.working.session("s").fetch("result 1")).item.content)
        assert len(await mem.working.session("s").slots()) <= 7
        return f"sheep {n}"

    outcome = await agent.run("Count the sheep", session="s")
    assert outcome.problems == ()
    assert fetched == ["count(n=0) -> sheep 0"]
    assert outcome.episode is not None
    events = (await mem.episodic.events(outcome.episode)).items
    assert [event.what for event in events[:9]] == [f"count(n={n}) -> sheep {n}" for n in range(9)]
    assert (await mem.episodic.list(type="working memory")).items == (), "nothing is stored twice"


async def test_erasing_the_task_erases_what_the_run_had_in_mind(mem: AgentMemory) -> None:
    def policy(turn: Turn) -> Action:
        return Say(text="ok") if turn.done else Call(tool="look")

    agent = Agent(mem, policy=policy, tools=ToolRegistry())

    @agent.tool
    async def look() -> str:
        return "tangerine too"

    await agent.run("The secret is tangerine", session="s")
    (asked,) = [m for m in (await mem.list(kinds=["message"])).items if m.source.role == "user"]
    await mem.forget(asked.id, erase=True)
    journal = await mem.store.journal(mem.scope, limit=1_000)
    assert "tangerine" not in str([change.model_dump() for change in journal if change.after or change.before])


async def test_the_three_stages_are_what_a_run_is_made_of(mem: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    def policy(turn: Turn) -> Action:
        return Say(text=str(turn.done[0].result)) if turn.done else Call(tool="look")

    agent = Agent(mem, policy=policy, tools=ToolRegistry())

    @agent.tool
    async def look() -> str:
        return "blue"

    with pytest.raises(InvalidInput, match="no run"):
        await agent.think()
    run = await agent.perceive("What colour is the sky?", session="s")
    assert importance(await mem.working.items()) == {"goal": 0.9}
    decision = await agent.think()
    assert decision == Call(tool="look")
    with pytest.raises(InvalidInput, match="no tool 'fly'"):
        await agent.act(Call(tool="fly"))
    assert (await agent.act(decision)).result == "blue"
    ended = await agent.act(Say(text="I decided otherwise.", success=True))
    assert isinstance(ended, Outcome)
    assert (ended.text, ended.success, agent.last, run.outcome) == ("I decided otherwise.", True, ended, ended)
    with pytest.raises(Conflict, match="ended"):
        await agent.think()
    stages: list[str] = []
    for stage in ("perceive", "think", "act"):
        original = getattr(type(run), stage)

        def traced(self: object, *args: object, stage: str = stage, original: object = original) -> object:
            stages.append(stage)
            return original(self, *args)  # type: ignore[operator]

        monkeypatch.setattr(type(run), stage, traced)
    assert (await agent.run("What colour is the sky?", session="s")).text == "blue"
    assert stages == ["perceive", "think", "act", "think", "act"]


async def test_a_replay_shows_what_was_in_mind(mem: AgentMemory) -> None:
    await mem.working.put("gate", "The gate code is 4711")

    def policy(turn: Turn) -> Action:
        return Say(text=turn.context) if turn.done else Call(tool="look", thought="I look first.")

    agent = Agent(mem, policy=policy, tools=ToolRegistry())

    @agent.tool
    async def look() -> str:
        return "blue"

    outcome = await agent.run("Look at the gate")
    assert outcome.episode is not None
    steps = await replay(mem, outcome.episode)
    assert '"plan": "I look first."' in steps[-1].turn.context
    assert '"gate": "The gate code is 4711"' in steps[0].turn.context
    assert await divergence(mem, outcome.episode, policy) is None


async def test_without_working_memory_the_task_is_still_done(mem: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    from longmind.systems.working import RunItems

    async def broken(self: object, *args: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(RunItems, "begin", broken)
    monkeypatch.setattr(RunItems, "attended", broken)
    outcome = await Agent(mem, policy=lambda turn: Say(text="done")).run("Do it")
    assert outcome.text == "done"
    assert any("Working memory could not" in problem for problem in outcome.problems)


async def test_what_is_in_mind_is_written_with_what_records_it(mem: AgentMemory) -> None:
    agent = Agent(mem, chat=ScriptedModel(calling("look"), calling("look"), "Fine.").chat(), tools=ToolRegistry())

    @agent.tool
    async def look() -> str:
        return "blue"

    outcome = await agent.run("What colour is the sky?", session="s")
    changes = await mem.scoped.store.journal(mem.scoped.scope, after=0, limit=1_000)
    together: dict[str, set[str]] = {}
    for change in changes:
        together.setdefault(change.operation, set()).add(change.reason)
    reasons = [reason for operation in together.values() for reason in operation]
    assert outcome.problems == ()
    assert reasons.count("working memory: run goes on") == 2, "the plan, once for each decision to call a tool"
    assert sorted({reason for reason in reasons if reason.startswith("working memory")}) == [
        "working memory: run goes on"
    ]
    assert reasons.count("run goes on") == 3, "two calls with their results, and the answer"


async def test_a_run_is_recorded_when_working_memory_cannot_take_part(
    mem: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr("longmind.systems.working.run_items.RunItems._fit_into_limits", broken)
    agent = Agent(mem, chat=ScriptedModel(calling("look"), "Fine.").chat(), tools=ToolRegistry())

    @agent.tool
    async def look() -> str:
        return "blue"

    outcome = await agent.run("What colour is the sky?", session="s")
    assert outcome.text == "Fine."
    assert outcome.problems == ("Working memory could not be given the goal: no room",)
    episode = await mem.get(outcome.episode)
    assert episode is not None
    assert episode.body["end"] is not None
    assert await mem.working.items() == ()
