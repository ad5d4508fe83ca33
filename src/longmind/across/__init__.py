"""Across the memory systems: one manager that stores to, retrieves from and searches them all."""

from longmind.across.facts import Extract
from longmind.across.models import (
    Acted,
    Answer,
    Claimed,
    Experience,
    Experienced,
    Failed,
    Judged,
    Knowledge,
    Occurrence,
    Perceived,
    Refusal,
    Retrieved,
    Stated,
    Stored,
    SystemHit,
    Thought,
)
from longmind.across.registry import Kept, MemorySystem
from longmind.across.systems import Systems

__all__ = [
    "Acted",
    "Answer",
    "Claimed",
    "Experience",
    "Experienced",
    "Extract",
    "Failed",
    "Judged",
    "Kept",
    "Knowledge",
    "MemorySystem",
    "Occurrence",
    "Perceived",
    "Refusal",
    "Retrieved",
    "Stated",
    "Stored",
    "SystemHit",
    "Systems",
    "Thought",
]
