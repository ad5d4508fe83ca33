"""Blocking episodic memory."""

from longmind.sync.blocking import Blocking, blocking, direct, entering, iterating
from longmind.systems import episodic as asynchronous


class RunningEpisode(Blocking[asynchronous.RunningEpisode]):
    """Blocking; see ``longmind.systems.episodic.RunningEpisode``."""

    @property
    def id(self) -> str:
        """The id of the episode."""
        return self._target.id

    @property
    def started(self) -> asynchronous.Episode:
        """The episode as it was when it began."""
        return self._target.started

    @property
    def outcome(self) -> asynchronous.Outcome:
        """The outcome, if it was set."""
        return self._target.outcome

    @property
    def note(self) -> str:
        """The reason for the outcome."""
        return self._target.note

    record = blocking(asynchronous.RunningEpisode.record)
    conclude = direct(asynchronous.RunningEpisode.conclude)
    end = blocking(asynchronous.RunningEpisode.end)
    fail = blocking(asynchronous.RunningEpisode.fail)


class EpisodicMemory(Blocking[asynchronous.EpisodicMemory]):
    """Blocking; see ``longmind.systems.episodic.EpisodicMemory``."""

    start = blocking(asynchronous.EpisodicMemory.start)
    record = blocking(asynchronous.EpisodicMemory.record)
    record_all = blocking(asynchronous.EpisodicMemory.record_all)
    finish = blocking(asynchronous.EpisodicMemory.finish)
    judge = blocking(asynchronous.EpisodicMemory.judge)
    episode = entering(asynchronous.EpisodicMemory.episode, RunningEpisode)
    get = blocking(asynchronous.EpisodicMemory.get)
    find = blocking(asynchronous.EpisodicMemory.find)
    event = blocking(asynchronous.EpisodicMemory.event)
    find_events = blocking(asynchronous.EpisodicMemory.find_events)
    find_unique_events = blocking(asynchronous.EpisodicMemory.find_unique_events)
    find_event = blocking(asynchronous.EpisodicMemory.find_event)
    list = blocking(asynchronous.EpisodicMemory.list)
    recent = blocking(asynchronous.EpisodicMemory.recent)
    events = blocking(asynchronous.EpisodicMemory.events)
    search = blocking(asynchronous.EpisodicMemory.search)
    timeline = blocking(asynchronous.EpisodicMemory.timeline)
    meanwhile = blocking(asynchronous.EpisodicMemory.meanwhile)
    narrate = blocking(asynchronous.EpisodicMemory.narrate)
    replay = iterating(asynchronous.EpisodicMemory.replay)
    lessons = blocking(asynchronous.EpisodicMemory.lessons)
    clusters = blocking(asynchronous.EpisodicMemory.clusters)
