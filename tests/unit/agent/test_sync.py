"""The blocking face of the agent: the same methods with the same signatures, and usable without an event loop."""

from __future__ import annotations

import inspect
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import longmind.agent
import longmind.agent.sync
from longmind import Settings
from longmind.agent import Call, Outcome, PursuitEvent, Say, Turn
from longmind.agent.sync import Agent, ReflectiveAgent, divergence, load_outcome, replay
from longmind.errors import Conflict, InvalidInput
from longmind.sync import AgentMemory, Longmind

PAIRS = [
    (longmind.agent.Agent, longmind.agent.sync.Agent),
    (longmind.agent.TaskRun, longmind.agent.sync.TaskRun),
    (longmind.agent.Stream, longmind.agent.sync.Stream),
]
OTHER_NAME = {"aclose": "close"}
NOT_MIRRORED = {"goals", "current", "own_chat"}
"""They hand out asynchronous objects."""
MEMBERS = [
    (one, other, name)
    for one, other in PAIRS
    for name, member in inspect.getmembers_static(one)
    if not name.startswith("_") and name not in NOT_MIRRORED and (inspect.isfunction(member))
]


@pytest.mark.parametrize(("one", "other", "name"), MEMBERS, ids=[f"{o.__name__}.{n}" for o, _, n in MEMBERS])
def test_every_method_has_a_blocking_twin(one: type, other: type, name: str) -> None:
    expected, twin = getattr(one, name), getattr(other, OTHER_NAME.get(name, name))
    assert inspect.signature(twin).parameters == inspect.signature(expected).parameters
    assert not inspect.iscoroutinefunction(twin)
    assert twin.__doc__.replace("``for text", "``async for text") == expected.__doc__


def test_the_methods_are_those_there_are() -> None:
    assert {"run", "stream", "pursue", "perceive", "think", "act", "step", "close"} <= {name for _, _, name in MEMBERS}


@pytest.mark.parametrize("kind", ["Agent", "ReflectiveAgent"])
def test_it_is_made_of_the_same_parts(kind: str) -> None:
    expected = dict(inspect.signature(getattr(longmind.agent, kind)).parameters)
    del expected["goals"]
    assert inspect.signature(getattr(longmind.agent.sync, kind)).parameters == expected


@pytest.mark.parametrize("function", ["replay", "divergence", "load_outcome"])
def test_functions_over_stored_runs_take_the_same(function: str) -> None:
    expected, twin = getattr(longmind.agent, function), getattr(longmind.agent.sync, function)
    assert list(inspect.signature(twin).parameters) == list(inspect.signature(expected).parameters)
    assert inspect.signature(twin).return_annotation == inspect.signature(expected).return_annotation


@pytest.fixture
def mem(tmp_path: Path) -> Iterator[AgentMemory]:
    with Longmind.open(f"sqlite:///{tmp_path / 'memory.db'}", settings=Settings.load({})) as longmind:
        yield longmind.agent("assistant", user="ann")


def double_then_say(turn: Turn) -> Call | Say:
    if not turn.done:
        return Call(tool="double", args={"n": 21})
    return Say(text=f"It is {turn.done[-1].result}.", success=True)


def test_a_task_is_run_and_its_run_can_be_read_again(mem: AgentMemory) -> None:
    with ReflectiveAgent(mem, policy=double_then_say) as agent:

        @agent.tool
        def double(n: int) -> int:
            """Twice as much."""
            return 2 * n

        assert "double" in agent.tools
        assert agent.decides()
        outcome = agent.run("Double 21.", session="s")
    assert (outcome.ending, outcome.text, outcome.success) == ("answered", "It is 42.", True)
    assert agent.last == outcome
    assert outcome.episode is not None
    assert next(step.action for step in replay(mem, outcome.episode)) == Call(tool="double", args={"n": 21})
    assert load_outcome(mem, outcome.episode).text == outcome.text
    assert divergence(mem, outcome.episode, double_then_say) is None
    other = divergence(mem, outcome.episode, lambda turn: Say(text="No."))
    assert other is not None
    assert (other.at, other.now) == (1, Say(text="No."))


