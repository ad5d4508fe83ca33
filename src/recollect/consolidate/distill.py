"""The stage ``distill``: from many cases to what holds in general.

The rules of semantic memory are applied to what is known now, so that what was derived from a fact that changed is
derived anew or stays stale. Episodes of one kind that ended, often enough, become a reflection on how they go, a
procedure where they did the same with success, and lessons where some failed.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from recollect.consolidate.lessons import lessons
from recollect.consolidate.practice import practise
from recollect.consolidate.work import Work
from recollect.store.base import AddLink, Batch, Put, Update, Write
from recollect.systems.episodic.clusters import clusters
from recollect.systems.episodic.models import Cluster, Episode
from recollect.systems.room import Room
from recollect.systems.semantic import SemanticMemory
from recollect.types import Filter, Link, Memory

SMALLEST = 3
"""Episodes that make a reflection."""
_MOST = 500


@dataclass(frozen=True, slots=True)
class Distilling:
    """The stage."""

    name: str = "distill"

    async def propose(self, work: Work) -> None:
        owners = await _owners(work, "rule")
        for user in owners:
            for learned in await SemanticMemory(work.room(user)).derive():
                work.notes.why.setdefault(
                    learned.fact.id, (learned.fact.subject_id, f"by the rule {learned.fact.rule}")
                )
        if "episode" in work.kinds:  # what happened is gone over only when something happened
            for user in await _owners(work, "episode"):
                await _reflect(work, work.room(user))


async def _owners(work: Work, kind: str) -> list[str | None]:
    """The users who have memories of a kind, nobody's own first."""
    found = {m.user async for m in work.store.every(work.scope, Filter(kinds=(kind,), states=("active",)))}
    return sorted(found, key=lambda user: (user is not None, user or ""))


async def _reflect(work: Work, room: Room) -> None:
    where = Filter(kinds=("episode",), states=("active",))
    mine = [m async for m in work.store.every(room.scope, where) if m.user == room.scope.user]
    ended = [e for e in map(Episode.of, mine[-_MOST:]) if e.outcome != "unknown" and not e.open]
    if len(ended) < SMALLEST:
        return
    for cluster in await clusters(work.reading(room.scope.user), ended, alike=None, smallest=SMALLEST, summariser=None):
        kind = _kind(cluster)
        writes = [*await _reflection(work, room, cluster, kind), *await lessons(work, room, cluster, kind)]
        if writes:
            await work.draft.apply(Batch(work.scope, work.operation, work.clock.now(), tuple(writes)))
        await practise(work, room, cluster, kind)


def _kind(cluster: Cluster) -> str:
    """The name of a cluster that stays the same as it grows: that of its first episode."""
    first = min(cluster.episodes, key=lambda e: (e.start, e.id))
    return sha256(first.id.encode()).hexdigest()[:32]


async def _reflection(work: Work, room: Room, cluster: Cluster, kind: str) -> list[Write]:
    """What stores the summary of episodes that are alike; known by the first of them, so that it grows with them."""
    first = min(cluster.episodes, key=lambda e: (e.start, e.id))
    key = f"reflection:{kind}"
    body = {
        "episodes": [e.id for e in cluster.episodes],
        "terms": list(cluster.terms),
        "outcomes": dict(cluster.outcomes),
    }
    await work.draft.know_keys([key])
    old = next((m for id in work.draft.holders(key) if (m := work.draft.now[id]) and m.user == room.scope.user), None)
    if old is not None and old.body == body and old.content == cluster.summary:
        return []
    record: Memory = old or room.new("reflection", cluster.summary, key=key, body=body)
    work.notes.why[record.id] = (first.id, f"{len(cluster.episodes)} episodes that are alike")
    links = [AddLink(Link(source=record.id, relation="derived_from", target=e.id)) for e in cluster.episodes]
    if old is None:
        return [Put(record, existing="fail"), *links]
    return [Update(old.id, {"content": cluster.summary, "body": body}, old.version), *links]
