"""From failures to lessons: what tells the episodes of one kind that failed from those that succeeded.

A lesson is a reflection with its episodes, those that speak for it and those that speak against it. One that no longer
holds after more was seen goes to the archive.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from hashlib import sha256

from longmind.consolidate.model import UnusableAnswer
from longmind.consolidate.work import Work
from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.episodic import (
    Account,
    Cluster,
    Episode,
    Event,
    Lesson,
    LessonDraft,
    cases_of,
    iterate_events,
    lessons_of,
    narrate,
    shared_deeds,
)
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Filter, Json, Link, Memory

TAG = "lesson"
EpisodeAccount = tuple[Episode, list[Event]]
_EVENTS = 200
_MOST = 5
"""Lessons that one kind of episode teaches, the surest."""
_ACCOUNTS, _ACCOUNT = 12, 2_000
"""The most accounts that a model reads, the latest, and the longest one in characters."""
_NOTED = 5
_NOTE = 300


async def read_accounts(work: Work, scoped: ScopedStore, cluster: Cluster) -> list[EpisodeAccount]:
    """Return the episodes of a cluster, each with its events."""
    real = work.reading(scoped.scope.user)
    return [(e, [x async for x in iterate_events(real, e.id, limit=_EVENTS)]) for e in cluster.episodes]


def narrate_latest(accounts: Sequence[EpisodeAccount]) -> list[Account]:
    """Return the latest accounts as a model reads them."""
    return [Account(episode=e, text=narrate(e, events, "full")[:_ACCOUNT]) for e, events in accounts[-_ACCOUNTS:]]


async def lessons(
    work: Work, scoped: ScopedStore, cluster: Cluster, kind: str, accounts: Sequence[EpisodeAccount], *, grown: bool
) -> list[Write]:
    """Return the writes that keep what a cluster of episodes teaches; ``kind`` names the cluster for good.

    The model is asked only about a cluster that has ``grown``; otherwise what it taught before stays.
    """
    taught = await _taught(work, cluster, kind, accounts, ask=grown)
    where = Filter(kinds=("reflection",), states=None, tags_any=(TAG,), metadata={"kind": kind})
    known = await work.draft.scan(scoped.scope, where)
    held = {memory.key: memory for memory in known.items if memory.user == scoped.scope.user}
    writes: list[Write] = []
    for subject, (content, body, episodes) in taught.items():
        writes += _kept(work, scoped, kind, held.pop(_key(kind, subject), None), subject, content, body, episodes)
    asked = grown and work.model is not None and (kind, len(cluster.episodes)) in work.model.taught
    for old in held.values():
        if old.state == "active" and (asked or "model" not in old.body):
            writes.append(Update(old.id, {"state": "archived"}, old.version))
            work.notes.why[old.id] = (cluster.episodes[0].id, "more episodes do not bear it out")
    return writes


Taught = dict[str, tuple[str, Json, Sequence[str]]]
"""By subject: what is taught, its details, and the episodes that teach it."""


async def _taught(work: Work, cluster: Cluster, kind: str, accounts: Sequence[EpisodeAccount], *, ask: bool) -> Taught:
    taught: Taught = {}
    deeds = await shared_deeds(work.embed, accounts)
    for lesson in lessons_of(cases_of(accounts, deeds))[:_MOST]:
        body = {**_body(lesson), "terms": list(cluster.terms[:3])}
        taught[lesson.subject] = (lesson.statement, body, [*lesson.episodes, *lesson.against])
    for draft in await _by_model(work, cluster, kind, accounts) if ask else ():
        body = {"advice": draft.advice, "episodes": list(draft.episodes), "quote": draft.quote, "model": True}
        taught[f"model:{draft.statement.lower()}"] = (draft.statement, body, draft.episodes)
    noted = [e for e in cluster.episodes if e.outcome == "failed" and e.note.strip()]
    if noted:
        quoted = [" ".join(e.note.split())[:_NOTE] for e in noted[-_NOTED:]]
        ids = [e.id for e in noted]
        taught["noted"] = (f"Noted when it failed: {' | '.join(quoted)}", {"advice": "avoid", "episodes": ids}, ids)
    return taught


async def _by_model(
    work: Work, cluster: Cluster, kind: str, accounts: Sequence[EpisodeAccount]
) -> Sequence[LessonDraft]:
    """Return the lessons that the model draws from some episodes, each with words of an episode that show it.

    Answers are kept for the run, so that a stage that is retried does not ask again.
    """
    model, asked = work.model, (kind, len(cluster.episodes))
    if model is None or model.teacher is None:
        return ()
    if asked not in model.taught:
        try:
            drafts = await model.ask(partial(model.teacher.lessons, cluster.label, narrate_latest(accounts)))
        except UnusableAnswer as unusable:
            work.notes.failed = str(unusable)
            return ()
        if drafts is None:
            return ()
        model.taught[asked] = drafts
    return model.taught[asked]


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
