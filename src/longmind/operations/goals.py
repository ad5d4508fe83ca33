"""Goals, their criteria, and their plans."""

from datetime import datetime
from typing import Any

from longmind.errors import InvalidSetting
from longmind.operations.faces import GOALS
from longmind.operations.operation import Noun
from longmind.systems.goals import MonitorSettings
from longmind.types import Model

_goals = Noun("goals", GOALS)


class GoalChanges(Model):
    """The fields of a goal that may change."""

    description: str | None = None
    criteria: list[str | dict[str, Any]] | None = None
    priority: float | None = None
    deadline: datetime | None = None
    parent: str | None = None
    tags: list[str] | None = None
    attributes: dict[str, Any] | None = None


OPERATIONS = (
    _goals.post(
        "/goals",
        "create",
        status=201,
        example={"description": "Move to Lisbon", "criteria": ["a flat is rented"], "priority": 0.8},
    ),
    _goals.get("/goals", "list"),
    _goals.post(
        "/goals/with-plan",
        "create_goal_with_plan",
        status=201,
        example={"description": "Move to Lisbon", "criteria": ["a flat is rented"], "steps": ["find a flat"]},
    ),
    _goals.post("/goals/search", "search", permission="read", example={"query": "Lisbon"}),
    _goals.post("/goals/monitor", "monitor"),
    _goals.post("/goals/report-problems", "report_problems"),
    _goals.get("/goals/monitoring", "monitoring"),
    _goals.patch("/goals/monitoring", "configure_monitoring", changes=MonitorSettings, invalid=InvalidSetting),
    _goals.get("/goals/{id}", "get"),
    _goals.patch("/goals/{id}", "update", changes=GoalChanges, example={"priority": 0.9, "why": "it is urgent"}),
    _goals.get("/goals/{id}/state", "state"),
    _goals.get("/goals/{id}/sub-goals", "sub_goals"),
    _goals.get("/goals/{id}/progress", "progress"),
    _goals.get("/goals/{id}/rendering", "render"),
    _goals.post("/goals/{id}/activate", "activate"),
    _goals.post("/goals/{id}/block", "block", example={"why": "waiting for the visa"}),
    _goals.post("/goals/{id}/unblock", "unblock"),
    _goals.post("/goals/{id}/achieve", "achieve"),
    _goals.post("/goals/{id}/fail", "fail", example={"why": "the flat is gone"}),
    _goals.post("/goals/{id}/abandon", "abandon", example={"why": "she stays"}),
    _goals.post("/goals/{id}/reopen", "reopen", example={"why": "another flat"}),
    _goals.post("/goals/{id}/criteria/{criterion}/meet", "meet", example={"evidence": "the contract is signed"}),
    _goals.post("/goals/{id}/criteria/{criterion}/reopen", "reopen_criterion", example={"why": "not signed"}),
    _goals.post("/goals/{id}/links", "link", status=204, example={"memory": "00000000-0000-7000-8000-000000000000"}),
    _goals.get("/goals/{id}/links", "linked"),
    _goals.get("/goals/{id}/plan", "plan", none_is_missing=True),
    _goals.put("/goals/{id}/plan", "plan_for", example={"steps": ["find a flat", "sign the contract"]}),
    _goals.get("/goals/{id}/plans", "plans"),
    _goals.get("/goals/{id}/next-steps", "next_steps"),
    _goals.put(
        "/goals/{id}/steps/{step}/criteria",
        "map_step",
        required={"criteria"},
        example={"criteria": ["a flat is rented"]},
    ),
    _goals.post("/goals/{id}/steps/{step}/start", "start_step", example={"lease_seconds": 300}),
    _goals.post("/goals/{id}/steps/{step}/renew", "renew_step"),
    _goals.post("/goals/{id}/steps/{step}/release", "release_step"),
    _goals.post("/goals/{id}/steps/{step}/complete", "complete_step", example={"result": "found one"}),
    _goals.post("/goals/{id}/steps/{step}/fail", "fail_step", example={"error": "too expensive"}),
    _goals.post("/goals/{id}/steps/{step}/skip", "skip_step", example={"why": "not needed"}),
    _goals.post("/goals/{id}/revisions", "revise", example={"why": "the flat is gone"}),
    _goals.get("/goals/{id}/revisions", "revisions"),
    _goals.post("/goals/{id}/revisions/evaluate", "evaluate_revisions"),
)
