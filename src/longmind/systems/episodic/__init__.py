"""Episodic memory: episodes and their events in order, their outcomes, and lessons from them."""

from longmind.systems.episodic.clusters import cluster_episodes
from longmind.systems.episodic.deeds import shared_deeds
from longmind.systems.episodic.lessons import cases_of, lessons_of
from longmind.systems.episodic.memory import EpisodicMemory
from longmind.systems.episodic.models import (
    EPISODE,
    EVENT,
    Account,
    Cluster,
    Episode,
    EpisodeBody,
    EpisodeEntry,
    EpisodeHit,
    EpisodeSummariser,
    Event,
    EventDraft,
    Lesson,
    LessonDraft,
    Lessons,
    Meanwhile,
    Outcome,
    Remark,
    Replayed,
    Teacher,
    Timeline,
    Title,
)
from longmind.systems.episodic.narrative import describe_duration, narrate
from longmind.systems.episodic.reading import iterate_events
from longmind.systems.episodic.running import RunningEpisode
from longmind.systems.episodic.writer import EpisodeWriter, JoinedWrites, begin_writes, check_end

__all__ = [
    "EPISODE",
    "EVENT",
    "Account",
    "Cluster",
    "Episode",
    "EpisodeBody",
    "EpisodeEntry",
    "EpisodeHit",
    "EpisodeSummariser",
    "EpisodeWriter",
    "EpisodicMemory",
    "Event",
    "EventDraft",
    "JoinedWrites",
    "Lesson",
    "LessonDraft",
    "Lessons",
    "Meanwhile",
    "Outcome",
    "Remark",
    "Replayed",
    "RunningEpisode",
    "Teacher",
    "Timeline",
    "Title",
    "begin_writes",
    "cases_of",
    "check_end",
    "cluster_episodes",
    "describe_duration",
    "iterate_events",
    "lessons_of",
    "narrate",
    "shared_deeds",
]
