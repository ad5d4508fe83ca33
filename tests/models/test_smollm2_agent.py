"""The real model plans, acts, reflects, pursues a goal and tells a conversation in short.

What it says is poor. So nothing here looks at the wording: only at the shape of what comes out, at what is stored, and
that what the model made up stays out.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, get_args

import pytest
from tests.models.brief import Brief

from longmind.agent import Agent, Ending, Limits, ModelPolicy, Outcome, PursuitLimits, ReflectiveAgent
from longmind.agent.model_critic import record_of
from longmind.agent.pursuit.models import PursuitEnding
from longmind.agent_memory import AgentMemory
from longmind.consolidate.model import Points, supported_points
from longmind.errors import InvalidInput
from longmind.models.chat_model import ChatModel
from longmind.models.quotes import find_quote
from longmind.systems.goals import Goal, Plan
from longmind.systems.procedural import ToolRegistry

pytestmark = pytest.mark.asyncio(loop_scope="session")

TASK = "What is the weather in Lisbon?"
LIMITS = Limits(actions=2, bad_answers=2, context_tokens=200)


def add_weather(tools: ToolRegistry) -> None:
    @tools.tool
    def look_up(city: str) -> str:
        """The weather of a city."""
        return f"sunny in {city}"


async def goal_of(mem: AgentMemory) -> Goal:
    add_weather(mem.procedural.tools)
    return await mem.goals.create("Find out the weather in Lisbon", criteria=["The weather in Lisbon is known"])


def assert_sound(plan: Plan) -> None:
    """Only tools and criteria that exist, every criterion served, and steps that can be ordered: a plan reads itself
    back only if they form a DAG."""
    assert plan.steps
    assert {step.tool for step in plan.steps} <= {None, "look_up"}
    assert {step.procedure for step in plan.steps} == {None}
    assert {name for step in plan.steps for name in step.criteria} == {"c1"}
    assert all(set(step.args) <= {"city"} for step in plan.steps)
    assert Plan.model_validate(plan.model_dump()) == plan


async def assert_recorded(mem: AgentMemory, outcome: Outcome, brief: Brief) -> None:
    """Whatever the model said: the run has an ending, is written down, and what it took is counted."""
    assert outcome.ending in get_args(Ending)
    assert outcome.usage.tokens > 0
    assert outcome.usage.requests == len(brief.heard)
    assert sum("could not be used" in one for one in outcome.problems) <= LIMITS.bad_answers
    assert len(outcome.done) <= LIMITS.actions
    assert {done.call.tool for done in outcome.done} <= {"look_up"}
    said = await mem.conversation(outcome.session).history()
    assert (said[0].source.role, said[0].content) == ("user", outcome.task)
    if outcome.ending == "answered":
        assert (said[-1].source.role, said[-1].content) == ("assistant", outcome.text)
        assert (said[-1].metadata["model"], said[-1].metadata["prompt"]) == (brief.name, "agent@1")
    assert outcome.episode is not None
    episode = await mem.episodic.get(outcome.episode)
    assert (episode.open, episode.attributes["run"]["ending"]) == (False, outcome.ending)


async def test_its_plan_is_sound_or_refused_and_nothing_of_a_refused_one_is_stored(
    mem: AgentMemory, brief: Brief
) -> None:
    goal = await goal_of(mem)
    (plan,) = await asyncio.gather(mem.goals.plan_for(goal.id, how="model"), return_exceptions=True)
    if isinstance(plan, InvalidInput):
        assert "The model gave no plan" in plan.message
        assert await mem.goals.plan(goal.id) is None
        assert (await mem.list(kinds=["plan"])).items == ()
    else:
        assert isinstance(plan, Plan)
        assert (plan.origin, plan.prompt) == ("model", "plan@1")
        assert_sound(plan)
    assert 1 <= len(brief.heard) <= 4
    assert all(answer.usage.output_tokens <= brief.most for answer in brief.heard)


async def test_a_plan_it_cannot_finish_is_made_from_the_criteria_and_says_why(mem: AgentMemory, brief: Brief) -> None:
    brief.most = 8
    goal = await goal_of(mem)
    plan = await mem.goals.plan_for(goal.id)
    assert (plan.origin, plan.prompt) == ("criteria", "")
    assert "The model gave no plan: The model gave no valid PlannedSteps: it is too long" in plan.why
    assert_sound(plan)
    assert [answer.finish for answer in brief.heard] == ["length", "length"]


async def test_an_agent_answers_with_it_and_writes_down_what_it_did(mem: AgentMemory, brief: Brief) -> None:
    await mem.remember("Ann lives in Lisbon.", session="earlier")
    agent = Agent(mem, limits=LIMITS)
    add_weather(agent.tools)
    brief.most = 60
    outcome = await agent.run(TASK, session="s")
    assert "Ann lives in Lisbon." in [hit.memory.content for hit in outcome.memories]
    await assert_recorded(mem, outcome, brief)


async def test_an_agent_speaks_with_it_piece_by_piece(mem: AgentMemory, brief: Brief) -> None:
    brief.most = 40
    async with Agent(mem, limits=LIMITS, tools=ToolRegistry()).stream("Say hello to Ann.", session="s") as stream:
        pieces = [piece async for piece in stream]
        outcome = await stream.result()
    await assert_recorded(mem, outcome, brief)
    assert len(pieces) > 1
    assert outcome.text.strip() in "".join(pieces)


async def test_a_reflection_of_it_quotes_the_run_or_is_refused(mem: AgentMemory, brief: Brief) -> None:
    model = ChatModel(brief)
    policy = ModelPolicy(model, max_tokens=40)
    agent = ReflectiveAgent(
        mem,
        chat=model,
        policy=policy,
        critic="model",
        tools=ToolRegistry(),
        limits=LIMITS,
        judge=lambda outcome: False,
    )
    outcome = await agent.run(TASK, session="s")
    await assert_recorded(mem, outcome, brief)
    assert outcome.success is False
    assert outcome.reflection is not None
    kept = await mem.get(outcome.reflection)
    assert kept is not None
    said = conclusion(brief)
    if "quote" in kept.body:
        told = f"{outcome.ending}: {outcome.text} The task was not done."
        assert any(find_quote(text, kept.body["quote"]) for text in record_of(TASK, outcome.done, [told]))
        assert (kept.body["prompt"], kept.body["model"]) == ("conclude@1", brief.name)
        assert kept.content.endswith(f"Conclusion: {said['lesson']}")
    else:
        assert "critic's model" in outcome.problems[-1]
        assert "Conclusion:" not in kept.content
    links = await mem.store.links(mem.scope, [kept.id], relation="derived_from", direction="out")
    assert [link.target for link in links] == [outcome.episode]


def conclusion(brief: Brief) -> dict[str, Any]:
    """What the critic's model said last, if it could be read."""
    try:
        said: dict[str, Any] = json.loads(brief.heard[-1].text)
    except ValueError:
        return {}
    return said


