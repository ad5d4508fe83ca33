"""An agent that remembers, reflects and improves: one loop, and a policy that decides."""

from longmind.agent.agent import Agent, ReflectiveAgent
from longmind.agent.loop import TaskRun
from longmind.agent.model_critic import ModelCritic
from longmind.agent.model_policy import ModelPolicy
from longmind.agent.models import (
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
from longmind.agent.policies import MemoryPolicy
from longmind.agent.pursuit.models import Pursuit, PursuitEvent, PursuitLimits, StepOutcome
from longmind.agent.recalling import FromMemory, Nothing, Recall
from longmind.agent.reflect import Critic, Draft, RuleCritic
from longmind.agent.replay import Divergence, Step, divergence, outcome_of, replay
from longmind.agent.streaming import Stream

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
