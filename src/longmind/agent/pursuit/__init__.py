"""Pursue a goal: plan, execute steps, monitor and revise, until it is reached, given up, or a person is needed."""

from longmind.agent.pursuit.models import Pursuit, PursuitEvent, PursuitLimits, StepOutcome
from longmind.agent.pursuit.runner import pursue

__all__ = ["Pursuit", "PursuitEvent", "PursuitLimits", "StepOutcome", "pursue"]