def test_a_policy_a_judge_and_a_tool_may_use_the_blocking_memory(mem: AgentMemory) -> None:
    mem.remember("The parcel goes to Lisbon.")
    heard: list[str] = []

    def policy(turn: Turn) -> Call | Say:
        if not turn.done:
            return Call(tool="look", args={"query": "parcel"})
        heard.append(threading.current_thread().name)
        return Say(text=mem.recall("Lisbon", k=1)[0].memory.content)

    def judge(outcome: Outcome) -> bool:
        return mem.stats().memories > 0 and "Lisbon" in outcome.text

    with Agent(mem, policy=policy, judge=judge) as agent:

        @agent.tool
        def look(query: str) -> str:
            return mem.recall(query, k=1)[0].memory.content

        outcome = agent.run("Where does the parcel go?")
    assert outcome.problems == ()
    assert (outcome.success, outcome.done[0].ok) == (True, True)
    assert heard
    assert "longmind" not in heard, "not in the thread of the event loop"


def test_an_asynchronous_policy_is_awaited(mem: AgentMemory) -> None:
    async def policy(turn: Turn) -> Say:
        return Say(text="Hello.")

    assert Agent(mem, policy=policy).run("Greet.").text == "Hello."


def test_a_stream_is_read_in_a_for_loop(mem: AgentMemory) -> None:
    agent = Agent(mem, policy=lambda turn: Say(text="Hello there."))
    with agent.stream("Greet.") as stream:
        assert stream.outcome is None
        assert "".join(stream) == "Hello there."
    assert stream.outcome == stream.result()
    with pytest.raises(InvalidInput, match="There is no task"):
        agent.stream("  ")


def test_a_stream_that_is_closed_cancels_its_run(mem: AgentMemory) -> None:
    begun = threading.Event()
    done = threading.Event()

    def policy(turn: Turn) -> Say:
        begun.set()
        done.wait(30)
        return Say(text="Too late.")

    agent = Agent(mem, policy=policy)
    with agent.stream("Wait.", session="s") as stream:
        reader = threading.Thread(target=lambda: list(stream))
        reader.start()
        assert begun.wait(30)
    done.set()
    reader.join(30)
    assert stream.outcome is None
    assert [episode.outcome for episode in mem.episodic.recent()] == ["unknown"]


def test_a_run_is_done_step_by_step(mem: AgentMemory) -> None:
    agent = Agent(mem, policy=double_then_say)
    agent.tool(lambda_double, name="double")
    run = agent.perceive("Double 21.")
    with pytest.raises(Conflict, match="still going on"):
        agent.perceive("Another.")
    assert run.outcome is None
    agent.step()
    outcome = run.to_end()
    assert run.outcome == outcome
    assert agent.perceive("Double 21.").cancel().ending == "cancelled"


def lambda_double(n: int) -> int:
    return 2 * n


def test_a_goal_is_pursued_and_watched_from_a_thread(mem: AgentMemory) -> None:
    seen: list[tuple[str, int]] = []

    def watch(event: PursuitEvent) -> None:
        seen.append((event.kind, mem.stats().memories))

    goal = mem.goals.create("Double 21.")
    mem.goals.plan_for(goal.id, steps=[{"description": "Double it.", "tool": "double", "args": {"n": 21}}])
    with ReflectiveAgent(mem, policy=double_then_say) as agent:
        agent.tool(lambda_double, name="double")
        pursuit = agent.pursue(goal.id, on_event=watch)
    assert [outcome.result for outcome in pursuit.outcomes] == [42]
    assert [kind for kind, _ in seen][-1] == "ended"


SAMPLE = """
from longmind.agent.sync import ReflectiveAgent
from longmind.sync import Longmind

with Longmind.open("memory:") as longmind, ReflectiveAgent(longmind.agent("assistant")) as agent:
    @agent.tool
    def double(n: int) -> int:
        return 2 * n

    reveal_type(double(1))
    reveal_type(agent.run("x"))
    reveal_type(agent.perceive("x").step())
    reveal_type(agent.pursue("x"))
    for piece in agent.stream("x"):
        reveal_type(piece)
"""


def test_a_type_checker_sees_what_the_methods_return(tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text(SAMPLE)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(sample)],
        capture_output=True,
        text=True,
        check=False,
    )
    revealed = [line.split('"')[1] for line in checked.stdout.splitlines() if "Revealed type" in line]
    assert revealed == [
        "int",
        "longmind.agent.models.Outcome",
        "longmind.agent.models.Observation | longmind.agent.models.Outcome",
        "longmind.agent.pursuit.models.Pursuit",
        "str",
    ], checked.stdout
