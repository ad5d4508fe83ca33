"""From failures to lessons: what tells the episodes of one kind that failed from those that succeeded.

A lesson is a reflection with its episodes, those that speak for it and those that speak against it. One that no longer
holds after more was seen goes to the archive.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from longmind.consolidate.work import Work
from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.episodic import Cluster, Lesson, cases_of, iterate_events, lessons_of, shared_deeds
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Filter, Json, Link, Memory

TAG = "lesson"
_EVENTS = 200
_MOST = 5
"""Lessons that one kind of episode teaches, the surest."""
_NOTED = 5
_NOTE = 300


async def lessons(work: Work, scoped: ScopedStore, cluster: Cluster, kind: str) -> list[Write]:
    """The writes that keep what a cluster of episodes teaches; ``kind`` names the cluster for good."""
    taught = await _taught(work, scoped, cluster)
    where = Filter(kinds=("reflection",), states=None, tags_any=(TAG,), metadata={"kind": kind})
    known = await work.draft.scan(scoped.scope, where)
    held = {memory.key: memory for memory in known.items if memory.user == scoped.scope.user}
    writes: list[Write] = []
    for subject, (content, body, episodes) in taught.items():
        writes += _kept(work, scoped, kind, held.pop(_key(kind, subject), None), subject, content, body, episodes)
    for old in held.values():
        if old.state == "active":
            writes.append(Update(old.id, {"state": "archived"}, old.version))
            work.notes.why[old.id] = (cluster.episodes[0].id, "more episodes do not bear it out")
    return writes


Taught = dict[str, tuple[str, Json, Sequence[str]]]
"""By subject: what is taught, its details, and the episodes that teach it."""


async def _taught(work: Work, scoped: ScopedStore, cluster: Cluster) -> Taught:
    real = work.reading(scoped.scope.user)
    accounts = [(e, [x async for x in iterate_events(real, e.id, limit=_EVENTS)]) for e in cluster.episodes]
    taught: Taught = {}
    deeds = await shared_deeds(work.embed, accounts)
    for lesson in lessons_of(cases_of(accounts, deeds))[:_MOST]:
        body = {**_body(lesson), "terms": list(cluster.terms[:3])}
        taught[lesson.subject] = (lesson.statement, body, [*lesson.episodes, *lesson.against])
    noted = [e for e in cluster.episodes if e.outcome == "failed" and e.note.strip()]
    if noted:
        quoted = [" ".join(e.note.split())[:_NOTE] for e in noted[-_NOTED:]]
        ids = [e.id for e in noted]
        taught["noted"] = (f"Noted when it failed: {' | '.join(quoted)}", {"advice": "avoid", "episodes": ids}, ids)
    return taught


def _body(lesson: Lesson) -> Json:
    fields = lesson.model_dump(mode="json", exclude={"statement", "by_model"})
    return {**fields, "episodes": list(lesson.episodes), "against": list(lesson.against)}


def _kept(
    work: Work,
    scoped: ScopedStore,
    kind: str,
    old: Memory | None,
    subject: str,
    content: str,
    body: Json,
    episodes: Sequence[str],
) -> list[Write]:
    if old is not None and (old.content, old.body, old.state) == (content, body, "active"):
        return []
    if old is not None and old.state not in ("active", "archived"):
        return []  # somebody has put it aside, and it stays so
    record = old or scoped.new(
        "reflection",
        content,
        key=_key(kind, subject),
        body=body,
        tags=(TAG,),
        metadata={"kind": kind},
        importance=0.7,
    )
    work.notes.why[record.id] = (episodes[0], f"a lesson of {len(episodes)} episodes that are alike")
    links = [AddLink(Link(source=record.id, relation="derived_from", target=id)) for id in dict.fromkeys(episodes)]
    if old is None:
        return [Put(record, existing="fail"), *links]
    return [Update(old.id, {"content": content, "body": body, "state": "active"}, old.version), *links]


def _key(kind: str, subject: str) -> str:
    return f"lesson:{sha256(f'{kind}:{subject}'.encode()).hexdigest()[:32]}"
