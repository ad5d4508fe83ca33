"""What each strategy makes of a plan, and when it is not possible."""

from __future__ import annotations

from typing import Any

import pytest

from longmind.systems.goals import strategies
from longmind.systems.goals.decomposition import (
    SmallerSteps,
    StepPart,
    split_by_criteria,
    split_by_model,
    split_by_procedure,
    split_by_words,
)
from longmind.systems.goals.fingerprints import error_fingerprint, error_outlook, plan_fingerprint
from longmind.systems.goals.models import MAX_STEPS, Criterion, Finding, FindingKind, Goal, Plan, PlanBody, PlanStep
from longmind.systems.goals.strategies import Alternative
from longmind.systems.goals.strategy_selection import find_alternatives
from longmind.systems.procedural import ProceduralMemory, Procedure, ToolRegistry
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import START, ScriptedModel

ID = "0197f9a0-0000-7000-8000-00000000000{}"
CRITERIA = tuple(Criterion(id=f"c{n}", description=f"Criterion {n}.", weight=n) for n in (1, 2, 3))
GOAL = Goal(id=ID.format(1), version=1, created_at=START, description="Publish", criteria=CRITERIA)


def plan(*steps: PlanStep, **fields: Any) -> Plan:
    return Plan(id=ID.format(2), version=1, made_at=START, goal=GOAL.id, steps=steps, **fields)


def step(id: str, status: str = "pending", **fields: Any) -> PlanStep:
    if status == "failed":
        fields.setdefault("error", "It broke.")
        fields.setdefault("errors", (fields["error"],))
    return PlanStep.model_validate({"id": id, "description": f"Do {id}.", "status": status, **fields})


def finding(step: str | None = None, kind: FindingKind = "failed_step") -> Finding:
    return Finding(kind=kind, goal=GOAL.id, plan=ID.format(2), step=step, detail="It went wrong.", at=START)


def shape(steps: tuple[PlanStep, ...]) -> dict[str, tuple[str, ...]]:
    """The steps in their order, and what each comes after; and the plan can be stored."""
    PlanBody(goal=GOAL.id, steps=steps)
    return {one.id: one.after for one in steps}


# -- retry ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("Timeout: It did not finish within 60 seconds.", "passing"),
        ("HTTP 503 Service Unavailable", "passing"),
        ("ConnectionRefusedError: connection refused", "passing"),
        ("database is locked", "passing"),
        ("InvalidInput: The function send does not take this: to: Field required.", "lasting"),
        ("No function is registered as sned.", "lasting"),
        ("PermissionError: access denied", "lasting"),
        ("The answer was 17.", "unknown"),
    ],
)
def test_what_an_error_says_about_trying_again(error: str, said: str) -> None:
    assert error_outlook(error) == said
    possible = strategies.retry(plan(step("a", "failed", error=error, errors=(error, error))), finding("a"))
    assert (possible is not None) == (said == "passing")


def test_errors_are_compared_without_what_differs_each_time() -> None:
    assert error_fingerprint("Job 17 failed at 12:03:05") == error_fingerprint("job 18  failed at 12:04:59")
    assert error_fingerprint("Job failed") != error_fingerprint("Job is late")


def test_a_retry_begins_anew_and_keeps_what_went_wrong() -> None:
    failed = step("b", "failed", attempts=3, after=("a",), started_at=START, finished_at=START)
    made = strategies.retry(plan(step("a", "done"), failed), finding("b"))
    assert made is not None
    again = made.steps[1]
    assert (again.status, again.attempts, again.error, again.started_at) == ("pending", 0, "", None)
    assert again.errors == ("It broke.",)
    assert again.after == ("a",)
    assert made.watched == ("b",)
    assert made.steps[0].status == "done"


def test_an_error_that_says_nothing_gets_one_more_chance_and_any_does_after_a_person_helped() -> None:
    twice = plan(step("a", "failed", errors=("It broke 1.", "It broke 2.")))
    assert strategies.retry(twice, finding("a")) is None
    assert strategies.retry(twice, finding("a"), answered=True) is not None
    assert strategies.retry(plan(step("a", "failed", errors=("This.", "That."))), finding("a")) is not None


