"""Shared memory: what enough agents and users of a tenant know, without anything personal, for every agent of it."""

from longmind.systems.shared.memory import SharedMemory
from longmind.systems.shared.models import (
    AGENT,
    KnowledgeCandidate,
    SharedHit,
    SharedKnowledge,
    SharedSettings,
    ShareProposal,
    Status,
)

__all__ = [
    "AGENT",
    "KnowledgeCandidate",
    "ShareProposal",
    "SharedHit",
    "SharedKnowledge",
    "SharedMemory",
    "SharedSettings",
    "Status",
]
