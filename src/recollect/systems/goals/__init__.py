"""Goals and plans: what is wanted, how one knows that it is reached, and the way there."""

from recollect.systems.goals.book import PlanBook
from recollect.systems.goals.memory import GoalMemory
from recollect.systems.goals.models import (
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