def test_a_step_whose_runner_is_lost_is_reset_and_the_loss_counted() -> None:
    made = strategies.retry(plan(step("a", "running", started_at=START, lease_until=START)), finding("a", "stall"))
    assert made is not None
    assert (made.steps[0].status, made.steps[0].lease_until, len(made.steps[0].errors)) == ("pending", None, 1)


def test_there_is_nothing_to_retry_without_a_step_or_when_it_is_done() -> None:
    assert strategies.retry(plan(step("a", "failed")), finding(None)) is None
    assert strategies.retry(plan(step("a", "done")), finding("a")) is None
    assert strategies.retry(plan(step("a")), finding("a", "loop")) is None


# -- substitute -----------------------------------------------------------------------------------------------------


def test_the_best_other_way_takes_the_place_of_the_one_that_failed() -> None:
    found = [Alternative("send_mail", procedure=True), Alternative("post", {"text": "x"})]
    failed = step("a", "failed", tool="send", args={"text": "x"}, attempts=2)
    made = strategies.substitute(plan(failed), finding("a"), found)
    assert made is not None
    assert made.replaced == "tool:send"
    changed = made.steps[0]
    assert (changed.tool, changed.procedure, changed.args) == (None, "send_mail", {})
    assert (changed.status, changed.attempts, changed.errors) == ("pending", 0, ())


def test_what_failed_for_the_step_before_is_never_taken_again() -> None:
    found = [Alternative("send_mail", procedure=True), Alternative("post"), Alternative("send")]
    failed = plan(step("a", "failed", tool="send"))
    made = strategies.substitute(failed, finding("a"), found, {"procedure:send_mail"})
    assert made is not None
    assert made.steps[0].tool == "post"
    assert strategies.substitute(failed, finding("a"), found, {"procedure:send_mail", "tool:post"}) is None


def tools() -> ToolRegistry:
    registry = ToolRegistry()

    @registry.tool
    async def send_mail(to: str, text: str) -> str:
        """Send a message by mail."""
        return to + text

    @registry.tool
    async def send_fax(number: int, text: str) -> str:
        """Send a message by fax."""
        return f"{number}{text}"

    @registry.tool
    async def cook(to: str, text: str) -> str:
        """Prepare dinner."""
        return to + text

    return registry


async def test_other_ways_fit_what_the_step_says_and_take_what_it_gives(scoped: ScopedStore) -> None:
    procedural = ProceduralMemory(scoped, tools())
    purpose = "Send a message to somebody, politely."
    parameters = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
    call = {"name": "mail", "use": "send_mail", "args": {"to": "{{ params.to }}", "text": "Dear"}}
    await procedural.store({"name": "polite", "purpose": purpose, "parameters": parameters, "steps": [call]})
    broken = {"name": "broken", "purpose": purpose, "steps": [{"name": "x", "use": "not_registered"}]}
    await procedural.store(broken)
    args = {"to": "ann", "text": "hi", "channel": "chat"}
    asked = PlanStep(id="a", description="Send a message to Ann", tool="send_chat", args=args)
    found = await find_alternatives(scoped, GOAL, asked, procedural)
    assert [one.label for one in found] == ["procedure:polite", "tool:send_mail"]
    assert [one.args for one in found] == [{"to": "ann"}, {"to": "ann", "text": "hi"}]
    mail = asked.model_copy(update={"tool": "send_mail"})
    assert [one.label for one in await find_alternatives(scoped, GOAL, mail, procedural)] == ["procedure:polite"]


# -- decompose ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "Book the flight and the hotel, then tell Alice",
            [("Book the flight", ()), ("Book the hotel", ()), ("tell Alice", (0, 1))],
        ),
        ("Collect the data; clean it; write the report.", [("Collect the data", ()), ("clean it", (0,)), (None, (1,))]),
        ("Download the file and check its sum", [("Download the file", ()), ("check its sum", ())]),
        ("1) Open the door\n2) Walk in", [("Open the door", ()), ("Walk in", (0,))]),
        ("Find flights between Porto and New York", []),
        ("Compare prices and delivery times", []),
        ("Wait.", []),
    ],
)
def test_a_description_is_taken_apart_by_its_clauses(
    text: str, parts: list[tuple[str | None, tuple[int, ...]]]
) -> None:
    found = split_by_words(PlanStep(id="a", description=text))
    assert [one.after for one in found] == [after for _, after in parts]
    assert all(said is None or one.description == said for one, (said, _) in zip(found, parts, strict=True))


