"""Episodic memory: what happened, in order, how it ended, and what can be learnt from it."""

from longmind.systems.episodic.memory import EpisodicMemory
from longmind.systems.episodic.models import (
    EPISODE,
    EVENT,
    Account,
    Cluster,
    Draft,
    Episode,
    EpisodeBody,
    Event,
    EventDraft,
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
from longmind.systems.episodic.writer import EpisodeWriter, begin_writes, check_end

__all__ = [
    "EPISODE",
    "EVENT",
    "Account",
    "Cluster",
    "Draft",
    "Episode",
    "EpisodeBody",
    "EpisodeWriter",
    "EpisodicMemory",
    "Event",
    "EventDraft",
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
    "begin_writes",
    "check_end",
]
