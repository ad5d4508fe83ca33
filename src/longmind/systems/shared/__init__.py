"""Shared memory: what enough agents and users of a tenant know, without anything personal, for every agent of it."""

from longmind.systems.shared.memory import SharedMemory
from longmind.systems.shared.models import AGENT, Candidate, Proposal, Shared, SharedHit, SharedSettings, Status

__all__ = ["AGENT", "Candidate", "Proposal", "Shared", "SharedHit", "SharedMemory", "SharedSettings", "Status"]
