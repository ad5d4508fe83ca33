"""Across the memory systems: one manager that stores to, retrieves from and searches them all."""

from longmind.manager.facts import Extract
from longmind.manager.models import (
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
from longmind.manager.registry import Kept, MemorySystem
from longmind.manager.systems import Systems

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
