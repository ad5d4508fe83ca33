"""Goals and plans: what is wanted, how one knows that it is reached, and the way there."""

from longmind.systems.goals.memory import GoalMemory
from longmind.systems.goals.models import (
    Criterion,
    Evidence,
    Finding,
    Goal,
    GoalHit,
    GoalState,
    Plan,
    PlanStep,
    Progress,
    Revision,
)
from longmind.systems.goals.records import GoalRecords

__all__ = [
    "Criterion",
    "Evidence",
    "Finding",
    "Goal",
    "GoalHit",
    "GoalMemory",
    "GoalRecords",
    "GoalState",
    "Plan",
    "PlanStep",
    "Progress",
    "Revision",
]
