"""The measurement of learning, made small; and that the world keeps its rules to itself."""

from __future__ import annotations

import inspect
import random
from pathlib import Path

import pytest

from benchmarks import help_desk, learning
from benchmarks.help_desk import ACTIONS, AREAS, FIXES, PROBLEMS, HelpDesk, NoEffect
from benchmarks.learning import TriesWhatWorked, recovered
from longmind.agent.models import Call, Observation, Say, Turn


def test_there_are_forty_kinds_of_task_each_worded_in_three_ways() -> None:
    assert len(PROBLEMS) == 40
    assert len({text for kind in PROBLEMS for text in kind}) == 120


def test_the_same_seed_is_the_same_world_and_another_is_not() -> None:
    assert HelpDesk(1).rules == HelpDesk(1).rules
    assert [t.text for t in HelpDesk(1).tickets(30)] == [t.text for t in HelpDesk(1).tickets(30)]
    assert HelpDesk(1).rules != HelpDesk(2).rules


async def test_only_the_right_place_and_then_the_right_fix_solve_a_ticket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(help_desk, "NOISE", 0.0)
    desk = HelpDesk(3)
    (ticket,) = desk.tickets(1)
    area, fix = desk.rules[ticket.kind]
    tools = desk.tools()
    desk.take(ticket)
    with pytest.raises(NoEffect, match="not known"):
        await tools.get("apply_fix").call({"fix": fix}, "k")
    with pytest.raises(NoEffect):
        await tools.get("diagnose").call({"area": next(one for one in AREAS if one != area)}, "k")
    await tools.get("diagnose").call({"area": area}, "k")
    with pytest.raises(NoEffect):
        await tools.get("apply_fix").call({"fix": next(one for one in FIXES if one != fix)}, "k")
    await tools.get("apply_fix").call({"fix": fix}, "k")
    assert desk.solved


async def test_a_ticket_is_closed_after_so_many_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(help_desk, "NOISE", 0.0)
    desk = HelpDesk(3)
    (ticket,) = desk.tickets(1)
    area, _ = desk.rules[ticket.kind]
    desk.take(ticket)
    for _ in range(ACTIONS):
        await desk.tools().get("diagnose").call({"area": area}, "k")
    with pytest.raises(NoEffect, match="closed"):
        await desk.tools().get("diagnose").call({"area": area}, "k")


def test_a_change_makes_one_fix_useless_for_the_kinds_it_names() -> None:
    desk = HelpDesk(5)
    before = list(desk.rules)
    touched = desk.change()
    retired = {before[kind][1] for kind in touched}
    assert len(retired) == 1
    assert all(desk.rules[kind] != before[kind] for kind in touched)
    assert all(desk.rules[kind] == before[kind] for kind in range(40) if kind not in touched)


def test_the_policy_is_given_no_way_to_the_rules() -> None:
    assert list(inspect.signature(TriesWhatWorked.__call__).parameters) == ["self", "turn"]
    assert set(TriesWhatWorked.__slots__) == {"chance"}
    for function in (TriesWhatWorked.__call__, learning.evidence):
        assert "rules" not in inspect.getsource(function)
        assert "HelpDesk" not in inspect.getsource(function)


def test_without_memory_the_policy_guesses_among_all_that_is_left() -> None:
    tools = tuple(HelpDesk(1).tools().described())
    choices = set()
    for seed in range(200):
        action = TriesWhatWorked(random.Random(seed))(Turn(task="The fax is dead", session="s", tools=tools))
        assert isinstance(action, Call)
        choices.add(action.args["area"])
    assert choices == set(AREAS)


def test_the_policy_gives_up_when_the_ticket_is_closed() -> None:
    tried = Observation(call=Call(tool="diagnose", args={"area": "device"}), ok=False, error="Nothing there.")
    turn = Turn(
        task="The fax is dead", session="s", tools=tuple(HelpDesk(1).tools().described()), done=(tried,) * ACTIONS
    )
    said = TriesWhatWorked(random.Random(1))(turn)
    assert isinstance(said, Say)
    assert said.success is False


@pytest.mark.parametrize(
    ("before", "after", "tasks"),
    [
        (1.0, [True] * 10, 0),
        (1.0, [False, False, True, True, True, True, True], 2),
        (0.9, [False, True, True, False, True, True, False], 1),
        (1.0, [False, True, True, False, True, True, False], 7),
    ],
)
def test_recovery_is_the_first_row_that_goes_as_well_as_before(before: float, after: list[bool], tasks: int) -> None:
    assert recovered(before, after) == tasks


async def test_an_agent_with_memory_gets_better_and_one_without_does_not(tmp_path: Path) -> None:
    seen: list[float] = []
    found = await learning.run(tmp_path, seeds=1, tasks=100, embedder="none", progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    early, late = found.on[0].mean, max(band.mean for band in found.on[-2:])
    assert late - early >= 25
    assert late - max(band.mean for band in found.off[-2:]) >= 15
    assert found.steps_on[-1].mean < found.steps_off[-1].mean
    assert found.told_right == 100
    assert found.told_right_without == 0
    assert found.chart().count("<polyline") == 2
    assert {"gain_points", "steps_ratio", "recovery_tasks"} <= set(found.as_json())
