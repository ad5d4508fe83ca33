"""The page Goals: a step is done, a criterion is met, and the store says so; the page follows what others do."""

from __future__ import annotations

from typing import Any

import pytest
from tests.console.harness import Open, Server


@pytest.fixture
def goal(server: Server) -> Any:
    """A goal with a plan of which one step waits for two."""
    created, _ = server.memory(user="alice").goals.create_goal_with_plan(
        "Give a party",
        criteria=["The guests know", "There is a cake"],
        steps=[
            {"id": "invite", "description": "Invite everybody", "criteria": ["c1"]},
            {"id": "bake", "description": "Bake a cake"},
            {"id": "welcome", "description": "Welcome the guests", "after": ["invite", "bake"]},
        ],
    )
    return created


def test_a_plan_is_a_graph_whose_step_is_done(open_page: Open, server: Server, goal: Any) -> None:
    page = open_page("goals", goal=goal.id)
    assert page.locator(".lm-dag-node").count() == 3
    assert page.locator(".lm-dag-edge").count() == 2
    page.locator("li", has_text="Invite everybody").get_by_role("button", name="Done").click()
    page.get_by_label("Result").fill("all eleven said yes")
    page.get_by_role("dialog").get_by_role("button", name="Done").click()
    page.get_by_text("The step is done.").wait_for()
    state = server.memory().goals.state(goal.id)
    assert state.plan.step("invite").status == "done"
    assert [criterion.met for criterion in state.goal.criteria] == [True, False]
    page.locator(".lm-source", has_text="all eleven said yes").wait_for()


def test_a_criterion_is_met_with_evidence(open_page: Open, server: Server, goal: Any) -> None:
    page = open_page("goals", goal=goal.id)
    page.locator("li", has_text="There is a cake").get_by_role("button", name="Met").click()
    page.get_by_label("Evidence").fill("it stands in the kitchen")
    page.get_by_role("dialog").get_by_role("button", name="Met").click()
    page.get_by_text("The criterion is met.").wait_for()
    assert server.memory().goals.get(goal.id).criteria[1].evidence[0].note == "it stands in the kitchen"


def test_the_page_follows_what_others_do(open_page: Open, server: Server, goal: Any) -> None:
    page = open_page("goals", goal=goal.id)
    goals = server.memory(user="alice").goals
    goals.start_step(goal.id, "bake")
    page.locator(".lm-dag-node", has_text="running").wait_for()
    goals.fail_step(goal.id, "bake", "the oven is broken")
    page.locator(".lm-dag-node", has_text="failed").wait_for()
    page.get_by_role("heading", name="Problems").wait_for()


def test_an_agent_without_goals_says_how_to_create_one(open_page: Open) -> None:
    page = open_page("goals", agent="nobody")
    assert page.get_by_text("create_goal_with_plan").count() == 1
