"""Small records with a key: state that several processes share and change by compare-and-set.

A ``KeyedRecord`` is one typed record of a scope. A ``Lease`` is such a record that one process holds for a while.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, Literal, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

from pydantic import BaseModel, Field

from longmind.clock import Clock
from longmind.errors import KeyTaken, NotFound, VersionConflict
from longmind.store.base import Delete, Put, Update, Write
from longmind.store.store import Store
from longmind.systems.cancellation import shield_until_done
from longmind.systems.ownership import own_key
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.types import Memory, Model, Moment, Scope, Source

B = TypeVar("B", bound=BaseModel)
LEASE = "lease:"
"""How the keys of lease records begin."""
CONFIGURATION = "configuration"
"""The kind of records that systems keep for themselves; recall does not return them."""
_RENEWALS = 3
"""How often a lease is renewed within its term."""
_POLL_SECONDS = 0.05
_log = logging.getLogger("longmind")
_locks: WeakKeyDictionary[Store, WeakValueDictionary[str, asyncio.Lock]] = WeakKeyDictionary()


class KeyedRecord(Generic[B]):
    """One record of a scope, found by its key, whose typed body changes by compare-and-set.

    The record belongs to exactly the user of the scope, or to no user. ``default`` is its body while it does not exist.
    ``kind``, ``stored_in`` and ``fields`` describe the memory that the first write creates.
    """

    def __init__(
        self,
        store: Store,
        scope: Scope,
        clock: Clock,
        key: str,
        default: B,
        *,
        kind: str = CONFIGURATION,
        stored_in: Literal["body", "metadata"] = "body",
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        self.store = store
        self.scope = scope
        self.clock = clock
        self.key = key
        self.memory: Memory | None = None
        """The record as it was last read; None if there was none."""
        self.body: B = default
        """The body as it was last read."""
        self._default = default
        self._kind = kind
        self._stored_in = stored_in
        self._fields = {"source": Source(role="system"), "trust": 1.0} if fields is None else dict(fields)

    @classmethod
    def of_user(cls, scoped: ScopedStore, name: str, default: B, **options: Any) -> KeyedRecord[B]:
        """Return the record that a scope has under a name: one for each user, and one for no user."""
        return cls(scoped.store, scoped.scope, scoped.clock, own_key(scoped.scope, name), default, **options)

    @classmethod
    def of_agent(cls, scoped: ScopedStore, key: str, default: B, **options: Any) -> KeyedRecord[B]:
        """Return the record that an agent has under a key, whoever the user is."""
        scope = scoped.scope.of_user(None)
        return cls(scoped.store, scope, scoped.clock, key, default, **options)

    async def read(self) -> B:
        """Read the record and return its body, or the default if there is no record."""
        self._accept(await self._find())
        return self.body

    async def is_current(self) -> bool:
        """Whether the record in the store is still the one that was last read."""
        return _identity(await self._find()) == _identity(self.memory)

    def write(self, body: B) -> Write | None:
        """Return the write that stores a body unless the record changed since it was read; None if the body is equal.

        Put it into a batch with other writes; the batch fails with ``KeyTaken`` or ``VersionConflict`` if another
        writer was faster. Read again after the batch.
        """
        return None if body == self.body else self.overwrite(body)

    def overwrite(self, body: B, **fields: Any) -> Put | Update:
        """Return the write that stores a body unless the record changed since it was read, even if it is equal.

        ``fields`` are further fields of the record to write with it, such as ``content``.
        """
        payload = body.model_dump(mode="json", by_alias=True)
        if self.memory is not None:
            return Update(self.memory.id, {**fields, self._stored_in: payload}, expected_version=self.memory.version)
        now = self.clock.now()
        values = {
            "id": self.clock.new_id(),
            "tenant": self.scope.tenant,
            "agent": self.scope.agent,
            "user": self.scope.user,
            "kind": self._kind,
            "key": self.key,
            "content": "",
            "occurred_at": now,
            "recorded_at": now,
            **self._fields,
            **fields,
            self._stored_in: payload,
        }
        return Put(validated(Memory, values), existing="fail")

    async def change(self, decide: Callable[[B], B], reason: str, *, actor: str = "agent") -> B:
        """Read the body, let ``decide`` return the new one, and store that; retry when another writer was faster."""

        async def attempt() -> B:
            body = decide(await self.read())
            if (write := self.write(body)) is not None:
                await self.apply(write, reason, actor=actor)
            return body

        return await retry_on_conflict(attempt)

    def written(self, memory: Memory) -> None:
        """Take over the record as a batch has stored it, so that it need not be read again."""
        self._accept(memory)

    async def apply(self, write: Write, reason: str, *, actor: str = "agent") -> None:
        """Make one write of this record by itself. A record that is gone since it was read is a ``VersionConflict``."""
        try:
            receipt = await self.store.apply(self.scope, [write], reason=reason, actor=actor)
        except NotFound as error:
            raise VersionConflict(f"A record was removed meanwhile. {error.message}", hint=error.hint) from error
        self._accept(None if isinstance(write, Delete) else receipt.memories[0])

    async def delete(self, reason: str, *, actor: str = "agent") -> None:
        """Remove the record unless it changed since it was read; ``VersionConflict`` if it did."""
        if self.memory is not None:
            await self.apply(Delete(self.memory.id, self.memory.version), reason, actor=actor)

    async def _find(self) -> Memory | None:
        memory = await self.store.by_key(self.scope, self.key)
        return memory if memory is not None and memory.user == self.scope.user else None

    def _accept(self, memory: Memory | None) -> None:
        self.memory = memory
        if memory is None:
            self.body = self._default
        else:
            self.body = validated(type(self._default), getattr(memory, self._stored_in))


@dataclass(frozen=True, slots=True)
class LeaseTerm:
    """The term of a lease that is a field of another record."""

    until: datetime | None

    def is_held(self, now: datetime) -> bool:
        """Whether the term is not over yet."""
        return self.until is not None and self.until > now

    @classmethod
    def starting(cls, now: datetime, seconds: float) -> LeaseTerm:
        """Return a term of this many seconds from now on."""
        return cls(now + timedelta(seconds=seconds))

    def renewed(self, now: datetime, seconds: float) -> LeaseTerm:
        """Return the term of the lease if it is renewed now."""
        return LeaseTerm.starting(now, seconds)


class LeaseBody(Model):
    """A lease as it is stored."""

    holder: str = Field(default="", alias="episode")
    until: Moment | None = None


@dataclass(slots=True)
class Lease:
    """A lease on a name within a scope: one holder at a time, in this process and in others.

    A lock keeps the tasks of this process apart; a record with a key keeps processes apart. The record is renewed while
    the lease is held and removed when it is released. When its term is over because the process died, the next one
    takes it over.
    """

    scoped: ScopedStore
    name: str
    holder: str
    """The id of the holder, such as the episode of a run."""
    seconds: float
    """The length of its term."""
    problem: Callable[[str], None]
    """Called with a message when the store fails. The holder then continues without a record."""
    subject: str = "session"
    """What is leased, for messages."""
    ends: float = math.inf
    """The event loop's time at which renewing stops, so that a forgotten lease expires."""
    taken_over_from: str | None = None
    """The holder that died, if the lease was taken over from one."""
    lost: bool = False
    """Whether another holder has the lease now."""
    _record: KeyedRecord[LeaseBody] = field(init=False)
    _lock: asyncio.Lock = field(init=False)
    _locked: bool = False
    _acquired: bool = False
    """Whether the record is this holder's."""
    _renewing: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self._record = KeyedRecord.of_user(self.scoped, f"{LEASE}{self.name}", LeaseBody())
        self._lock = _lock_of(self.scoped.store, f"{self.scoped.scope.model_dump_json()}:{self.name}")

    async def acquire(self, wait: float) -> bool:
        """Acquire the lease, waiting up to this many seconds; False if its holder did not release it in time."""
        deadline = asyncio.get_running_loop().time() + wait
        try:
            async with asyncio.timeout_at(deadline):
                await self._lock.acquire()
        except TimeoutError:
            return False
        self._locked = True
        try:
            acquired = await self._acquire_record(deadline)
        except Exception as error:
            self.problem(f"The {self.subject} could not be locked: {error}")
            return True
        except BaseException:
            await shield_until_done(self.release())
            raise
        if not acquired:
            await shield_until_done(self.release())
            return False
        self._renewing = asyncio.create_task(self._keep_renewing(), name=f"lease {self.name}")
        return True

    async def release(self) -> None:
        """Release the lease."""
        try:
            if self._renewing is not None:
                self._renewing.cancel()
                await asyncio.wait({self._renewing})
            acquired, self._acquired = self._acquired, False
            if acquired:
                await self._record.delete("lease released")
        except VersionConflict:
            self.lost = True  # another holder has it by now
        except Exception as error:
            self.problem(f"The {self.subject} could not be unlocked: {error}")
        finally:
            self._unlock()

    def _unlock(self) -> None:
        if self._locked:
            self._locked = False
            self._lock.release()

    async def _acquire_record(self, deadline: float) -> bool:
        """Try until the record is acquired or the deadline has passed."""
        while not await shield_until_done(self._try_acquire()):
            if asyncio.get_running_loop().time() >= deadline:
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return True

    async def _try_acquire(self) -> bool:
        """Acquire the record if nobody holds it, or if the term of its holder is over."""
        current = await self._record.read()
        taken_over = self._record.memory is not None
        if LeaseTerm(current.until).is_held(self.scoped.now()):
            return False
        try:
            await self._record.apply(self._record.overwrite(self._body()), "lease acquired")
        except (KeyTaken, VersionConflict):
            return False  # another holder was faster, or has just released it
        self._acquired = True
        self.taken_over_from = current.holder if taken_over else None
        return True

    async def _keep_renewing(self) -> None:
        loop = asyncio.get_running_loop()
        while not self.lost and loop.time() < self.ends:
            await asyncio.sleep(self.seconds / _RENEWALS)
            await shield_until_done(self._renew())
        self.lost = True
        self._unlock()

    async def _renew(self) -> None:
        try:
            await self._record.apply(self._record.overwrite(self._body()), "lease renewed")
        except VersionConflict:
            self.lost = True
        except Exception as error:
            _log.warning("The lease of a %s could not be renewed: %s", self.subject, error)

    def _body(self) -> LeaseBody:
        until = LeaseTerm.starting(self.scoped.now(), self.seconds).until
        return LeaseBody(episode=self.holder, until=until)


def _identity(memory: Memory | None) -> tuple[str, int] | None:
    return None if memory is None else (memory.id, memory.version)


def _lock_of(store: Store, key: str) -> asyncio.Lock:
    locks = _locks.setdefault(store, WeakValueDictionary())
    lock = locks.get(key)
    if lock is None:
        lock = locks[key] = asyncio.Lock()
    return lock
