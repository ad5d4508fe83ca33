"""Episodic memory: what happened, in order, how it ended, and what can be learnt from it."""

from recollect.systems.episodic.memory import EpisodicMemory
from recollect.systems.episodic.models import (
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
from recollect.systems.episodic.running import RunningEpisode

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
