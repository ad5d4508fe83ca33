"""One run at a time in a session: a lock in this process, and a lease in the store against other processes.

The lease is a small record with a key. Who writes it first has the session; it is renewed while the run lives, removed
at its end, and when its time is over because the process died, the next run takes it. It names the episode of its run,
so that whoever takes it over can close what the dead one left open.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from weakref import WeakKeyDictionary, WeakValueDictionary

from longmind.errors import Conflict, KeyTaken, NotFound, VersionConflict
from longmind.store.base import Delete, Put, Update
from longmind.store.store import Store
from longmind.systems import ownership
from longmind.systems.cancellation import shield_until_done
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Memory, Source

_KIND = "configuration"
_RENEWALS = 3
"""How often a lease is renewed within its time."""
_LOOK_AGAIN = 0.05
_log = logging.getLogger("longmind")
_locks: WeakKeyDictionary[Store, WeakValueDictionary[str, asyncio.Lock]] = WeakKeyDictionary()


def _lock_of(store: Store, key: str) -> asyncio.Lock:
    here = _locks.setdefault(store, WeakValueDictionary())
    lock = here.get(key)
    if lock is None:
        lock = here[key] = asyncio.Lock()
    return lock


@dataclass(slots=True)
class Lease:
    """A session that is to be, or is, taken by one run."""

    scoped: ScopedStore
    session: str
    episode: str
    """The episode of the run that takes it."""
    seconds: float
    problem: Callable[[str], None]
    """Told what goes wrong with the store; a run goes on without a lease rather than not at all."""
    ends: float = math.inf
    """When, by the loop's time, its run is over for certain: one that was begun and forgotten is not kept alive."""
    interrupted: str | None = None
    """The episode of the run that held the session before and died."""
    lost: bool = False
    """Whether another run has the session now, since this one seemed dead."""
    _lock: asyncio.Lock = field(init=False)
    _held: bool = False
    _record: Memory | None = None
    _renewing: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self._lock = _lock_of(self.scoped.store, f"{self.scoped.scope.model_dump_json()}:{self.session}")

    @property
    def _name(self) -> str:
        return f"lease:{self.session}"

    async def take(self, wait: float) -> None:
        """Take the session, waiting for the run that has it; ``Conflict`` when it does not end in time."""
        deadline = asyncio.get_running_loop().time() + wait
        try:
            async with asyncio.timeout_at(deadline):
                await self._lock.acquire()
        except TimeoutError as error:
            raise self._busy(wait) from error
        self._held = True
        try:
            taken = await self._take_record(deadline)
        except Exception as error:
            self.problem(f"The session could not be locked: {error}")
            return
        except BaseException:
            await shield_until_done(self.release())
            raise
        if not taken:
            await shield_until_done(self.release())
            raise self._busy(wait)
        self._renewing = asyncio.create_task(self._renew(), name=f"lease {self.session}")

    async def release(self) -> None:
        """Let the next run have the session."""
        try:
            if self._renewing is not None:
                self._renewing.cancel()
                await asyncio.wait({self._renewing})
            record, self._record = self._record, None
            if record is not None:
                await self.scoped.write([Delete(record.id, record.version)], reason="run ended")
        except (NotFound, VersionConflict):
            self.lost = True  # it is another run's by now
        except Exception as error:
            self.problem(f"The session could not be unlocked: {error}")
        finally:
            self._unlock()

    def _unlock(self) -> None:
        if self._held:
            self._held = False
            self._lock.release()

    async def _take_record(self, deadline: float) -> bool:
        """Try until it is taken, or somebody else had it all the time."""
        while not await shield_until_done(self._attempt()):
            if asyncio.get_running_loop().time() >= deadline:
                return False
            await asyncio.sleep(_LOOK_AGAIN)
        return True

    async def _attempt(self) -> bool:
        """Take the record if nobody has it, or if who had it is gone."""
        scoped, until = self.scoped, self._until()
        body = {"episode": self.episode, "until": until.isoformat()}
        there = await ownership.held(scoped, self._name)
        try:
            if there is None:
                key = ownership.own_key(scoped.scope, self._name)
                new = scoped.new(_KIND, "", key=key, body=body, source=Source(role="system"), trust=1.0)
                self._record = (await scoped.write([Put(new, existing="fail")], reason="run begun")).memories[0]
                return True
            if datetime.fromisoformat(str(there.body["until"])) > scoped.now():
                return False
            taken = await scoped.write([Update(there.id, {"body": body}, there.version)], reason="run begun")
        except (KeyTaken, VersionConflict, NotFound):
            return False  # somebody else was faster, or has just let go
        self._record = taken.memories[0]
        self.interrupted = str(there.body["episode"])
        return True

    async def _renew(self) -> None:
        loop = asyncio.get_running_loop()
        while not self.lost and loop.time() < self.ends:
            await asyncio.sleep(self.seconds / _RENEWALS)
            await shield_until_done(self._renewed())
        self.lost = True
        self._unlock()

    async def _renewed(self) -> None:
        assert self._record is not None
        body = {**self._record.body, "until": self._until().isoformat()}
        try:
            receipt = await self.scoped.write(
                [Update(self._record.id, {"body": body}, self._record.version)], reason="run goes on"
            )
            self._record = receipt.memories[0]
        except (VersionConflict, NotFound):
            self.lost = True
        except Exception as error:
            _log.warning("The lease of a session could not be renewed: %s", error)

    def _until(self) -> datetime:
        return self.scoped.now() + timedelta(seconds=self.seconds)

    def _busy(self, wait: float) -> Conflict:
        return Conflict(
            f"Another run is at work in the session {self.session!r}; it did not end within {wait:g} seconds.",
            hint="Wait for it, cancel it, or use another session.",
            session=self.session,
        )