def test_a_step_for_several_criteria_is_taken_apart_by_them() -> None:
    found = split_by_criteria(step("a", criteria=("c1", "c3")), GOAL)
    assert [(one.description, one.criteria) for one in found] == [("Criterion 1.", ("c1",)), ("Criterion 3.", ("c3",))]
    assert split_by_criteria(step("a", criteria=("c1",)), GOAL) == []


def procedure(**first: Any) -> Procedure:
    parameters = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
    steps = [
        {"name": "find", "use": "find", "args": {"who": "{{ params.to }}"}, **first},
        {"name": "send", "use": "send", "args": {"text": "hi"}},
    ]
    return Procedure.model_validate({"name": "p", "purpose": "Send it.", "parameters": parameters, "steps": steps})


def test_a_procedure_is_taken_apart_into_its_own_calls_if_they_stand_alone() -> None:
    found = split_by_procedure(procedure(), {"to": "ann"})
    assert [(one.tool, one.args, one.after) for one in found] == [
        ("find", {"who": "ann"}, ()),
        ("send", {"text": "hi"}, (0,)),
    ]
    assert split_by_procedure(procedure(), {}) == [], "a parameter is missing"
    assert split_by_procedure(procedure(needs_approval=True), {"to": "ann"}) == [], "an approval stays an approval"
    assert split_by_procedure(procedure(for_each=[1, 2]), {"to": "ann"}) == []


async def test_a_model_may_take_a_step_apart_but_not_repeat_it() -> None:
    said = SmallerSteps.model_validate({"steps": [{"description": one} for one in ("Do a.", "First.", "Second.")]})
    model = ScriptedModel(said)
    found = await split_by_model(model.chat(), GOAL, step("a", "failed"))
    assert [(one.description, one.after) for one in found] == [("First.", ()), ("Second.", (0,))]
    assert {one.prompt for one in found} == {"decompose@1"}
    assert model.requests[0].prompts[0] == "decompose@1"
    alone = SmallerSteps.model_validate({"steps": [{"description": "Do  A"}, {"description": "Only this."}]})
    assert await split_by_model(ScriptedModel(alone).chat(), GOAL, step("a", "failed")) == []


def test_the_pieces_take_the_place_of_the_step_in_the_order() -> None:
    before = plan(
        step("a", "done"), step("b", "failed", after=("a",), criteria=("c1",), seconds=90), step("c", after=("b", "a"))
    )
    parts = [StepPart("One"), StepPart("Two"), StepPart("Three", after=(0,))]
    made = strategies.decompose(before, finding("b"), parts)
    assert made is not None
    assert made.watched == ("b_1", "b_2", "b_3")
    wanted = {"a": (), "b_1": ("a",), "b_2": ("a",), "b_3": ("b_1",), "c": ("b_2", "b_3", "a")}
    assert shape(made.steps) == wanted
    assert {one.criteria for one in made.steps[1:4]} == {("c1",)}
    assert made.steps[1].seconds == 30


def test_pieces_get_names_that_nobody_has_and_a_plan_does_not_grow_without_end() -> None:
    long = "x" * 50
    before = plan(step(long, "failed"), step(f"{long[:44]}_1"), step("y"))
    made = strategies.decompose(before, finding(long), [StepPart("One"), StepPart("Two")])
    assert made is not None
    assert len(shape(made.steps)) == 4
    full = plan(step("a", "failed"), *(step(f"s{n}") for n in range(MAX_STEPS - 1)))
    assert strategies.decompose(full, finding("a"), [StepPart("One"), StepPart("Two")]) is None
    assert strategies.decompose(before, finding(long), [StepPart("One")]) is None


# -- reorder --------------------------------------------------------------------------------------------------------


def test_what_is_stuck_comes_after_what_can_be_done() -> None:
    before = plan(
        step("a", "failed", attempts=2), step("b", after=("a",)), step("c"), step("d", after=("c",)), step("e", "done")
    )
    made = strategies.reorder(GOAL, before, finding("a"))
    assert made is not None
    assert shape(made.steps) == {"c": (), "d": ("c",), "e": (), "a": ("d",), "b": ("a",)}
    assert (made.steps[3].status, made.steps[3].attempts) == ("pending", 0)


