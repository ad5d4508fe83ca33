"""Who is at work, and taking over the jobs of those who no longer are.

DBOS gives a job that was running back to its queue when the same worker starts again. For the jobs of a worker that
never comes back, its makers sell a service; here the workers watch each other instead. Every worker counts up a number
of its own in one shared note. A worker that has running jobs and whose number stood still for a lease, measured by the
watcher's own clock, is taken for lost, and its jobs go back to the queue. No two clocks are ever compared.

A worker that was only frozen may wake up and go on with a job that another one has: consolidation is safe to run twice,
and DBOS lets only one of the two record how the job ended.

It runs in a thread of its own, so that a long computation in the event loop does not make a worker look dead.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field

from longmind.worker.engine import DBOS, DBOSException, sqlalchemy
from longmind.worker.jobs import CONSOLIDATE, SWEEP, Jobs

ROSTER = "longmind:workers"
_BEATS_PER_LEASE = 4
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Watched:
    """What one watcher saw of the others: their number, and when it was last a new one."""

    lease: float
    seen: dict[str, tuple[int | None, float]] = field(default_factory=dict)

    def lost(self, beats: dict[str, int], workers: set[str], now: float) -> set[str]:
        """Those of these workers that have been silent for a lease."""
        for worker in workers:
            beat = beats.get(worker)
            if worker not in self.seen or self.seen[worker][0] != beat:
                self.seen[worker] = (beat, now)
        for worker in [one for one in self.seen if one not in workers]:
            del self.seen[worker]
        return {worker for worker, (_, since) in self.seen.items() if now - since >= self.lease}


class Presence:
    """This worker's sign of life, and its eye on the others."""

    def __init__(self, jobs: Jobs, name: str, lease: float) -> None:
        self._jobs = jobs
        self._name = name
        self._pause = lease / _BEATS_PER_LEASE
        self._watched = Watched(lease)
        self._beat = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="longmind presence", daemon=True)
        self.taken_over = 0

    def announce(self) -> None:
        """The first sign of life; before the worker takes any job. Blocks."""
        self._jobs.state.merge(ROSTER, {self._name: self._beat})

    def start(self) -> None:
        """Go on giving signs of life, and watch. The engine must be up."""
        self._thread.start()

    def stop(self) -> None:
        """Sign off. Blocks."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        beats = self._jobs.state.read([ROSTER]).get(ROSTER, {})
        self._jobs.state.replace(ROSTER, {name: beat for name, beat in beats.items() if name != self._name})

    def _run(self) -> None:
        while not self._stop.wait(self._pause):
            try:
                self._beat += 1
                self._jobs.state.merge(ROSTER, {self._name: self._beat})
                self._look()
            except (sqlalchemy.exc.SQLAlchemyError, DBOSException, OSError) as error:
                _log.warning("The worker could not give a sign of life: %s", error)

    def _look(self) -> None:
        rows = self._jobs.client.list_workflows(
            name=[CONSOLIDATE, SWEEP], status="PENDING", load_input=False, load_output=False
        )
        workers = {row.executor_id for row in rows if row.executor_id} - {self._name}
        if not workers and not self._watched.seen:
            return
        beats = self._jobs.state.read([ROSTER]).get(ROSTER, {})
        lost = self._watched.lost(beats, workers, time.monotonic())
        if lost:
            # The counterpart of this for a worker's own jobs is public, for those of others it is not (ADR 0009).
            handles = DBOS._recover_pending_workflows(sorted(lost))
            self.taken_over += len(handles)
            _log.warning("Took over %d jobs of lost workers: %s.", len(handles), ", ".join(sorted(lost)))
            self._jobs.state.replace(ROSTER, {name: beat for name, beat in beats.items() if name not in lost})
