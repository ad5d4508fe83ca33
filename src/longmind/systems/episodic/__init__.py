"""Episodic memory: what happened, in order, how it ended, and what can be learnt from it."""

from longmind.systems.episodic.memory import EpisodicMemory
from longmind.systems.episodic.models import (
    Account,
    Cluster,
    Draft,
    Episode,
    Event,
    Found,
    Lesson,
    Lessons,
    Meanwhile,
    Outcome,
    Remark,
    Replayed,
    Summariser,
    Teacher,
    Timeline,
)
from longmind.systems.episodic.running import RunningEpisode

__all__ = [
    "Account",
    "Cluster",
    "Draft",
    "Episode",
    "EpisodicMemory",
    "Event",
    "Found",
    "Lesson",
    "Lessons",
    "Meanwhile",
    "Outcome",
    "Remark",
    "Replayed",
    "RunningEpisode",
    "Summariser",
    "Teacher",
    "Timeline",
]
