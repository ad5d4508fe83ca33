"""Runs that nobody ends any more, because their process died or their task was killed.

A run holds a lease on its session and renews it while it lives. When the lease has ended and the run is still open, it
is abandoned: its episode is closed as such, and what it had in mind is removed. The next run of the same user does that
and so do the consolidation service and the worker, for all users of an agent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from longmind.agent.run_recorder import TYPE, close_interrupted_run
from longmind.errors import KeyTaken, VersionConflict
from longmind.store.base import Delete
from longmind.systems.episodic import EPISODE
from longmind.systems.records import CONFIGURATION, LEASE, LeaseBody, LeaseTerm
from longmind.systems.scoped_store import ScopedStore, validated
from longmind.types import Filter, Memory, Scope

_PURSUIT = "goal:"
"""How the name of a lease on a goal begins. Its pursuit is taken over with its steps, by the next one."""
_WITHOUT_LEASE = timedelta(hours=1)
"""A run that could not lock its session has no lease; it is abandoned if it is open after so long."""


@dataclass(frozen=True, slots=True)
class AbandonedRuns:
    """The runs that were closed, and when the next lease of a run that is still open ends."""

    closed: tuple[str, ...] = ()
    next_end: datetime | None = None


async def close_abandoned_runs(scoped: ScopedStore, *, thorough: bool = False) -> AbandonedRuns:
    """Close the runs of a scope whose lease has ended, and remove the lease.

    It reads the leases only, of which there are as many as runs in progress. A ``thorough`` call also looks for runs
    that are open without a lease.
    """
    now = scoped.now()
    closed: list[str] = []
    ends: list[datetime] = []
    held: set[str] = set()
    async for record in _leases(scoped):
        lease = validated(LeaseBody, record.body)
        held.add(lease.holder)
        if LeaseTerm(lease.until).is_held(now):
            ends += [] if lease.until is None else [lease.until]
            continue
        own = replace(scoped, scope=_scope_of(scoped.scope, record))
        if await close_interrupted_run(own, lease.holder):
            closed.append(lease.holder)
        await _remove(own, record)
    if thorough:
        closed += [id async for id in _close_without_lease(scoped, held, now)]
    return AbandonedRuns(tuple(closed), min(ends, default=None))


async def _leases(scoped: ScopedStore) -> AsyncIterator[Memory]:
    """Yield the lease records of the sessions in a scope, without those on goals."""
    users = None if scoped.scope.all_users or scoped.scope.user is None else (scoped.scope.user,)
    where = Filter(kinds=(CONFIGURATION,), users=users, states=None)
    async for record in scoped.store.scan_all(scoped.scope, where):
        if record.key is None or not record.key.startswith(LEASE) or record.key.startswith(f"{LEASE}{_PURSUIT}"):
            continue
        if scoped.scope.all_users or record.user == scoped.scope.user:
            yield record


async def _remove(scoped: ScopedStore, record: Memory) -> None:
    try:
        await scoped.store.apply(scoped.scope, [Delete(record.id, record.version)], reason="lease ended")
    except (KeyTaken, VersionConflict):
        return  # another run has taken it over meanwhile, and ends what it finds


async def _close_without_lease(scoped: ScopedStore, held: set[str], now: datetime) -> AsyncIterator[str]:
    where = Filter(kinds=(EPISODE,), metadata={"type": TYPE, "open": True}, states=None, until=now - _WITHOUT_LEASE)
    async for episode in scoped.store.scan_all(scoped.scope, where):
        own = replace(scoped, scope=_scope_of(scoped.scope, episode))
        if episode.id not in held and await close_interrupted_run(own, episode.id):
            yield episode.id


def _scope_of(scope: Scope, record: Memory) -> Scope:
    """Return the scope of the user that a record belongs to."""
    return scope.of_user(record.user)
