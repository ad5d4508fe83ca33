"""Statistics, choices, trials, decisions and their undoing."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from longmind.errors import Conflict, Forbidden, InvalidInput, NotFound
from longmind.systems.procedural import PatchProposal, ProceduralMemory, TrialRule
from longmind.systems.procedural.statistics import percentile
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock

QUICK = TrialRule(share=0.5, min_runs=5, max_runs=60)


def work(value: Any = "ok", **fields: Any) -> dict[str, Any]:
    step = {"name": "do", "use": "echo", "args": {"value": value}}
    return {"name": "work", "purpose": "Work.", "steps": [step], **fields}


async def test_statistics_are_kept_for_each_version(procedures: ProceduralMemory, desk: Any, clock: FakeClock) -> None:
    @desk.tools.tool
    async def takes(seconds: int) -> int:
        clock.advance(seconds)
        if seconds == 7:
            raise RuntimeError("seven")
        return seconds

    schema = {"type": "object", "properties": {"s": {"type": "integer"}}}
    step = {"name": "do", "use": "takes", "args": {"seconds": "{{ params.s }}"}}
    await procedures.store({"name": "w", "purpose": "W.", "parameters": schema, "steps": [step]})
    for seconds in (1, 2, 3, 7, 87):
        last = await procedures.execute("w", {"s": seconds})
    await procedures.store({"name": "w", "purpose": "W2.", "parameters": schema, "steps": [step]})
    await procedures.execute("w", {"s": 5})
    told = await procedures.statistics("w")
    assert [v.number for v in told.versions] == [2, 1]
    one = told.version(1)
    assert (one.successes, one.failures, one.cancelled, one.runs, one.current) == (4, 1, 0, 5, False)
    assert one.success_rate == 0.8
    assert one.last_run == last.finished_at
    assert (one.mean_seconds, one.p95_seconds) == (20, 87)
    assert told.version(2).mean_seconds == 5
    assert last.seconds == 87


@pytest.mark.parametrize(
    ("values", "expected"), [([], None), ([3.0], 3.0), ([float(n) for n in range(1, 101)], 95.0), ([2.0, 1.0], 2.0)]
)
def test_percentiles(values: list[float], expected: float | None) -> None:
    assert percentile(values, 0.95) == expected


async def test_a_caller_can_say_how_a_run_really_came_out(procedures: ProceduralMemory) -> None:
    await procedures.store(work())
    run = await procedures.execute("work")
    learned = await procedures.learn("work", False, {"cost": 3.0}, run=run.id)
    assert learned.run
    assert learned.run.counted is False
    one = (await procedures.statistics("work")).version(1)
    assert (one.successes, one.failures, one.metrics) == (0, 1, {"cost": 3.0})
    await procedures.learn("work", True, {"cost": 5.0}, run=run.id)
    one = (await procedures.statistics("work")).version(1)
    assert (one.successes, one.failures, one.metrics) == (1, 0, {"cost": 5.0})
    await procedures.learn("work", None, run=run.id)
    one = (await procedures.statistics("work")).version(1)
    assert (one.successes, one.failures, one.metrics) == (0, 0, {})
    await procedures.learn("work", True, {"cost": 1})
    assert (await procedures.statistics("work")).version(1).successes == 1


async def test_what_cannot_be_learnt_from_is_refused(procedures: ProceduralMemory) -> None:
    await procedures.store(work())
    await procedures.store(work(name="other"))
    waits = {"name": "do", "use": "echo", "args": {"value": 1}, "needs_approval": True}
    await procedures.store({"name": "slow", "purpose": "Slow.", "steps": [waits]})
    run = await procedures.execute("other")
    with pytest.raises(InvalidInput, match="is a run of other"):
        await procedures.learn("work", True, run=run.id)
    waiting = await procedures.execute("slow")
    with pytest.raises(InvalidInput, match="has not ended"):
        await procedures.learn("slow", True, run=waiting.id)
    with pytest.raises(NotFound):
        await procedures.learn("nothing", True)
    for bad in ({"x": "1"}, {"x": True}, {"x": float("nan")}, {f"m{n}": 1.0 for n in range(51)}):
        with pytest.raises(InvalidInput):
            await procedures.learn("work", True, bad)  # type: ignore[arg-type]


async def test_learning_finds_the_better_choice_and_says_why(procedures: ProceduralMemory, desk: Any) -> None:
    @desk.tools.tool
    async def engine(name: str) -> str:
        if name != "good":
            raise RuntimeError("no good")
        return name

    await procedures.store(
        {
            "name": "ask",
            "purpose": "Ask.",
            "parameters": {"type": "object", "properties": {"engine": {"type": "string"}}},
            "choices": {"engine": ["bad", "good", "ugly"]},
            "steps": [{"name": "do", "use": "engine", "args": {"name": "{{ params.engine }}"}}],
        }
    )
    runs = [await procedures.execute("ask") for _ in range(40)]
    late = [run.params["engine"] for run in runs[20:]]
    assert late.count("good") >= 17
    assert "drew the highest success rate" in runs[-1].chosen["engine"].why
    counts = (await procedures.statistics("ask")).choices["engine"]
    assert counts['"good"'].failures == 0
    assert sum(c.runs for c in counts.values()) == 40
    given = await procedures.execute("ask", {"engine": "bad"})
    assert (given.chosen, given.params["engine"]) == ({}, "bad"), "what the caller gives is never changed"


async def drive(procedures: ProceduralMemory, desk: Any, broken: str, most: int = 60) -> int:
    """Run until the trial is over, with one version that always fails; says how many runs that took."""
    desk.fail[broken] = 10_000
    for n in range(1, most + 1):
        await procedures.execute("work")
        if (await procedures.statistics("work")).trial is None:
            return n
    raise AssertionError("the trial did not end")


async def test_a_better_version_is_promoted_by_itself(procedures: ProceduralMemory, desk: Any) -> None:
    await procedures.store(work("old"))
    trial = await procedures.propose("work", {"steps": {"do": {"args": {"value": "new"}}}}, why="try", rule=QUICK)
    assert (trial.action, trial.base, trial.candidate) == ("trial", 1, 2)
    assert (await procedures.retrieve("work")).number == 1
    with pytest.raises(Conflict, match="on trial already"):
        await procedures.propose("work", {"purpose": "Other."})
    await drive(procedures, desk, "old")
    now = await procedures.retrieve("work")
    assert (now.number, now.procedure.steps[0].args["value"], now.why) == (2, "new", "try")
    promoted, begun = await procedures.decisions("work")
    assert (promoted.action, begun.action) == ("promoted", "trial")
    assert promoted.probability
    assert promoted.probability >= 0.95
    assert "with the new version" in promoted.why


async def test_a_worse_version_is_dropped_by_itself(procedures: ProceduralMemory, desk: Any) -> None:
    await procedures.store(work("old"))
    await procedures.propose("work", {"steps": {"do": {"args": {"value": "new"}}}}, rule=QUICK)
    await drive(procedures, desk, "new")
    assert (await procedures.retrieve("work")).number == 1
    rejected = (await procedures.decisions("work"))[0]
    assert rejected.action == "rejected"
    assert (await procedures.execute("work")).number == 1
    assert (await procedures.retrieve("work", 2)).procedure.steps[0].args["value"] == "new"


async def test_a_decision_is_found_by_search_and_can_be_undone(
    procedures: ProceduralMemory, scoped: ScopedStore, desk: Any
) -> None:
    await procedures.store(work("old"))
    await procedures.propose("work", {"steps": {"do": {"args": {"value": "new"}}}}, rule=QUICK)
    promoted = await procedures.promote("work", why="I know it is better")
    assert (await procedures.retrieve("work")).number == 2
    hits = await scoped.search("promoted version of work", kinds=("decision",))
    assert promoted.id in [hit.memory.id for hit in hits]
    undone = await procedures.undo(promoted.id)
    assert undone.undone
    assert (await procedures.retrieve("work")).number == 1
    with pytest.raises(Conflict, match="undone before"):
        await procedures.undo(promoted.id)
    assert (await procedures.statistics("work")).trial is None


async def test_undoing_a_rejection_tries_the_version_again_from_nothing(
    procedures: ProceduralMemory, desk: Any
) -> None:
    await procedures.store(work("old"))
    begun = await procedures.propose("work", {"steps": {"do": {"args": {"value": "new"}}}}, rule=QUICK)
    await drive(procedures, desk, "new")
    desk.fail.clear()
    await procedures.undo((await procedures.decisions("work"))[0].id)
    trial = (await procedures.statistics("work")).trial
    assert trial
    assert (trial.candidate, trial.base_counts.runs, trial.candidate_counts.runs) == (2, 0, 0)
    await drive(procedures, desk, "old")
    assert (await procedures.retrieve("work")).number == 2
    with pytest.raises(Conflict, match="others were made since"):
        await procedures.undo(begun.id)


async def test_undoing_the_start_of_a_trial_ends_it(procedures: ProceduralMemory) -> None:
    await procedures.store(work("old"))
    begun = await procedures.propose("work", {"purpose": "Work harder."})
    await procedures.undo(begun.id)
    assert (await procedures.statistics("work")).trial is None
    with pytest.raises(Conflict, match="No version of work is on trial"):
        await procedures.withdraw("work")


@pytest.mark.parametrize("how", ["store", "rollback", "withdraw"])
async def test_replacing_the_version_in_use_ends_a_trial(procedures: ProceduralMemory, how: str) -> None:
    await procedures.store(work("one"))
    await procedures.store(work("two"))
    await procedures.propose("work", {"purpose": "Work harder."})
    if how == "store":
        await procedures.store(work("three"))
    elif how == "rollback":
        await procedures.rollback("work", 1)
    else:
        await procedures.withdraw("work", why="enough")
    assert (await procedures.statistics("work")).trial is None
    assert (await procedures.decisions("work"))[0].action == "withdrawn"


async def test_a_named_version_is_the_one_that_runs(procedures: ProceduralMemory) -> None:
    await procedures.store(work("old"))
    await procedures.propose("work", {"steps": {"do": {"args": {"value": "new"}}}}, rule=TrialRule(share=0.99))
    assert [(await procedures.execute("work", version=1)).result for _ in range(5)] == ["old"] * 5
    tried = [(await procedures.execute("work")) for _ in range(8)]
    assert any(run.candidate and run.result == "new" for run in tried)


async def test_runs_that_end_at_once_are_all_counted_in_the_trial(procedures: ProceduralMemory) -> None:
    await procedures.store(work("old"))
    await procedures.propose("work", {"steps": {"do": {"args": {"value": "new"}}}}, rule=TrialRule(share=0.5))
    await asyncio.gather(*(procedures.execute("work") for _ in range(16)))
    trial = (await procedures.statistics("work")).trial
    assert trial
    assert trial.base_counts.runs + trial.candidate_counts.runs == 16


async def test_a_run_from_before_the_trial_says_nothing_in_it(procedures: ProceduralMemory, clock: FakeClock) -> None:
    await procedures.store(work("old"))
    early = await procedures.execute("work")
    clock.advance(timedelta(minutes=1))
    await procedures.propose("work", {"purpose": "Work harder."})
    await procedures.learn("work", False, run=early.id)
    trial = (await procedures.statistics("work")).trial
    assert trial
    assert trial.base_counts.runs == 0


async def test_good_and_bad_runs_suggest_more_attempts(procedures: ProceduralMemory, desk: Any) -> None:
    await procedures.store(work("ok"))
    assert await procedures.improve("work") is None
    for n in range(12):
        desk.fail["echo"] = n % 2
        await procedures.execute("work")
    decision = await procedures.improve("work")
    assert decision
    assert "6 of 6 failed runs failed at do with RuntimeError" in decision.why
    assert (await procedures.retrieve("work", decision.candidate)).procedure.steps[0].retry.attempts == 3


async def test_good_and_bad_runs_suggest_more_time(procedures: ProceduralMemory, desk: Any) -> None:
    await procedures.store(work("ok", steps=[{"name": "do", "use": "hold", "timeout": 0.02}]))
    for _ in range(5):
        await procedures.execute("work")
    desk.gate.set()
    for _ in range(5):
        assert (await procedures.execute("work")).status == "succeeded"
    decision = await procedures.improve("work")
    assert decision
    assert (await procedures.retrieve("work", decision.candidate)).procedure.steps[0].timeout == 0.04


async def test_good_and_bad_runs_suggest_another_default(procedures: ProceduralMemory, desk: Any) -> None:
    schema = {"type": "object", "properties": {"mode": {"type": "string", "default": "slow"}}}
    await procedures.store(work("{{ params.mode }}", parameters=schema))
    desk.fail["slow"] = 6
    for _ in range(6):
        await procedures.execute("work")
    for _ in range(6):
        await procedures.execute("work", {"mode": "fast"})
    decision = await procedures.improve("work")
    assert decision
    assert 'mode="fast" succeeded in 6 of 6 runs' in decision.why
    new = (await procedures.retrieve("work", decision.candidate)).procedure
    assert new.parameters["properties"]["mode"]["default"] == "fast"


async def test_a_proposer_sees_the_runs_and_cannot_take_liberties(procedures: ProceduralMemory, desk: Any) -> None:
    first = {"name": "do", "use": "echo", "args": {"value": 1}, "needs_approval": True}
    await procedures.store(work(steps=[first, {"name": "end", "use": "add", "args": {"a": 1}}]))
    seen: list[tuple[int, int]] = []

    def proposer(patch: dict[str, Any] | None) -> Any:
        async def propose(procedure: Any, good: Any, bad: Any) -> PatchProposal | None:
            seen.append((len(good), len(bad)))
            return None if patch is None else PatchProposal(patch=patch, why="a model said so")

        return propose

    run = await procedures.execute("work")
    await procedures.approve(run.id)
    assert await procedures.improve("work", proposer(None)) is None
    assert seen == [(1, 0)]
    for bad in (
        {"steps": {"do": {"needs_approval": False}}},
        {"steps": {"end": {"use": "undo", "args": {"value": 1}}}},
        {"steps": {"end": {"use": "echo", "args": {"value": 1}}}},
        {"steps": [{"name": "x", "procedure": "evil"}]},
        {"steps": {"end": {"compensate": {"use": "undo"}}}},
    ):
        with pytest.raises(Forbidden):
            await procedures.improve("work", proposer(bad))
    for bad in ({"steps": {"nope": {}}}, {"colour": 1}, {"name": "x"}, {"purpose": "Work."}, {"steps": {"do": 3}}):
        with pytest.raises(InvalidInput):
            await procedures.improve("work", proposer(bad))
    made = await procedures.improve("work", proposer({"steps": {"end": {"timeout": 9}}}))
    assert made
    assert made.why == "a model said so"


async def test_a_patch_can_remove_and_replace_steps(procedures: ProceduralMemory) -> None:
    await procedures.store(work(steps=[{"name": n, "use": "add", "args": {"a": 1}} for n in ("x", "y")]))
    made = await procedures.propose("work", {"steps": {"x": None}})
    assert [s.name for s in (await procedures.retrieve("work", made.candidate)).procedure.steps] == ["y"]