def test_there_is_nothing_to_move_where_everything_waits_for_what_is_stuck() -> None:
    assert strategies.reorder(GOAL, plan(step("a", "failed"), step("b", after=("a",))), finding("a")) is None
    moved = plan(step("c"), step("a", "failed", after=("c",)))
    assert strategies.reorder(GOAL, moved, finding("a")) is None, "it comes last already"
    failed = plan(step("a", "failed"), step("b", "failed"))
    assert strategies.reorder(GOAL, failed, finding("a")) is None


def test_under_a_deadline_what_counts_most_for_its_time_comes_first() -> None:
    before = plan(
        step("a", criteria=("c1",), seconds=100),
        step("b", criteria=("c2",), seconds=10, after=("z",)),
        step("z", seconds=50),
        step("d", "done"),
    )
    made = strategies.reorder(GOAL, before, finding(None, "deadline_risk"))
    assert made is not None
    assert [*shape(made.steps)] == ["d", "z", "b", "a"]
    ordered = plan(*made.steps)
    assert strategies.reorder(GOAL, ordered, finding(None, "deadline_risk")) is None


# -- replan ---------------------------------------------------------------------------------------------------------


def rest(*steps: PlanStep, **fields: Any) -> PlanBody:
    return PlanBody(goal=GOAL.id, steps=steps, **fields)


def test_what_is_done_or_at_work_stays_and_the_rest_is_new() -> None:
    lease = {"started_at": START, "lease_until": START}
    before = plan(step("s1", "done", result=7), step("s2", "running", **lease), step("s3", "failed", after=("s1",)))
    new = rest(step("s1", description="New one"), step("s2", description="New two", after=("s1",)))
    made = strategies.replan(before, finding("s3"), new)
    assert made is not None
    assert made.rest == new
    assert shape(made.steps) == {"s1": (), "s2": (), "s1_2": (), "s2_2": ("s1_2",)}
    assert made.watched == ("s1_2", "s2_2")
    assert made.steps[0].result == 7


def test_planning_the_same_again_is_no_answer_unless_only_an_assumption_broke() -> None:
    before = plan(step("a", "done"), step("b", "failed"))
    same = rest(step("x", description="Do b."))
    assert strategies.replan(before, finding("b"), same) is None
    assert strategies.replan(before, finding(None, "broken_assumption"), same) is not None
    assert strategies.replan(before, finding("b"), None) is None


def test_a_step_that_was_skipped_ahead_of_its_turn_does_not_tie_the_new_plan_in_a_knot() -> None:
    before = plan(step("a", "failed"), step("b", "skipped", after=("a",)))
    made = strategies.replan(before, finding("a"), rest(step("a", description="New", after=())))
    assert made is not None
    assert shape(made.steps) == {"b": (), "a": ()}


# -- the last two ---------------------------------------------------------------------------------------------------


def test_a_question_says_what_is_wrong_what_was_tried_and_what_is_needed() -> None:
    asked = strategies.question(GOAL, plan(step("a", "failed")), finding("a"), ["retry (failed again)"])
    assert all(part in asked for part in ("It went wrong.", "Do a.", "retry (failed again)", "needed", "Publish"))
    ended = strategies.give_up_reason(finding("a"), ["retry (failed again)"], "Given up.")
    assert ended == "Given up. It went wrong. Tried: retry (failed again)."


def test_a_print_tells_plans_apart_by_what_they_say_and_not_by_how_far_they_have_come() -> None:
    one = (step("a", tool="x"), step("b", after=("a",)))
    assert plan_fingerprint(one) == plan_fingerprint(
        (step("q", "done", tool="x", description="Do A."), step("r", "failed", after=("q",), description="do b."))
    )
    others = [
        (step("a", tool="y"), one[1]),
        (step("a", tool="x", args={"n": 1}), one[1]),
        (one[0], step("b")),
        one[:1],
    ]
    assert len({plan_fingerprint(one), *map(plan_fingerprint, others)}) == 5
