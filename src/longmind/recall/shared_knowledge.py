"""Shared knowledge among the hits of a recall: when to look for it, and how it is added.

What an agent knows itself keeps its order. Approved entries of the tenant's shared memory are added by how well they
fit, a few at most, each marked as shared. A tenant that shares nothing costs nothing: whether it does is looked up once
in a while, and at once after a write of this process.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from longmind.clock import Clock
from longmind.store.base import Receipt
from longmind.store.search.filtering import passing_rows
from longmind.store.store import Store
from longmind.text.analysis import words
from longmind.types import SHARED_AGENT, Filter, Hit, Scope

APPROVED = Filter(kinds=("knowledge",), states=("active",))
"""The entries of shared memory that agents read."""
REFRESHED = timedelta(seconds=5)
"""How long another process may have shared something before it is noticed."""
MIN_SCORE = 0.1
"""Shared knowledge is added if it is right at least one time in ten: an agent's own memories are all there is to say,
shared knowledge is not."""


class SharedTenants:
    """Knows which tenants share something."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._looked: dict[str, tuple[datetime, bool]] = {}
        store.listeners.append(self._written)

    async def scope_of(self, tenant: str) -> Scope | None:
        """Return the scope of a tenant's shared memory; None if nothing is shared there."""
        now = self._clock.now()
        looked = self._looked.get(tenant)
        scope = Scope(tenant=tenant, agent=SHARED_AGENT)
        if looked is None or now - looked[0] > REFRESHED:
            view = await self._store.view(scope)
            looked = self._looked[tenant] = (now, bool(passing_rows(view, APPROVED, None).any()))
        return scope if looked[1] else None

    def close(self) -> None:
        """Stop listening to the store."""
        self._store.listeners.remove(self._written)

    def _written(self, scope: Scope, receipt: Receipt) -> None:
        if scope.agent == SHARED_AGENT:
            self._looked.pop(scope.tenant, None)


def with_shared(own: Sequence[Hit], shared: Sequence[Hit], most: int, min_score: float = 0.0) -> list[Hit]:
    """Return an agent's hits with the best shared ones that it does not know itself, by how well they fit.

    The score of a shared hit is the chance that it is right if shared memory is all there is: the best of a few entries
    is always the best. Beside the agent's own hits it gets no higher chance than those that fit better.
    """
    known = {tuple(words(hit.memory.content)) for hit in own}
    likely = [hit for hit in shared if hit.score >= MIN_SCORE and tuple(words(hit.memory.content)) not in known]
    hits, left = list(own), most
    for hit in likely:
        place = next((n for n, other in enumerate(hits) if other.fit < hit.fit), len(hits))
        highest = hits[place - 1].score if place else 1.0
        lowest = hits[place].score if place < len(hits) else 0.0
        score = min(max(hit.score, lowest), highest)
        if left and score >= max(MIN_SCORE, min_score):
            why = f"shared: {_supporters(hit)}; {hit.why}"
            hits.insert(place, hit.model_copy(update={"why": why, "score": score}))
            left -= 1
    return hits


def _supporters(hit: Hit) -> str:
    if hit.memory.body.get("by") == "review":
        return "approved by a review"
    return f"supported by {hit.memory.metadata['support']} of this tenant, independently"
