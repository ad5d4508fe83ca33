"""How far the language model has read the sources of a scope, and what waits for it."""

from __future__ import annotations

from dataclasses import dataclass

from longmind.consolidate.bookmarks import ModelBookmark, SourceNumbers
from longmind.consolidate.model import ModelCalls
from longmind.consolidate.rules.extraction import is_source
from longmind.consolidate.work import Work
from longmind.store.base import Write
from longmind.systems.records import KeyedRecord

_MAX_UNSUMMARISED = 200
"""Conversations that can wait for the model's summary; the others get one when they grow."""


@dataclass(slots=True)
class ModelProgress:
    """The progress of the language model in one run, with the bookmark that keeps it."""

    record: KeyedRecord[ModelBookmark]
    calls: ModelCalls | None = None
    """The model's calls in this run; None where there is no model, or it must not be asked now."""
    after: int | None = None
    """Up to where the model has read."""
    _behind: bool = False
    """Whether the model has left a source of this run unread."""
    _slice: SourceNumbers | None = None
    """The sources that go through the stages now."""

    def begin(self, calls: ModelCalls | None, waiting: ModelBookmark, through: int) -> None:
        """Begin a run. A model that has never read begins behind ``through``, where the last run ended."""
        self.calls = calls
        self.after = through if waiting.after is None and calls is not None else waiting.after

    @property
    def call_count(self) -> int:
        """How often the model was asked in this run."""
        return 0 if self.calls is None else self.calls.calls

    @property
    def stopped_because(self) -> str | None:
        """Why the model is not asked any more in this run."""
        return None if self.calls is None or self.calls.stopped is None else self.calls.stopped.why

    @property
    def waiting_after(self) -> int | None:
        """The number behind which sources wait for the model; None if nothing waits, or it cannot be asked."""
        return self.after if self.calls is not None and self.record.body.until is not None else None

    def take(self, part: SourceNumbers, through: int) -> None:
        """Begin with a slice of sources, of which the model reads those that it has not read yet.

        A turn that waits for its answer (0) it read when the turn was new, and what a broken off run let it read it has
        read. A source that was put before the last run, up to ``through``, and updated since, it has not.
        """
        self._slice = part
        if self.calls is not None:
            self.calls.wanted = {id for id, seq in part if seq > (self.after or 0) or 0 < seq <= through}

    async def read_again(self) -> None:
        """Read the bookmark after this run, or another writer, wrote it."""
        if self.calls is not None:
            await self.record.read()

    def move(self, work: Work) -> list[Write]:
        """Work out how far the model has read after extraction; return the write that stores it, if it has changed."""
        if self.calls is None:
            return []
        evidence = [m.id for m in work.sources if is_source(m, work.settings.facts_from)]
        unread = {id for id in evidence if id in self.calls.wanted and id not in self.calls.read}
        part, after = self._slice or [], self.after or 0
        behind = [seq for id, seq in part if id in unread and seq > after]
        if behind and not self._behind:
            self._behind, self.after = True, min(behind) - 1
        elif not self._behind:
            self.after = max([after, *(seq for _, seq in part)])
        return self.writes(ended=False)

    def writes(self, *, ended: bool) -> list[Write]:
        """Return the write that stores what waits for the model, if that has changed.

        Until the run has ended, what waited before it still waits: a run that is broken off must not forget it.
        """
        calls, bookmark = self.calls, self.record.body
        if calls is None:
            return []
        if calls.stopped is not None:
            stop = calls.stopped
            bookmark = bookmark.model_copy(update={"until": stop.until, "why": stop.why, "backoff": stop.backoff})
        elif ended:
            bookmark = ModelBookmark()
        unsummarised = tuple(sorted(calls.unsummarised, key=str)[:_MAX_UNSUMMARISED])
        changes = {"after": self.after, "unsummarised": unsummarised}
        write = self.record.write(bookmark.model_copy(update=changes))
        return [] if write is None else [write]
