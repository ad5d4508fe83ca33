"""Goals and plans: what is wanted, how one knows that it is reached, and the way there."""

from longmind.systems.goals.book import PlanBook
from longmind.systems.goals.memory import GoalMemory
from longmind.systems.goals.models import (
    Criterion,
    Evidence,
    Finding,
    Found,
    Goal,
    Plan,
    PlanStep,
    Progress,
    Revision,
    Standing,
)

__all__ = [
    "Criterion",
    "Evidence",
    "Finding",
    "Found",
    "Goal",
    "GoalMemory",
    "Plan",
    "PlanBook",
    "PlanStep",
    "Progress",
    "Revision",
    "Standing",
]
