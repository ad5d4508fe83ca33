"""An agent that remembers, reflects and improves: one loop, and a policy that decides."""

from recollect.agent.agent import Agent, ReflectiveAgent
from recollect.agent.loop import TaskRun
from recollect.agent.model_critic import ModelCritic
from recollect.agent.model_policy import ModelPolicy
from recollect.agent.models import (
    Action,
    Call,
    Critique,
    Ending,
    Limits,
    Observation,
    Outcome,
    Policy,
    PolicyFunction,
    Say,
    Turn,
)
from recollect.agent.policies import MemoryPolicy
from recollect.agent.pursuit.models import Pursuit, PursuitEvent, PursuitLimits, StepOutcome
from recollect.agent.recalling import FromMemory, Nothing, Recall
from recollect.agent.reflect import Critic, Draft, RuleCritic
from recollect.agent.replay import Divergence, Step, divergence, outcome_of, replay
from recollect.agent.streaming import Stream

__all__ = [
    "Action",
    "Agent",
    "Call",
    "Critic",
    "Critique",
    "Divergence",
    "Draft",
    "Ending",
    "FromMemory",
    "Limits",
    "MemoryPolicy",
    "ModelCritic",
    "ModelPolicy",
    "Nothing",
    "Observation",
    "Outcome",
    "Policy",
    "PolicyFunction",
    "Pursuit",
    "PursuitEvent",
    "PursuitLimits",
    "Recall",
    "ReflectiveAgent",
    "RuleCritic",
    "Say",
    "Step",
    "StepOutcome",
    "Stream",
    "TaskRun",
    "Turn",
    "divergence",
    "outcome_of",
    "replay",
]
