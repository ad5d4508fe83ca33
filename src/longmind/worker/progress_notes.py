"""What a worker notes of a job while it runs: how far it has come, and which attempts failed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING

from longmind.errors import StoreError
from longmind.worker.service import failure_of

if TYPE_CHECKING:
    from longmind.worker.jobs import Jobs

NOTE_EVERY = 1.0
"""Seconds between two notes of a job. One that ends sooner writes none."""
_log = logging.getLogger(__name__)


class ProgressNotes:
    """Notes how far a job has come, at most once a second. The job neither waits for it nor fails because of it."""

    def __init__(self, jobs: Jobs, job: str) -> None:
        self._jobs = jobs
        self._job = job
        self._latest: tuple[str, float] | None = None
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> ProgressNotes:
        self._task = asyncio.create_task(self._write(), name="longmind job progress")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def tell(self, stage: str, share: float) -> None:
        """Take note of a stage that is finished."""
        self._latest = (stage, share)
        self._changed.set()

    async def _write(self) -> None:
        while True:
            await asyncio.sleep(NOTE_EVERY)
            await self._changed.wait()
            self._changed.clear()
            assert self._latest is not None
            stage, share = self._latest
            await note(self._jobs, self._job, {"progress": {"stage": stage, "share": min(1.0, max(0.0, share))}})


async def note_failure(jobs: Jobs, job: str, error: BaseException, attempt: int, wait: timedelta | None) -> None:
    """Note that an attempt failed, and when the job is tried again."""
    notes = {
        "failed_attempts": attempt + 1,
        "failure": failure_of(error).model_dump(),
        "next_attempt_at": None if wait is None else (datetime.now(UTC) + wait).isoformat(),
    }
    await note(jobs, job, notes)


async def note(jobs: Jobs, job: str, values: Mapping[str, object]) -> None:
    """Note something of a job. If that fails the log says so: the job itself does not need it."""
    try:
        await jobs.note(job, values)
    except StoreError as error:
        _log.warning("What happens to the job %s could not be noted: %s", job, error.message)
