"""The stage ``distill``: from many cases to what holds in general.

The rules of semantic memory are applied to what is known now, so that what was derived from a fact that changed is
derived anew or stays stale. Episodes of one kind that ended, often enough, become a reflection on how they go
(``stages.reflection``), a procedure where they did the same with success, and lessons where some failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from longmind.consolidate.stages.lessons import lessons, read_accounts
from longmind.consolidate.stages.practice import practise
from longmind.consolidate.stages.reflection import is_outdated, reflection_writes
from longmind.consolidate.work import Work
from longmind.systems.episodic import Cluster, Episode, cluster_episodes
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import SemanticMemory
from longmind.types import Filter, Memory

SMALLEST = 3
"""Episodes that make a reflection."""
_MOST = 500
_REFLECTION = "reflection:"


@dataclass(frozen=True, slots=True)
class DistillStage:
    """The stage."""

    name: str = "distill"

    async def propose(self, work: Work) -> None:
        owners = await _owners(work, "rule")
        if None in owners:  # the whole agent's rules hold for what each user told, too
            owners = sorted({*owners, *await _owners(work, "fact")}, key=_nobody_first)
        for user in owners:
            for learned in await SemanticMemory(work.scoped(user)).derive():
                work.notes.why.setdefault(
                    learned.fact.id, (learned.fact.subject_id, f"by the rule {learned.fact.rule}")
                )
        if "episode" in work.kinds:  # what happened is gone over only when something happened
            for user in await _owners(work, "episode"):
                await _reflect(work, work.scoped(user))


async def _owners(work: Work, kind: str) -> list[str | None]:
    """The users who have memories of a kind, nobody's own first."""
    users = {m.user async for m in work.store.scan_all(work.scope, Filter(kinds=(kind,), states=("active",)))}
    return sorted(users, key=_nobody_first)


def _nobody_first(user: str | None) -> tuple[bool, str]:
    return user is not None, user or ""


async def _reflect(work: Work, scoped: ScopedStore) -> None:
    where = Filter(kinds=("episode",), states=("active",))
    mine = [m async for m in work.store.scan_all(scoped.scope, where) if m.user == scoped.scope.user]
    ended = [e for e in map(Episode.of, mine[-_MOST:]) if e.outcome != "unknown" and not e.open]
    if len(ended) < SMALLEST:
        return
    clusters = await cluster_episodes(
        work.reading(scoped.scope.user), ended, alike=None, smallest=SMALLEST, summariser=None
    )
    for cluster, kind in zip(clusters, _kinds(clusters, await _known(work, scoped)), strict=True):
        accounts = await read_accounts(work, scoped, cluster)
        old = await _stored(work, scoped, kind)
        grown = old is None or is_outdated(old, cluster)
        reflection = await reflection_writes(work, scoped, cluster, f"{_REFLECTION}{kind}", old, accounts)
        await work.apply([*reflection, *await lessons(work, scoped, cluster, kind, accounts, grown=grown)])
        await practise(work, scoped, cluster, kind)


async def _known(work: Work, scoped: ScopedStore) -> dict[str, str]:
    """For each episode that a reflection is about, the name of its cluster."""
    held = (await work.draft.scan(scoped.scope, Filter(kinds=("reflection",), states=None))).items
    mine = [m for m in held if m.user == scoped.scope.user and m.key is not None and m.key.startswith(_REFLECTION)]
    return {id: str(m.key).removeprefix(_REFLECTION) for m in mine for id in m.body["episodes"]}


def _kinds(clusters: Sequence[Cluster], known: Mapping[str, str]) -> list[str]:
    """Names of clusters that stay the same as they grow, also when their first episodes are gone over no more.

    It is the name that most of a cluster's episodes go by; that of a new cluster is made of its first episode.
    """
    names: list[str] = []
    for cluster in clusters:
        votes = Counter(known[e.id] for e in cluster.episodes if e.id in known)
        first = sorted(cluster.episodes, key=lambda e: (e.start, e.id))
        new_names = [sha256(e.id.encode()).hexdigest()[:32] for e in first]
        wanted = [*(kind for kind, _ in votes.most_common()), *new_names]
        names.append(next((name for name in wanted if name not in names), new_names[0]))
    return names


async def _stored(work: Work, scoped: ScopedStore, kind: str) -> Memory | None:
    """Return the reflection on a cluster."""
    key = f"{_REFLECTION}{kind}"
    await work.draft.know_keys([key])
    held = (work.draft.now[id] for id in work.draft.holders(key))
    return next((memory for memory in held if memory is not None and memory.user == scoped.scope.user), None)
