"""Across the memory systems: one manager that stores to, retrieves from and searches them all."""

from longmind.manager.fact_learning import Extract
from longmind.manager.memory_manager import MemoryManager
from longmind.manager.models import (
    Experience,
    ExperienceEvent,
    ExperienceResult,
    ExtractedClaim,
    OutcomeResult,
    RefusedFact,
    RetrieveResult,
    SearchResult,
    StatedFact,
    StoreResult,
    SystemFailure,
    SystemHit,
)
from longmind.manager.registry import MemorySystem, RecordSystem

__all__ = [
    "Experience",
    "ExperienceEvent",
    "ExperienceResult",
    "Extract",
    "ExtractedClaim",
    "MemoryManager",
    "MemorySystem",
    "OutcomeResult",
    "RecordSystem",
    "RefusedFact",
    "RetrieveResult",
    "SearchResult",
    "StatedFact",
    "StoreResult",
    "SystemFailure",
    "SystemHit",
]