async def test_a_goal_it_pursues_comes_to_an_end_within_its_limits(mem: AgentMemory, brief: Brief) -> None:
    goal = await goal_of(mem)
    brief.most = 48
    limits = PursuitLimits(steps=2, revisions=1, tokens=4_000, seconds=120.0)
    pursuit = await Agent(mem, limits=LIMITS).pursue(goal, limits=limits)
    assert pursuit.ending in get_args(PursuitEnding)
    assert len(pursuit.outcomes) <= limits.steps
    assert len(pursuit.revisions) <= limits.revisions
    assert pursuit.usage.tokens > 0
    assert pursuit.usage.requests == len(brief.heard)
    plan = await mem.goals.plan(goal.id)
    assert plan is not None
    assert_sound(plan)
    assert (pursuit.ending == "achieved") == (pursuit.goal.progress == 1.0)
    met = [one for one in pursuit.goal.criteria if one.met]
    assert all(one.evidence for one in met)
    assert len(met) <= pursuit.steps_done


async def test_what_left_the_window_is_told_by_it_with_support_or_by_rules(mem: AgentMemory, brief: Brief) -> None:
    talk = mem.conversation("s", window=1)
    turns = ["My sister Eva plays the cello in Porto.", "The museum opens in May.", "And now?"]
    said = {one.id: one for one in [await talk.add(text) for text in turns]}
    brief.most = 340
    lines = (await talk.summary()).splitlines()
    (stored,) = (await mem.list(kinds=["summary"])).items
    assert (stored.content.splitlines(), len(stored.body["quotes"])) == (lines, len(lines))
    sources = [said[quote["id"]].content for quote in stored.body["quotes"]]
    assert set(sources) <= set(turns[:2])
    assert stored.body["told"] == 2
    if stored.body["by"] == "model":
        kept, _ = supported_points(Points.model_validate_json(brief.heard[-1].text).points, turns[:2])
        assert [(text, turns[number]) for text, number in kept] == list(zip(lines, sources, strict=True))
    else:
        assert all(line.removeprefix("user: ") in source for line, source in zip(lines, sources, strict=True))
    links = await mem.store.links(mem.scope, [stored.id], relation="derived_from", direction="out")
    assert {link.target for link in links} <= set(list(said)[:2])
    assert 1 <= len(brief.heard) <= 2
