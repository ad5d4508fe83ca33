"""An agent that remembers, reflects and improves: one loop, and a policy that decides."""

from longmind.agent.agent import Agent, ReflectiveAgent
from longmind.agent.critics import Critic, ReflectionDraft, RuleCritic
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
from longmind.agent.recall import MemoryRecall, NoRecall, RecallSource
from longmind.agent.stored_runs import Divergence, ReplayStep, divergence, load_outcome, replay
from longmind.agent.streaming import Stream

__all__ = [
    "Action",
    "Agent",
    "Call",
    "Critic",
    "Critique",
    "Divergence",
    "Ending",
    "Limits",
    "MemoryPolicy",
    "MemoryRecall",
    "ModelCritic",
    "ModelPolicy",
    "NoRecall",
    "Observation",
    "Outcome",
    "Policy",
    "PolicyFunction",
    "Pursuit",
    "PursuitEvent",
    "PursuitLimits",
    "RecallSource",
    "ReflectionDraft",
    "ReflectiveAgent",
    "ReplayStep",
    "RuleCritic",
    "Say",
    "StepOutcome",
    "Stream",
    "TaskRun",
    "Turn",
    "divergence",
    "load_outcome",
    "replay",
]
