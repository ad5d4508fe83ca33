"""Errors of the loop: each is kept with the work at hand, and the stored procedure ``handle_error`` is run for it."""

from datetime import datetime
from hashlib import sha256
from typing import Any

from taat.memory import TraderMemory
from taat.memory.events import note_event
from taat.trader.journal import Journal

HANDLE_ERROR = "handle_error"


class Errors:
    """The errors that the procedure has not dealt with yet. They are stored with what is stored next."""

    def __init__(self, memory: TraderMemory, journal: Journal) -> None:
        self._memory = memory
        self._journal = journal

    def add(self, what: str, at: datetime, announcer: str, signal: str | None, key: str) -> None:
        """Keep an error; the same key again is the same error."""
        params = {"what": what[:2000], "announcer": announcer, "signal": signal or "", "at": at.isoformat()}
        waiting = [error for error in self._journal.get("errors") or () if error["key"] != key]
        self._journal.set(errors=[*waiting, {"key": key, "params": params}])

    async def handle(self) -> None:
        """Run the procedure for each error. After a kill it is run again under its key, and nothing happens twice."""
        waiting = self._journal.get("errors") or ()
        if not waiting:
            return
        for error in waiting:
            await self._run(error["params"], f"taat:error:{sha256(error['key'].encode()).hexdigest()[:20]}")
        self._journal.set(errors=[])
        await self._journal.flush()

    async def ended_by(self, error: Exception, at: datetime) -> None:
        """Run the procedure for an error that ends the run."""
        what = f"The run ended: {type(error).__name__}: {error}"[:2000]
        await self._run({"what": what, "announcer": "taat", "signal": "", "at": at.isoformat()}, None)

    async def _run(self, params: dict[str, Any], key: str | None) -> None:
        procedural = self._memory.agent.procedural
        run = await procedural.execute(HANDLE_ERROR, params, key=key)
        if run.finished_at is None:
            run = await procedural.resume(run.id, take_over=True)
        if run.status != "succeeded":
            what = f"{params['what']} (handle_error itself: {run.error.message if run.error else run.status})"
            at, announcer = datetime.fromisoformat(params["at"]), params["announcer"]
            self._journal.add(announcer, note_event("error", key or what[:80], what, at, announcer))
