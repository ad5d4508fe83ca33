"""An episode that goes on for the length of an ``async with`` block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from longmind.systems.episodic.models import Episode, Event, Outcome

if TYPE_CHECKING:
    from longmind.systems.episodic.memory import EpisodicMemory


class RunningEpisode:
    """The object that ``async with episodic.episode(...) as episode`` provides.

    When the block ends, the episode ends as succeeded, or with the outcome that ``conclude`` set. An exception ends it
    as failed and propagates.
    """

    def __init__(self, memory: EpisodicMemory, episode: Episode) -> None:
        self._memory = memory
        self.started = episode
        self.outcome: Outcome = "succeeded"
        self.note = ""

    @property
    def id(self) -> str:
        return self.started.id

    async def record(
        self,
        what: str = "",
        *,
        type: str = "note",
        at: datetime | None = None,
        duration: timedelta = timedelta(0),
        actor: str | None = None,
        data: Mapping[str, Any] | None = None,
        importance: float = 0.5,
        valence: float = 0.0,
        tags: Sequence[str] = (),
        key: str | None = None,
    ) -> Event:
        """Record an event of this episode."""
        return await self._memory.record(
            self.id,
            what,
            type=type,
            at=at,
            duration=duration,
            actor=actor,
            data=data,
            importance=importance,
            valence=valence,
            tags=tags,
            key=key,
        )

    def conclude(self, outcome: Outcome, note: str = "") -> None:
        """Set the outcome, which is stored when the block ends."""
        self.outcome = outcome
        self.note = note

    async def end(self) -> None:
        """End the episode, if it was not ended within the block."""
        if (await self._memory.get(self.id)).open:
            await self._memory.finish(self.id, self.outcome, note=self.note)

    async def fail(self, error: BaseException) -> None:
        """End the episode as failed. If that fails too, a note is added to the exception that propagates."""
        note = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        self.conclude("failed", note[:2000].replace("\x00", ""))
        try:
            await self.end()
        except Exception as second:
            error.add_note(f"The episode {self.id} could not be marked as failed: {second}")
