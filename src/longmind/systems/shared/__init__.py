"""Shared memory: impersonal knowledge that enough agents of a tenant have, for all agents of the tenant."""

from longmind.systems.shared.about import about_of
from longmind.systems.shared.administration import SharedAdministration
from longmind.systems.shared.claims import claim_key
from longmind.systems.shared.memory import SharedMemory
from longmind.systems.shared.models import (
    AGENT,
    About,
    ClaimParts,
    KnowledgeCandidate,
    SharedHit,
    SharedKnowledge,
    SharedSettings,
    ShareProposal,
    Status,
)

__all__ = [
    "AGENT",
    "About",
    "ClaimParts",
    "KnowledgeCandidate",
    "ShareProposal",
    "SharedAdministration",
    "SharedHit",
    "SharedKnowledge",
    "SharedMemory",
    "SharedSettings",
    "Status",
    "about_of",
    "claim_key",
]
