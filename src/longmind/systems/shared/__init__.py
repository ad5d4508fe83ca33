"""Shared memory: impersonal knowledge that enough agents and users of a tenant have, for all agents of the tenant."""

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
