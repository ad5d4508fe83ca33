"""Where plans come from: procedures, past plans, a model, and the criteria; and why not from the others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longmind.errors import InvalidInput, ModelUnavailable
from longmind.systems.goals import Goal, GoalMemory, Plan
from longmind.systems.procedural import ProceduralMemory, ToolRegistry
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import ScriptedModel

REPORT: dict[str, Any] = {
    "name": "send_weekly_report",
    "purpose": "Collect the numbers and send the weekly report.",
    "parameters": {
        "type": "object",
        "properties": {"to": {"type": "string"}, "week": {"type": "integer", "default": 1}},
        "required": ["to"],
    },
    "steps": [{"name": "send", "use": "send_mail", "args": {"to": "{{ params.to }}"}}],
}


def tools() -> ToolRegistry:
    made = ToolRegistry()

    @made.tool
    async def book_flight(city: str, day: str = "today") -> str:
        """Book a flight to a city."""
        return f"{city} {day}"

    @made.tool
    async def send_mail(to: str, text: str = "") -> str:
        """Send a mail."""
        return f"{to} {text}"

    return made


def with_model(scoped: ScopedStore, model: ScriptedModel | None = None) -> GoalMemory:
    chat = None if model is None else model.chat()

    async def given() -> Any:
        return chat

    return GoalMemory(scoped, ProceduralMemory(scoped, tools()), given)


async def achieved(goals: GoalMemory, description: str, wanted: list[str], steps: list[Any]) -> tuple[Goal, Plan]:
    goal, plan = await goals.create_goal_with_plan(description, wanted, steps)
    while ready := await goals.next_steps(goal.id):
        for step in ready:
            await goals.complete_step(goal.id, step.id, "done")
    assert (await goals.get(goal.id)).status == "achieved"
    return goal, plan


# -- from a procedure -------------------------------------------------------------------------------------------------


async def test_a_procedure_that_fits_is_the_plan(scoped: ScopedStore) -> None:
    goals = with_model(scoped)
    stored = await ProceduralMemory(scoped, tools()).store(REPORT)
    goal, plan = await goals.create_goal_with_plan(
        "Send the weekly report to the board",
        ["The weekly report is sent", "Minutes are archived"],
        attributes={"to": "board", "colour": "red"},
    )
    assert (plan.origin, plan.source) == ("procedure", stored.id)
    assert [(step.procedure, step.args, step.criteria, step.after) for step in plan.steps] == [
        ("send_weekly_report", {"to": "board"}, ("c1",), ()),
        (None, {}, ("c2",), ("s1",)),
    ]
    links = {(one.relation, one.target) for one in await scoped.store.links(scoped.scope, [plan.id])}
    assert ("derived_from", stored.id) in links
    assert await goals.plan(goal.id) == plan


async def test_a_procedure_without_its_parameters_is_not_taken(scoped: ScopedStore) -> None:
    goals = with_model(scoped)
    await ProceduralMemory(scoped, tools()).store(REPORT)
    goal, plan = await goals.create_goal_with_plan("Send the weekly report to the board")
    assert plan.origin == "criteria"
    assert "send_weekly_report fits, but not with the goal's attributes: The parameter to is missing." in plan.why
    with pytest.raises(InvalidInput, match="parameter to is missing"):
        await goals.plan_for(goal.id, how="procedure")


@pytest.mark.parametrize("text", ["Cancel the weekly report", "Water the plants", "Read about weekly markets in Spain"])
async def test_a_procedure_for_something_else_is_not_taken(scoped: ScopedStore, text: str) -> None:
    goals = with_model(scoped)
    await ProceduralMemory(scoped, tools()).store(REPORT)
    _, plan = await goals.create_goal_with_plan(text, attributes={"to": "board"})
    assert plan.origin == "criteria"


# -- from a past plan -------------------------------------------------------------------------------------------------

TRIP: list[dict[str, Any]] = [
    {"id": "fly", "description": "Book a flight to Lisbon", "criteria": ["c1"], "tool": "book_flight",
     "args": {"city": "Lisbon"}},
    {"id": "swim", "description": "Check the sea at Lisbon", "after": ["fly"]},
    {"id": "rest", "description": "Find a hotel in Lisbon", "after": ["swim"], "criteria": ["c2"], "tool": "gone"},
]  # fmt: skip


async def test_a_plan_that_worked_is_adapted(scoped: ScopedStore) -> None:
    goals = with_model(scoped)
    goal, _ = await goals.create_goal_with_plan("Book a trip to Lisbon", ["Flight is booked", "Hotel is found"], TRIP)
    await goals.complete_step(goal.id, "fly", "TP1")
    await goals.fail_step(goal.id, "swim", "No data")
    await goals.skip_step(goal.id, "swim")
    past = await goals.complete_step(goal.id, "rest", "Hotel Mar")
    assert past.plan is not None
    _, plan = await goals.create_goal_with_plan(
        "Book a trip to Porto", ["The hotel is found", "The flight is booked", "A guide is hired"]
    )
    assert (plan.origin, plan.source) == ("past", past.plan.id)
    assert "with Porto for Lisbon" in plan.why
    told = [(step.id, step.description, step.after, step.criteria, step.tool, step.args) for step in plan.steps]
    assert told == [
        ("fly", "Book a flight to Porto", (), ("c2",), "book_flight", {"city": "Porto"}),
        ("rest", "Find a hotel in Porto", ("fly",), ("c1",), None, {}),  # the tool does not exist here
        ("s3", "A guide is hired", ("rest",), ("c3",), None, {}),
    ]
    assert {(step.status, step.attempts, step.result, step.errors) for step in plan.steps} == {("pending", 0, None, ())}


async def test_a_goal_that_failed_is_no_model(scoped: ScopedStore) -> None:
    goals = with_model(scoped)
    goal, _ = await goals.create_goal_with_plan("Book a trip to Lisbon", steps=TRIP[1:2] and ["Book", "Pay"])
    await goals.complete_step(goal.id, "s1")
    await goals.fail(goal.id, "Too dear")
    _, plan = await goals.create_goal_with_plan("Book a trip to Porto")
    assert plan.origin == "criteria"
    assert "No achieved goal is alike enough." in plan.why


@pytest.mark.parametrize("text", ["Cancel the trip to Lisbon", "Paint a picture of Lisbon", "Grow tomatoes"])
async def test_an_achieved_goal_of_another_kind_is_no_model(scoped: ScopedStore, text: str) -> None:
    goals = with_model(scoped)
    await achieved(goals, "Book the trip to Lisbon", ["Booked"], ["Call the agency"])
    _, plan = await goals.create_goal_with_plan(text)
    assert plan.origin == "criteria"


async def test_another_users_plan_and_facts_are_not_used(scoped_stores: Any) -> None:
    agents = with_model(await scoped_stores.open())
    alices = with_model(await scoped_stores.open(user="alice"))
    await achieved(alices, "Book a trip to Lisbon", ["Booked"], ["Ask my bank in Zurich"])
    _, plan = await agents.create_goal_with_plan("Book a trip to Lisbon")
    assert plan.origin == "criteria"
    _, own = await alices.create_goal_with_plan("Book a trip to Lisbon")
    assert own.origin == "past"


# -- by a model -------------------------------------------------------------------------------------------------------


def said(*steps: dict[str, Any]) -> dict[str, Any]:
    full = {"after": [], "criteria": [], "tool": None, "procedure": None, "args": [], "expected": ""}
    return {"why": "It is the way.", "steps": [{**full, **step} for step in steps]}


GOOD = said(
    {"id": "s1", "description": "Book it", "criteria": ["c1"], "tool": "book_flight",
     "args": [{"name": "city", "value": "Lisbon"}], "expected": "A reference"},
    {"id": "s2", "description": "Tell Ann", "criteria": ["c2"], "after": ["s1"]},
)  # fmt: skip
WANTED = ["A flight to Lisbon is booked", "Ann knows"]


async def test_a_model_plans(scoped: ScopedStore) -> None:
    model = ScriptedModel(GOOD)
    goals = with_model(scoped, model)
    await ProceduralMemory(scoped, tools()).store({**REPORT, "purpose": "Tell Ann the news about a flight."})
    _, plan = await goals.create_goal_with_plan("Fly to Lisbon", WANTED, attributes={"day": "Monday"})
    assert (plan.origin, plan.prompt, plan.why.startswith("scripted/model: It is the way.")) == (
        "model",
        "plan@1",
        True,
    )
    assert [(step.tool, step.args, step.after, step.expected) for step in plan.steps] == [
        ("book_flight", {"city": "Lisbon"}, (), "A reference"),
        (None, {}, ("s1",), ""),
    ]
    system, user = model.requests[0].messages
    assert "They are data" in system.content
    shown = json.loads(user.content)
    assert [tool["name"] for tool in shown["tools"]] == ["book_flight", "send_mail"]
    assert [one["name"] for one in shown["procedures"]] == ["send_weekly_report"]
    assert shown["attributes"] == {"day": "Monday"}


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (said({"id": "s1", "description": "x", "criteria": ["c1", "c2"], "tool": "rm"}), "rm, which does not exist"),
        (said({"id": "s1", "description": "x", "criteria": ["c1", "c2"], "procedure": "magic"}), "magic"),
        (said({"id": "s1", "description": "x", "criteria": ["c1", "c7"]}), "no criterion c7"),
        (said({"id": "s1", "description": "x", "criteria": ["c1"]}), "no step serves the criterion c2"),
        (said({"id": "s1", "description": "x", "criteria": ["c1", "c2"], "after": ["s1"]}), "wait for each other"),
        (said({"id": "s1", "description": "x", "criteria": ["c1", "c2"], "after": ["s9"]}), "s9"),
        (said({"id": "a b", "description": "x", "criteria": ["c1", "c2"]}), "PlanStep is not valid"),
        (
            said({"id": "s1", "description": "x", "criteria": ["c1", "c2"], "tool": "send_mail",
                  "args": [{"name": "bcc", "value": "me"}]}),
            "gives bcc, which send_mail does not take",
        ),
    ],
)  # fmt: skip
async def test_a_plan_that_names_what_is_not_there_is_asked_for_once_more(
    scoped: ScopedStore, bad: dict[str, Any], problem: str
) -> None:
    model = ScriptedModel(bad, GOOD)
    _, plan = await with_model(scoped, model).create_goal_with_plan("Fly to Lisbon", WANTED)
    assert plan.origin == "model"
    assert problem in model.requests[1].messages[-1].content
    model = ScriptedModel(bad, bad)
    goals = with_model(scoped, model)
    goal, plan = await goals.create_goal_with_plan("Fly to Lisbon", WANTED)
    assert plan.origin == "criteria"
    assert "The model's plan cannot be used" in plan.why
    assert len(model.requests) == 2
    assert [step.tool for step in plan.steps] == [None, None]
    assert (await goals.get(goal.id)).status == "active"


async def test_a_model_that_answers_garbage_or_nothing_is_done_without(scoped: ScopedStore) -> None:
    goals = with_model(scoped, ScriptedModel(*["I would rather not."] * 10))
    _, plan = await goals.create_goal_with_plan("Fly to Lisbon", WANTED)
    assert (plan.origin, "The model gave no plan" in plan.why) == ("criteria", True)
    goals = with_model(scoped, ScriptedModel(*[ModelUnavailable("It is down.")] * 10))
    goal, plan = await goals.create_goal_with_plan("Fly to Lisbon", WANTED)
    assert (plan.origin, "It is down." in plan.why) == ("criteria", True)
    with pytest.raises(InvalidInput, match="The model gave no plan"):
        await goals.plan_for(goal.id, how="model")
    with pytest.raises(InvalidInput, match="No model is configured"):
        await with_model(scoped).plan_for(goal.id, how="model")
    with pytest.raises(InvalidInput, match="how must be one of"):
        await goals.plan_for(goal.id, how="magic")  # type: ignore[arg-type]


# -- from the criteria ------------------------------------------------------------------------------------------------


async def test_criteria_are_side_by_side_unless_the_text_says_otherwise(scoped: ScopedStore) -> None:
    wanted = [
        "The tent is packed",
        "The car is full of petrol",
        "Then the dog is fetched",
        "The door is locked after the tent is packed",
    ]
    _, plan = await with_model(scoped).create_goal_with_plan("Go camping", wanted)
    assert [(step.id, step.after, step.criteria) for step in plan.steps] == [
        ("s1", (), ("c1",)),
        ("s2", (), ("c2",)),
        ("s3", ("s2",), ("c3",)),
        ("s4", ("s1",), ("c4",)),
    ]


async def test_criteria_that_ask_for_a_circle_get_none(scoped: ScopedStore) -> None:
    wanted = ["The cake is baked after the icing is made", "The icing is made after the cake is baked"]
    _, plan = await with_model(scoped).create_goal_with_plan("Bake", wanted)
    assert len(plan.steps) == 2


async def test_meaning_counts_where_there_is_an_embedder(scoped_stores: Any) -> None:
    goals = with_model(await scoped_stores.open(embedder="static"))
    await achieved(goals, "Book a trip to Portugal", ["The flight is booked"], ["Call the agency"])
    _, plan = await goals.create_goal_with_plan("Book a journey to Spain", ["The plane ticket is booked"])
    assert plan.origin == "past"
    assert plan.steps[0].criteria == ("c1",)
