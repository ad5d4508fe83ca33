"""Goals and plans: what is wanted, how one knows that it is reached, and the way there."""

from longmind.systems.goals.memory import GoalMemory
from longmind.systems.goals.models import (
    Criterion,
    CriterionEvidence,
    Finding,
    Goal,
    GoalHit,
    GoalProgress,
    GoalState,
    Plan,
    PlanStep,
    Revision,
)
from longmind.systems.goals.monitor import MonitorSettings
from longmind.systems.goals.records import GoalRecords
from longmind.systems.goals.revising import RevisionSettings
from longmind.systems.goals.steps import ready_steps, result_note, truncate_text, truncate_value

__all__ = [
    "Criterion",
    "CriterionEvidence",
    "Finding",
    "Goal",
    "GoalHit",
    "GoalMemory",
    "GoalProgress",
    "GoalRecords",
    "GoalState",
    "MonitorSettings",
    "Plan",
    "PlanStep",
    "Revision",
    "RevisionSettings",
    "ready_steps",
    "result_note",
    "truncate_text",
    "truncate_value",
]
