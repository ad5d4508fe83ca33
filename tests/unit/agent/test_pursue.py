"""Pursuing goals with plain tools and policies: success, trouble, limits, cancellation, and a model that plans."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from longmind import Longmind, Settings
from longmind.agent import Agent, Call, Limits, Say, Turn
from longmind.agent.pursuit import pursue
from longmind.agent.pursuit.goal_pursuit import NEEDED, GoalPursuit
from longmind.agent.pursuit.models import PursuitEvent, PursuitLimits
from longmind.agent_memory import AgentMemory
from longmind.errors import Conflict, Forbidden, NotFound, StoreUnavailable
from longmind.models.chat import Answer, ToolCall, Usage
from longmind.systems.goals import Goal, GoalState, Plan
from longmind.systems.procedural import ToolRegistry
from longmind.testing import ScriptedModel

QUICK = PursuitLimits(seconds=60, lease_seconds=5, wait_seconds=0)


def agent_with(mem: AgentMemory, *functions: Any, **parts: Any) -> Agent:
    agent = Agent(mem, tools=ToolRegistry(), **parts)
    for function in functions:
        agent.tool(function)
    return agent


def uses(id: str, tool: str, *after: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "description": f"Use {tool} for {id}", "tool": tool, "after": list(after), **more}


async def planned(mem: AgentMemory, *steps: Any, **more: Any) -> Goal:
    goal, _ = await mem.goals.create_goal_with_plan("Serve the dinner", steps=list(steps), **more)
    return goal


async def plan_of(mem: AgentMemory, goal: Goal) -> Plan:
    plan = await mem.goals.plan(goal.id)
    assert plan is not None
    return plan


async def consistent(mem: AgentMemory, goal: str) -> None:
    """Nothing runs, nothing is taken, no episode is open."""
    plan = await mem.goals.plan(goal)
    now = mem.scoped.now() + timedelta(seconds=1)
    for step in plan.steps if plan else ():
        assert step.status != "running" or (step.lease_until is not None and step.lease_until < now)
    leases = await mem.list(kinds=["configuration"], limit=100)
    assert [m.key for m in leases.items if m.key and m.key.startswith("lease:")] == []
    episodes = await mem.episodic.list(limit=100)
    assert [one.title for one in episodes.items if one.open and not one.standing] == []


# -- what goes well --------------------------------------------------------------------------------------------------


async def test_branches_of_a_plan_run_side_by_side(mem: AgentMemory) -> None:
    meeting = asyncio.Barrier(2)
    order: list[str] = []

    async def buy() -> str:
        order.append("buy")
        return "rice and fish"

    async def cook(what: str) -> str:
        async with asyncio.timeout(30):
            await meeting.wait()  # passes only when both are at work
        order.append(what)
        return f"{what} is cooked"

    goal = await planned(
        mem,
        uses("shop", "buy"),
        uses("rice", "cook", "shop", args={"what": "rice"}),
        uses("fish", "cook", "shop", args={"what": "fish"}),
        uses("serve", "buy", "rice", "fish", criteria=["c1"]),
    )
    seen: list[PursuitEvent] = []
    pursuit = await pursue(agent_with(mem, buy, cook), goal, limits=QUICK, on_event=seen.append)
    assert (pursuit.ending, pursuit.goal.status, pursuit.steps_done) == ("achieved", "achieved", 4)
    assert pursuit.problems == ()
    assert order[0] == order[-1] == "buy"
    assert [one.kind for one in seen if one.step == "shop"] == ["started", "done"]
    assert seen[-1].kind == "ended"
    (evidence,) = pursuit.goal.criteria[0].evidence
    assert evidence.memory is not None
    episode = await mem.episodic.get(evidence.memory)
    assert (episode.type, episode.outcome, episode.open, episode.events) == ("pursuit", "succeeded", False, 4)
    await consistent(mem, goal.id)


async def test_no_more_steps_at_once_than_allowed(mem: AgentMemory) -> None:
    now, most = 0, 0
    pairs = asyncio.Barrier(2)

    async def work() -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        async with asyncio.timeout(30):
            await pairs.wait()
        now -= 1

    goal = await planned(mem, *(uses(f"s{n}", "work", args={}, criteria=["c1"]) for n in range(6)))
    pursuit = await pursue(agent_with(mem, work), goal.id, limits=QUICK.model_copy(update={"parallel": 2}))
    assert (pursuit.ending, most) == ("achieved", 2)


async def test_a_goal_without_a_plan_is_planned_and_its_steps_are_given_to_the_policy(mem: AgentMemory) -> None:
    tasks: list[str] = []

    def policy(turn: Turn) -> Say:
        tasks.append(turn.task)
        return Say(text="The table is laid.", success=True)

    goal = await mem.goals.create("Lay the table", status="proposed")
    pursuit = await pursue(Agent(mem, policy=policy), goal, limits=QUICK)
    assert pursuit.ending == "achieved"
    assert tasks[0].startswith("Lay the table\n")
    assert '"goal": "Lay the table"' in tasks[0]
    (outcome,) = pursuit.outcomes
    assert (outcome.how, outcome.result) == ("agent", "The table is laid.")
    assert outcome.episode is not None
    assert (await mem.episodic.get(outcome.episode)).type == "task"
    assert pursuit.goal.criteria[0].evidence[0].memory == outcome.episode


async def test_sub_goals_come_first_the_most_important_one_before_the_others(mem: AgentMemory) -> None:
    done: list[str] = []

    async def do(what: str) -> None:
        done.append(what)

    goal = await planned(mem, uses("s1", "do", args={"what": "top"}))
    for name, priority in (("low", 0.1), ("high", 0.9)):
        await mem.goals.create_goal_with_plan(
            name, steps=[uses("s1", "do", args={"what": name})], parent=goal.id, priority=priority
        )
    pursuit = await pursue(agent_with(mem, do), goal, limits=QUICK)
    assert (pursuit.ending, done) == ("achieved", ["high", "low", "top"])
    assert len({one.goal for one in pursuit.outcomes}) == 3


async def test_a_sub_goal_that_waits_for_a_person_blocks_what_is_above_it(mem: AgentMemory) -> None:
    async def do() -> None: ...

    goal = await planned(mem, uses("s1", "do"))
    below = await mem.goals.create("Ask the chef", parent=goal.id)
    agent = agent_with(mem, do)
    pursuit = await pursue(agent, goal, limits=QUICK)
    assert pursuit.ending == "blocked"
    assert below.id in pursuit.goal.why
    assert (await plan_of(mem, goal)).steps[0].status == "done"
    await mem.goals.meet(below.id, "c1", "He said yes.")
    again = await pursue(agent, goal, limits=QUICK)
    assert again.ending == "achieved"


async def test_a_procedure_does_a_step_once_however_often_it_is_begun(mem: AgentMemory) -> None:
    sent: list[str] = []

    async def send(text: str) -> str:
        sent.append(text)
        return "sent"

    agent = agent_with(mem, send)
    steps = [{"name": "send", "use": "send", "args": {"text": "{{ params.text }}"}}]
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    await mem.procedural.store({"name": "invite", "purpose": "Invite", "steps": steps, "parameters": schema})
    goal = await planned(mem, {"id": "s1", "description": "Invite Ann", "procedure": "invite", "args": {"text": "Hi"}})
    pursuit = await pursue(agent, goal, limits=QUICK)
    assert (pursuit.ending, sent) == ("achieved", ["Hi"])
    assert pursuit.outcomes[0].how == "procedure"


# -- trouble ---------------------------------------------------------------------------------------------------------


async def test_a_step_that_fails_is_tried_again_and_then_done_by_another_procedure(mem: AgentMemory) -> None:
    calls: list[str] = []

    async def fetch_report(city: str) -> str:
        """Fetch the weather report of a city."""
        calls.append("fetch")
        raise RuntimeError("The gate is shut.")

    async def read_paper(city: str) -> str:
        calls.append("paper")
        return f"Rain in {city}."

    agent = agent_with(mem, fetch_report, read_paper)
    await mem.procedural.store(
        {
            "name": "weather_report_of_a_city",
            "purpose": "Fetch the weather report of a city",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
            "steps": [{"name": "read", "use": "read_paper", "args": {"city": "{{ params.city }}"}}],
        }
    )
    step = {
        "id": "s1",
        "description": "Fetch the weather report of the city",
        "tool": "fetch_report",
        "args": {"city": "Rome"},
    }
    goal = await planned(mem, step)
    pursuit = await pursue(agent, goal, limits=QUICK)
    assert pursuit.ending == "achieved", pursuit.why
    assert [one.strategy for one in pursuit.revisions] == ["retry", "substitute"]
    assert calls == ["fetch", "fetch", "paper"]
    assert [one.ok for one in pursuit.outcomes] == [False, False, True]
    assert pursuit.outcomes[-1].how == "procedure"
    assert (await plan_of(mem, goal)).number == 3


async def test_a_plan_that_rests_on_what_is_no_longer_true_is_made_anew(mem: AgentMemory) -> None:
    fact = (await mem.semantic.learn("the dinner", "is served in", "the garden")).fact

    async def do() -> str:
        return "done"

    agent = agent_with(mem, do, policy=lambda turn: Say(text="Served in the hall.", success=True))
    goal = await planned(mem, uses("s1", "do"), uses("s2", "do", "s1"))
    before = await plan_of(mem, goal)
    assert before.assumptions == (fact.id,)
    await mem.goals.complete_step(goal.id, "s1", "done")
    await mem.semantic.retract(fact.id)
    pursuit = await pursue(agent, goal, limits=QUICK)
    assert (pursuit.revisions[0].finding, pursuit.revisions[0].strategy) == ("broken_assumption", "replan")
    assert pursuit.ending == "achieved"
    after = await plan_of(mem, goal)
    assert after.assumptions == ()
    assert after.steps[0].status == "done"


async def test_what_always_fails_ends(mem: AgentMemory) -> None:
    async def never() -> None:
        raise RuntimeError("Out of order.")

    agent = agent_with(mem, never, policy=lambda turn: Say(text="Out of order.", success=False))
    goal = await planned(mem, uses("s1", "never"), uses("s2", "never"), uses("s3", "never", "s1", "s2"))
    pursuit = await pursue(agent, goal, limits=QUICK)
    assert pursuit.ending == "blocked"
    assert "Out of order." in pursuit.goal.why
    assert (pursuit.goal.status, pursuit.goal.why) == ("blocked", pursuit.why)
    again = await pursue(agent, goal, limits=QUICK)
    assert (again.ending, again.outcomes, again.goal.version) == ("blocked", (), pursuit.goal.version)
    for _ in range(40):
        if not (await mem.goals.get(goal.id)).open:
            break
        await mem.goals.unblock(goal.id)
        last = await pursue(agent, goal, limits=QUICK)
        assert last.ending in ("blocked", "failed")
    assert (await mem.goals.get(goal.id)).status == "failed"
    await consistent(mem, goal.id)


async def test_limits_end_it_and_the_next_call_goes_on(mem: AgentMemory) -> None:
    done: list[int] = []

    async def work(n: int) -> None:
        done.append(n)

    agent = agent_with(mem, work)
    steps = [uses(f"s{n}", "work", *([f"s{n - 1}"] if n else []), args={"n": n}) for n in range(5)]
    goal = await planned(mem, *steps)
    few = QUICK.model_copy(update={"steps": 2})
    endings = [(await pursue(agent, goal, limits=few)).ending for _ in range(3)]
    assert endings == ["out_of_budget", "out_of_budget", "achieved"]
    assert done == [0, 1, 2, 3, 4]


async def test_the_time_of_a_pursuit_is_limited_and_so_are_its_revisions(mem: AgentMemory) -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    async def never() -> None:
        raise RuntimeError("No.")

    agent = agent_with(mem, hang, never)
    goal = await planned(mem, uses("s1", "hang"))
    pursuit = await pursue(agent, goal, limits=QUICK.model_copy(update={"seconds": 0.05}))
    assert pursuit.ending == "out_of_budget"
    assert "time" in pursuit.why
    await consistent(mem, goal.id)
    failing = await planned(mem, uses("s1", "never"))
    pursuit = await pursue(agent, failing, limits=QUICK.model_copy(update={"revisions": 0}))
    assert (pursuit.ending, pursuit.revisions) == ("out_of_budget", ())
    assert "No." in pursuit.why


async def test_time_that_ends_while_the_plan_is_monitored_blocks_nothing(
    mem: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monitor = GoalPursuit._monitor_and_revise

    async def slow(self: GoalPursuit, state: GoalState) -> Any:
        self.context._deadline = 0.0
        return await monitor(self, state)

    monkeypatch.setattr(GoalPursuit, "_monitor_and_revise", slow)

    async def work() -> None:
        return None

    goal = await planned(mem, uses("s1", "work"))
    pursuit = await pursue(agent_with(mem, work), goal, limits=QUICK)
    assert pursuit.ending == "out_of_budget"
    assert (await mem.goals.get(goal.id)).status == "active"


@pytest.mark.parametrize("kind", ["hangs", "raises", "huge", "odd", "blocks"])
async def test_a_tool_that_misbehaves_is_an_outcome(mem: AgentMemory, kind: str) -> None:
    free = threading.Event()

    async def hangs() -> None:
        await asyncio.Event().wait()

    async def raises() -> None:
        raise ZeroDivisionError("1/0")

    async def huge() -> str:
        return "x" * 10_000_000

    async def odd() -> Any:
        return object()

    def blocks() -> None:
        free.wait(30)

    agent = agent_with(mem, hangs, raises, huge, odd, blocks, limits=Limits(tool_seconds=0.05))
    goal = await planned(mem, uses("s1", kind))
    pursuit = await pursue(agent, goal, limits=QUICK)
    free.set()
    plan = await plan_of(mem, goal)
    if kind == "huge":
        assert pursuit.ending == "achieved"
        assert len(pursuit.outcomes[0].result) < 30_000
        assert len(plan.steps[0].result) <= 4_000
    else:
        assert pursuit.ending == "blocked"
        told = {"hangs": "did not come back", "raises": "1/0", "blocks": "did not come back", "odd": "returned"}
        assert told[kind] in pursuit.outcomes[0].error
    assert len(pursuit.outcomes) <= 12
    await consistent(mem, goal.id)


async def test_an_agent_that_says_it_could_not_do_it_failed(mem: AgentMemory) -> None:
    goal = await planned(mem, "Find the salt")
    agent = Agent(mem, policy=lambda turn: Say(text="**Not done**: there is none."))
    pursuit = await pursue(agent, goal, limits=QUICK)
    assert pursuit.ending == "blocked"
    assert {one.ok for one in pursuit.outcomes} == {False}
    assert "there is none" in pursuit.goal.why


async def test_with_nobody_to_do_a_step_it_is_said_who_is_needed(mem: AgentMemory) -> None:
    async def lay() -> str:
        return "laid"

    goal = await planned(
        mem, uses("table", "lay"), {"id": "wine", "description": "Choose the wine"}, uses("song", "sing")
    )
    agent = agent_with(mem, lay)
    pursuit = await pursue(agent, goal, limits=QUICK)
    assert pursuit.ending == "blocked"
    assert pursuit.goal.why.startswith(NEEDED)
    assert "wine needs somebody to do it: Choose the wine" in pursuit.why
    assert "song needs the tool sing" in pursuit.why
    assert [one.step for one in pursuit.outcomes] == ["table"]
    assert pursuit.revisions == ()

    async def sing() -> str:
        return "sung"

    agent.tool(sing)
    await mem.goals.complete_step(goal.id, "wine", "The red one")
    again = await pursue(agent, goal, limits=QUICK)
    assert (again.ending, [one.step for one in again.outcomes]) == ("achieved", ["song"])


async def test_a_procedure_that_waits_for_approval_waits_for_a_person(mem: AgentMemory) -> None:
    async def pay() -> str:
        return "paid"

    agent = agent_with(mem, pay)
    step = {"name": "pay", "use": "pay", "args": {}, "needs_approval": True}
    await mem.procedural.store({"name": "pay_bill", "purpose": "Pay the bill", "steps": [step]})
    goal = await planned(mem, {"id": "s1", "description": "Pay", "procedure": "pay_bill"})
    pursuit = await pursue(agent, goal, limits=QUICK)
    assert pursuit.ending == "blocked"
    assert "waits for an approval" in pursuit.why
    (run,) = (await mem.procedural.runs()).items
    await mem.procedural.approve(run.id, resume=False)
    again = await pursue(agent, goal, limits=QUICK)
    assert (again.ending, again.outcomes[0].result) == ("achieved", "paid")
    assert len((await mem.procedural.runs()).items) == 1


# -- what cannot be pursued --------------------------------------------------------------------------------------------


async def test_an_unknown_goal_and_one_that_ended(mem: AgentMemory, opened: Longmind) -> None:
    agent = agent_with(mem)
    with pytest.raises(NotFound, match="no goal"):
        await pursue(agent, "00000000-0000-0000-0000-000000000007", limits=QUICK)
    goal = await mem.goals.create("Sing")
    await mem.goals.meet(goal.id, "c1", "Heard it.")
    pursuit = await pursue(agent, goal, limits=QUICK)
    assert (pursuit.ending, pursuit.outcomes, pursuit.steps_done) == ("achieved", (), 0)
    other = await mem.goals.create("Dance")
    await mem.goals.abandon(other.id, "Nobody wants to.")
    pursuit = await pursue(agent, other, limits=QUICK)
    assert (pursuit.ending, pursuit.why) == ("abandoned", "Nobody wants to.")
    with pytest.raises(NotFound):
        await pursue(Agent(opened.agent("assistant")), other, limits=QUICK)
    with pytest.raises(Forbidden, match="belongs to ann"):
        await pursue(Agent(opened.agent("assistant", all_users=True)), other, limits=QUICK)


async def test_one_pursuit_of_a_goal_at_a_time(mem: AgentMemory, opened: Longmind) -> None:
    at_work, go_on = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        at_work.set()
        await go_on.wait()

    goal = await planned(mem, uses("s1", "work"))
    first = asyncio.create_task(pursue(agent_with(mem, work), goal, limits=QUICK))
    await at_work.wait()
    second = opened.agent("assistant", user="ann")
    with pytest.raises(Conflict, match="Somebody else pursues"):
        await pursue(agent_with(second, work), goal, limits=QUICK)
    go_on.set()
    assert (await first).ending == "achieved"
    await consistent(mem, goal.id)


async def test_a_listener_that_fails_does_not_stop_it(mem: AgentMemory) -> None:
    async def work() -> None: ...

    def listen(event: PursuitEvent) -> None:
        raise ValueError("deaf")

    pursuit = await pursue(agent_with(mem, work), await planned(mem, uses("s1", "work")), limits=QUICK, on_event=listen)
    assert pursuit.ending == "achieved"
    assert "deaf" in pursuit.problems[0]


# -- memory that fails, crashes, cancellation --------------------------------------------------------------------------


class Flaky:
    """A store whose batches fail while ``down`` counts: the backend of a real one, cut off at its door."""

    def __init__(self, mem: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> None:
        self.down = 0
        apply = mem.store.backend.apply

        async def flaky(*args: Any, **more: Any) -> Any:
            if self.down:
                self.down -= 1
                raise StoreUnavailable("The database is away.")
            return await apply(*args, **more)

        monkeypatch.setattr(mem.store.backend, "apply", flaky)


@pytest.mark.parametrize("down", [2, 10_000])
async def test_memory_that_fails_is_reported(mem: AgentMemory, monkeypatch: pytest.MonkeyPatch, down: int) -> None:
    store = Flaky(mem, monkeypatch)
    done = 0

    async def work() -> str:
        nonlocal done
        done += 1
        store.down = down if done == 1 else 0
        return "done"

    goal = await planned(mem, uses("s1", "work"))
    agent = agent_with(mem, work)
    limits = QUICK.model_copy(update={"lease_seconds": 0.3, "wait_seconds": 10})
    pursuit = await pursue(agent, goal, limits=limits)
    store.down = 0
    if down == 2:
        assert (pursuit.ending, done) == ("achieved", 1)
    else:
        assert pursuit.ending == "broken_off"
        assert any("The database is away." in problem for problem in pursuit.problems)
        assert (await pursue(agent, goal, limits=limits)).ending == "achieved"


async def test_after_a_crash_the_next_call_goes_on(tmp_path: Path) -> None:
    """The first process is gone without a word: its store is left open, its pursuit is never let to clean up."""
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    did: list[str] = []
    limits = PursuitLimits(lease_seconds=0.5, wait_seconds=30)

    async def first(name: str) -> str:
        did.append(name)
        if name == "two":
            raise KeyboardInterrupt
        return name

    def crash() -> str:
        async def process() -> str:
            longmind = await Longmind.open(url, settings=Settings.load({}))
            mem = longmind.agent("assistant")
            steps = [uses("one", "first", args={"name": "one"}), uses("two", "first", "one", args={"name": "two"})]
            goal = await planned(mem, *steps)
            found.append(goal.id)
            await pursue(agent_with(mem, first), goal, limits=limits)
            return goal.id

        loop = asyncio.new_event_loop()
        task = loop.create_task(process())
        try:
            loop.run_until_complete(task)
        except KeyboardInterrupt:
            left.append((loop, task))  # nothing of it runs any more
        return found[0]

    found: list[str] = []
    left: list[Any] = []
    goal = await asyncio.to_thread(crash)
    assert left

    async def again(name: str) -> str:
        did.append(f"again {name}")
        return name

    async with Longmind.open(url, settings=Settings.load({})) as longmind:
        mem = longmind.agent("assistant")
        agent = Agent(mem, tools=ToolRegistry())
        agent.tools.register(again, name="first")
        plan = await mem.goals.plan(goal)
        assert plan is not None
        assert [step.status for step in plan.steps] == ["done", "running"]
        pursuit = await pursue(agent, goal, limits=limits)
        assert (pursuit.ending, did) == ("achieved", ["one", "two", "again two"])
        await consistent(mem, goal)
    (loop, task) = left[0]
    task.cancel()
    await asyncio.to_thread(_ended, loop, task)


def _ended(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    """Let what was left of the dead process go, so that nothing is complained about."""
    pending = [one for one in asyncio.all_tasks(loop) if not one.done()]
    for one in pending:
        one.cancel()
    loop.run_until_complete(asyncio.gather(task, *pending, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


async def test_wherever_it_is_cancelled_all_is_consistent_and_it_can_go_on(mem: AgentMemory) -> None:
    """Cancelled after any number of turns of the event loop; then the next call finishes it."""
    rng = random.Random(7)
    for n in range(12):
        stop = rng.randrange(1, 400)

        async def work(n: int) -> int:
            await asyncio.sleep(0)
            return n

        def policy(turn: Turn) -> Call | Say:
            return Say(text="done", success=True) if turn.done else Call(tool="work", args={"n": 0})

        agent = agent_with(mem, work, policy=policy, limits=Limits(memories=0, episodes=0, procedures=0))
        goal = await planned(
            mem,
            uses("a", "work", args={"n": 1}),
            uses("b", "work", args={"n": 2}),
            {"id": "c", "description": "Look at it", "after": ["a"], "max_attempts": 10},
            uses("d", "work", "b", "c", args={"n": 3}, criteria=["c1"]),
        )
        task = asyncio.create_task(pursue(agent, goal, limits=QUICK))
        for _ in range(stop):
            await asyncio.sleep(0)
        if n % 2:
            await asyncio.sleep(rng.random() / 5)
        task.cancel()
        result = await asyncio.gather(task, return_exceptions=True)
        assert isinstance(result[0], asyncio.CancelledError) or result[0].ending == "achieved", result
        await consistent(mem, goal.id)
        await asyncio.sleep(0.002)
        pursuit = await pursue(agent, goal, limits=QUICK)
        assert pursuit.ending == "achieved", (n, stop, pursuit)
        assert pursuit.revisions == ()
        await consistent(mem, goal.id)


# -- a model -----------------------------------------------------------------------------------------------------------


@pytest.fixture
async def scripted(url: str) -> AsyncIterator[AgentMemory]:
    async with Longmind.open(url, settings=Settings.load({})) as longmind:
        yield longmind.agent("assistant", user="ann")


async def test_a_model_plans_and_acts(scripted: AgentMemory) -> None:
    mem = scripted

    async def weigh(what: str) -> int:
        """Weigh something, in grams."""
        return 120

    call = ToolCall(id="1", name="weigh", arguments={"what": "salt"})
    step = {"id": "s1", "description": "Weigh the salt", "tool": "weigh", "args": [{"name": "what", "value": "salt"}]}
    other = {"id": "s2", "description": "Say whether it is enough", "after": ["s1"], "criteria": ["c1"]}
    model = ScriptedModel(
        {"steps": [step, other], "why": "Weigh, then tell."},
        Answer(text="I look once more.", tool_calls=(call,), finish="tools", usage=Usage(input_tokens=5, requests=1)),
        "It is enough: 120 g.",
    )
    agent = agent_with(mem, weigh, chat=model.chat())
    goal = await mem.goals.create("Know whether there is enough salt")
    pursuit = await pursue(agent, goal, limits=QUICK)
    assert pursuit.ending == "achieved", pursuit
    plan = await plan_of(mem, goal)
    assert plan.origin == "model"
    assert [(one.how, one.result) for one in pursuit.outcomes] == [("tool", 120), ("agent", "It is enough: 120 g.")]
    _, task, in_mind = model.requests[1].messages
    assert '"results_of_earlier_steps": {"s1": 120}' in task.content
    assert "s1 (done): Weigh the salt; s2 (running): Say whether it is enough" in in_mind.content
    written = [m for m in (await mem.list(kinds=["message"])).items if "results_of_earlier_steps" in m.content]
    assert [(m.source.role, m.metadata["type"], m.trust) for m in written] == [("assistant", "step", 0.7)]
    assert pursuit.usage.requests == 3
    assert pursuit.usage.tokens > 5


async def test_goal_plan_and_results_are_in_mind_during_a_pursuit(mem: AgentMemory) -> None:
    seen: list[dict[str, tuple[float, str]]] = []

    async def weigh(what: str) -> int:
        seen.append({item.key: (item.importance, item.content) for item in await mem.working.items()})
        return 120

    goal = await planned(
        mem,
        uses("a", "weigh", args={"what": "salt"}),
        uses("b", "weigh", "a", args={"what": "rice"}, criteria=["c1"]),
    )
    pursuit = await pursue(agent_with(mem, weigh), goal, limits=QUICK)
    assert (pursuit.ending, pursuit.problems) == ("achieved", ())
    assert seen[0]["goal"] == (0.9, goal.description)
    assert (seen[0]["plan"][0], seen[0]["plan"][1][:11]) == (0.8, "a (pending)")
    assert (seen[1]["result 1"][0], seen[1]["plan"][1][:8]) == (0.7, "a (done)")
    assert await mem.working.items() == ()


async def test_the_tokens_of_a_pursuit_are_limited(scripted: AgentMemory) -> None:
    mem = scripted
    model = ScriptedModel(*["Done."] * 10)
    goal = await planned(mem, "First", "Second", "Third")
    agent = agent_with(mem, chat=model.chat())
    pursuit = await pursue(agent, goal, limits=QUICK.model_copy(update={"tokens": 1}))
    assert (pursuit.ending, pursuit.steps_done) == ("out_of_budget", 1)
    assert "tokens" in pursuit.why
    assert (await pursue(agent, goal, limits=QUICK)).ending == "achieved"


async def test_a_model_that_answers_garbage_ends_blocked(scripted: AgentMemory) -> None:
    mem = scripted
    model = ScriptedModel(*[""] * 200)
    goal = await mem.goals.create("Know the time")
    pursuit = await pursue(agent_with(mem, chat=model.chat()), goal, limits=QUICK)
    assert pursuit.ending == "blocked"
    assert (await plan_of(mem, goal)).origin == "criteria"
    assert len(pursuit.outcomes) <= 12
    await consistent(mem, goal.id)
