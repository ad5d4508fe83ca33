"""Lessons for a task: the episodes that bear on it, contrasted; by a model as well if there is one."""

from __future__ import annotations

from collections.abc import Sequence

from longmind.errors import InvalidInput
from longmind.systems.episodic import reading
from longmind.systems.episodic.contrast import cases_of, lessons_of
from longmind.systems.episodic.models import Account, Draft, Episode, Event, Lesson, Lessons, Remark, Teacher
from longmind.systems.episodic.narrative import narrate
from longmind.systems.scoped_store import ScopedStore

_EVENTS = 200
"""Events of one episode that are looked at."""
_ACCOUNTS = 20
"""Accounts that a model reads, and how long each may be."""
_ACCOUNT_CHARS = 4_000
_REMARKS = 10


async def lessons(
    scoped: ScopedStore,
    task: str,
    *,
    episodes: int,
    relevance: float,
    confidence: float,
    support: int,
    teacher: Teacher | None,
) -> Lessons:
    """What the episodes relevant to a task teach."""
    if not task.strip():
        raise InvalidInput("Lessons need a task.", hint="Say in a few words what is to be done.")
    if not 0 <= relevance <= 1 or not 0 <= confidence <= 1 or support < 1 or episodes < 1:
        raise InvalidInput("Relevance and confidence run from 0 to 1, and the counts from 1.")
    told = await _relevant(scoped, task, episodes, relevance)
    found = lessons_of(cases_of(told), confidence=confidence, support=support)
    by_model, rejected = await _taught(task, told, teacher)
    won = sum(episode.outcome == "succeeded" for episode, _ in told)
    return Lessons(
        task=task,
        considered=tuple(episode.id for episode, _ in told),
        succeeded=won,
        failed=len(told) - won,
        lessons=(*by_model, *found),
        remarks=tuple(_remarks([episode for episode, _ in told])),
        rejected=rejected,
    )


async def _relevant(scoped: ScopedStore, task: str, most: int, relevance: float) -> list[tuple[Episode, list[Event]]]:
    """Episodes that bear on the task and whose outcome is known, the most relevant first, with their events."""
    hits = await reading.search(scoped, task, k=min(2 * most, 300), type=None, outcome=None, since=None, until=None)
    floor = relevance * hits[0].score if hits else 0.0
    ended = [h.episode for h in hits if h.score >= floor and h.episode.outcome != "unknown" and not h.episode.open]
    return [(e, [event async for event in reading.events_of(scoped, e.id, limit=_EVENTS)]) for e in ended[:most]]


async def _taught(
    task: str, told: Sequence[tuple[Episode, Sequence[Event]]], teacher: Teacher | None
) -> tuple[list[Lesson], int]:
    """The lessons of a model that quote what really stands in an episode they cite, and how many did not."""
    if teacher is None or not told:
        return [], 0
    accounts = [
        Account(episode=episode, text=narrate(episode, events, "full")[:_ACCOUNT_CHARS])
        for episode, events in told[:_ACCOUNTS]
    ]
    drafts = await teacher.lessons(task, accounts)
    texts = {account.episode.id: account.text for account in accounts}
    kept = [draft for draft in drafts if _holds(draft, texts)]
    return [_by_model(draft) for draft in kept], len(drafts) - len(kept)


def _holds(draft: Draft, texts: dict[str, str]) -> bool:
    return all(id in texts for id in draft.episodes) and any(draft.quote in texts[id] for id in draft.episodes)


def _by_model(draft: Draft) -> Lesson:
    return Lesson(
        statement=draft.statement,
        subject="model",
        advice=draft.advice,
        confidence=draft.confidence,
        episodes=draft.episodes,
        by_model=True,
    )


def _remarks(episodes: Sequence[Episode]) -> list[Remark]:
    """What was noted at the end: first of those that failed, for they say what to look out for."""
    noted = [e for e in episodes if e.note]
    ordered = [e for e in noted if e.outcome == "failed"] + [e for e in noted if e.outcome == "succeeded"]
    return [Remark(episode=e.id, title=e.title, outcome=e.outcome, note=e.note) for e in ordered[:_REMARKS]]
