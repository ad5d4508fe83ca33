"""Consolidation by itself, inside the process that uses the memories: nothing to install, nothing to operate.

    async with Longmind.open() as longmind, ConsolidationService(longmind):
        ...

For many processes or machines on one store there is ``longmind worker`` instead.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING

from longmind.errors import InvalidSetting, LongmindError
from longmind.types import Model, Scope
from longmind.worker.agent_run import consolidate_until_unchanged
from longmind.worker.listening import AFTER, Listening
from longmind.worker.models import Failure, JobOutcome

if TYPE_CHECKING:
    from longmind.memory import Longmind

INTERVAL = timedelta(hours=6)
_log = logging.getLogger(__name__)


class AgentFailure(Failure):
    """An agent that could not be consolidated. The others were; this one is tried again in the next pass."""

    tenant: str
    agent: str
    at: datetime


class Pass(Model):
    """One look at all agents."""

    started_at: datetime
    finished_at: datetime | None = None
    consolidated: int = 0
    unchanged: int = 0
    changes: int = 0
    put_off: int = 0
    """Agents of which a part waits: a budget is spent, or the model does not answer."""
    failures: tuple[AgentFailure, ...] = ()
    stopped: bool = False
    """Whether the service was stopped before every agent had its turn."""


class ServiceStatus(Model):
    """What the service is doing."""

    running: bool
    """Whether it runs passes by itself."""
    agent: str | None = None
    """The agent whose turn it is now."""
    next_at: datetime | None = None
    last: Pass | None = None


class ConsolidationService:
    """Runs over all agents that changed, at once when it starts and then at an interval.

    An agent of which ``after`` memories were written through this store meanwhile has its turn at once; None switches
    that off. Agents have their turn one after another. One that fails is logged and told in ``status``, and stops
    nobody else. What was consolidated is known for as long as the service lives; after a restart every agent has one
    turn, which for an unchanged one costs next to nothing.
    """

    def __init__(
        self,
        longmind: Longmind,
        interval: timedelta | float = INTERVAL,
        *,
        tenant: str | None = None,
        after: int | None = AFTER,
    ) -> None:
        self._longmind = longmind
        self._interval = interval if isinstance(interval, timedelta) else timedelta(seconds=interval)
        if self._interval <= timedelta(0):
            raise InvalidSetting("The interval between two passes must be longer than nothing.")
        self._tenant = tenant
        self._listening = None if after is None else Listening(longmind, self._changed, after=after)
        self._heads: dict[Scope, int] = {}
        self._until: dict[Scope, datetime | None] = {}
        self._turn = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._agent: str | None = None
        self._next_at: datetime | None = None
        self._last: Pass | None = None

    async def __aenter__(self) -> ConsolidationService:
        self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def start(self) -> None:
        """Begin to run passes. Starting twice does nothing more."""
        if self._task is None or self._task.done():
            self._stopping = asyncio.Event()
            self._task = asyncio.create_task(self._run(), name="longmind consolidation")

    async def stop(self) -> None:
        """Let the agent whose turn it is finish, and end. When this returns, nothing is running any more."""
        self._stopping.set()
        if self._listening is not None:
            await self._listening.stop()
        task, self._task = self._task, None
        if task is not None:
            await task
        async with self._turn:  # a pass that ``run_now`` began elsewhere
            self._next_at = None

    async def run_now(self) -> Pass:
        """Run a pass and tell how it went; one that is under way is waited for first."""
        if self._task is None:
            self._stopping = asyncio.Event()
        return await self._pass()

    def status(self) -> ServiceStatus:
        """What it is doing, when it will run next, and how the last pass went."""
        running = self._task is not None and not self._task.done()
        return ServiceStatus(running=running, agent=self._agent, next_at=self._next_at, last=self._last)

    async def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                if self._listening is not None:
                    self._listening.start()
                await self._pass()
            except (LongmindError, OSError) as error:  # the store itself; the next pass may find it well again
                _log.warning("No agent could be consolidated: %s", error)
            self._next_at = self._longmind.clock.now() + self._interval
            try:
                await asyncio.wait_for(self._stopping.wait(), self._interval.total_seconds())
            except TimeoutError:
                continue

    async def _pass(self) -> Pass:
        async with self._turn:
            done = Pass(started_at=self._longmind.clock.now())
            try:
                for scope in await self._longmind.store.backend.scopes():
                    if not self._serves(scope):
                        continue
                    if self._stopping.is_set():
                        done = done.model_copy(update={"stopped": True})
                        break
                    done = await self._one(scope, done)
            finally:
                self._agent = None
                self._last = done = done.model_copy(update={"finished_at": self._longmind.clock.now()})
            return done

    def _serves(self, scope: Scope) -> bool:
        """Whether an agent is one of those it consolidates; those with @ are Longmind's own."""
        return not scope.agent.startswith("@") and self._tenant in (None, scope.tenant)

    async def _changed(self, scope: Scope) -> None:
        """Enough of an agent has changed: it has its turn now. What goes wrong is told as in a pass."""
        if not self._serves(scope):
            return
        async with self._turn:
            done = await self._one(scope, self._last or Pass(started_at=self._longmind.clock.now()))
            self._agent = None
            self._last = done.model_copy(update={"finished_at": self._longmind.clock.now()})

    async def _one(self, scope: Scope, done: Pass) -> Pass:
        self._agent = scope.agent
        try:
            until = self._until.get(scope)
            waits = until is None or self._longmind.clock.now() < until
            if waits and (await self._longmind.store.backend.head(scope)).seq == self._heads.get(scope):
                return done.model_copy(update={"unchanged": done.unchanged + 1})
            outcome = await consolidate_until_unchanged(self._longmind, scope)
        except Exception as error:  # whatever it is: the other agents have their turn
            _log.warning("The agent %s of %s could not be consolidated: %s", scope.agent, scope.tenant, error)
            failure = AgentFailure(
                tenant=scope.tenant, agent=scope.agent, at=self._longmind.clock.now(), **failure_of(error).model_dump()
            )
            return done.model_copy(update={"failures": (*done.failures, failure)})
        self._heads[scope], self._until[scope] = outcome.head, outcome.again
        return _with(done, outcome)


def _with(done: Pass, outcome: JobOutcome) -> Pass:
    told = {
        "consolidated": done.consolidated + 1,
        "changes": done.changes + outcome.changes,
        "put_off": done.put_off + (outcome.until is not None),
    }
    return done.model_copy(update=told)


def failure_of(error: BaseException) -> Failure:
    """An exception as data."""
    if isinstance(error, LongmindError):
        return Failure(error=error.code, message=f"{error.message} {error.hint}".strip())
    return Failure(error=type(error).__name__, message=str(error))
