"""Consolidation by itself, inside the process that uses the memories: nothing to install, nothing to operate.

    async with Longmind.open() as longmind, ConsolidationService(longmind):
        ...

For many processes or machines on one store there is ``longmind worker`` instead.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING

from longmind.errors import InvalidSetting, LongmindError
from longmind.jobs import AgentFailure, Failure, JobOutcome, Pass, ServiceStatus
from longmind.types import Scope
from longmind.worker.agent_run import consolidate_until_unchanged
from longmind.worker.listening import AFTER, Listening

if TYPE_CHECKING:
    from longmind.memory import Longmind

INTERVAL = timedelta(hours=6)
_log = logging.getLogger(__name__)


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
        self._scope: Scope | None = None
        self._next_at: datetime | None = None
        self._last: Pass | None = None
        self._last_of: dict[str, Pass] = {}
        """The last pass as each tenant may see it: with its own agents only."""

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
            self._longmind.consolidation_service = self

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
        if self._longmind.consolidation_service is self:
            self._longmind.consolidation_service = None

    async def run_now(self) -> Pass:
        """Run a pass and tell how it went; one that is under way is waited for first."""
        if self._task is None:
            self._stopping = asyncio.Event()
        return await self._pass()

    def status(self, tenant: str | None = None) -> ServiceStatus:
        """What it is doing, when it will run next, and how the last pass went: for one tenant, or for all."""
        running = self._task is not None and not self._task.done()
        scope = self._scope
        agent = None if scope is None or tenant not in (None, scope.tenant) else scope.agent
        last = self._last
        if last is not None and tenant is not None:
            nothing = Pass(started_at=last.started_at, error=last.error)
            ending = {"finished_at": last.finished_at, "stopped": last.stopped}
            last = self._last_of.get(tenant, nothing).model_copy(update=ending)
        return ServiceStatus(running=running, agent=agent, next_at=self._next_at, last=last)

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
            begun = Pass(started_at=self._longmind.clock.now())
            self._last, self._last_of = begun, {}
            ending: dict[str, object] = {}
            try:
                for scope in await self._longmind.store.backend.scopes():
                    if not self._serves(scope):
                        continue
                    if self._stopping.is_set():
                        ending["stopped"] = True
                        break
                    await self._one(scope, begun)
            except Exception as error:
                ending["error"] = failure_of(error)
                raise
            finally:
                ending["finished_at"] = self._longmind.clock.now()
                self._last = done = self._last.model_copy(update=ending)
            return done

    def _serves(self, scope: Scope) -> bool:
        """Whether an agent is one of those it consolidates; those with @ are Longmind's own."""
        return not scope.agent.startswith("@") and self._tenant in (None, scope.tenant)

    async def _changed(self, scope: Scope) -> None:
        """Enough of an agent has changed: it has its turn now. What goes wrong is told as in a pass."""
        if not self._serves(scope):
            return
        async with self._turn:
            self._last = self._last or Pass(started_at=self._longmind.clock.now())
            await self._one(scope, Pass(started_at=self._last.started_at))
            self._last = self._last.model_copy(update={"finished_at": self._longmind.clock.now()})

    async def _one(self, scope: Scope, begun: Pass) -> None:
        """Give an agent its turn, and note how it went: for all, and for its tenant."""
        self._scope = scope
        try:
            added = await self._turn_of(scope)
        finally:
            self._scope = None
        self._last = added(self._last or begun)
        self._last_of[scope.tenant] = added(self._last_of.get(scope.tenant, begun))

    async def _turn_of(self, scope: Scope) -> Callable[[Pass], Pass]:
        """Consolidate an agent if it changed. Return what that adds to a pass."""
        try:
            until = self._until.get(scope)
            waits = until is None or self._longmind.clock.now() < until
            if waits and (await self._longmind.store.backend.head(scope)).seq == self._heads.get(scope):
                return lambda done: done.model_copy(update={"unchanged": done.unchanged + 1})
            outcome = await consolidate_until_unchanged(self._longmind, scope)
        except Exception as error:  # whatever it is: the other agents have their turn
            _log.warning("The agent %s of %s could not be consolidated: %s", scope.agent, scope.tenant, error)
            failure = AgentFailure(
                tenant=scope.tenant, agent=scope.agent, at=self._longmind.clock.now(), **failure_of(error).model_dump()
            )
            return lambda done: done.model_copy(update={"failures": (*_of_others(done, scope), failure)})
        self._heads[scope], self._until[scope] = outcome.head, outcome.again
        return partial(_with, scope=scope, outcome=outcome)


def _of_others(done: Pass, scope: Scope) -> tuple[AgentFailure, ...]:
    """Return the failures of all other agents: of an agent the latest turn counts."""
    return tuple(f for f in done.failures if (f.tenant, f.agent) != (scope.tenant, scope.agent))


def _with(done: Pass, scope: Scope, outcome: JobOutcome) -> Pass:
    added = {
        "consolidated": done.consolidated + 1,
        "changes": done.changes + outcome.changes,
        "put_off": done.put_off + (outcome.until is not None),
        "paused": done.paused + outcome.paused,
        "failures": _of_others(done, scope),
    }
    return done.model_copy(update=added)


def failure_of(error: BaseException) -> Failure:
    """An exception as data."""
    if isinstance(error, LongmindError):
        return Failure(error=error.code, message=f"{error.message} {error.hint}".strip())
    return Failure(error=type(error).__name__, message=str(error))
