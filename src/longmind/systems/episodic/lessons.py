"""Lessons for a task: what distinguishes episodes that succeeded from those that failed, by statistics or a model."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from longmind.errors import InvalidInput
from longmind.systems.episodic import reading
from longmind.systems.episodic.deeds import described_call, shared_deeds
from longmind.systems.episodic.models import Account, Episode, Event, Lesson, LessonDraft, Lessons, Remark, Teacher
from longmind.systems.episodic.narrative import narrate
from longmind.systems.scoped_store import ScopedStore

_EVENTS = 200
"""The most events of one episode that are read."""
_ACCOUNTS = 20
"""The most accounts that a model reads, and the longest one in characters."""
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
    """Return the lessons from the episodes relevant to a task."""
    if not task.strip():
        raise InvalidInput("Lessons need a task.", hint="Say in a few words what is to be done.")
    if not 0 <= relevance <= 1 or not 0 <= confidence <= 1 or support < 1 or episodes < 1:
        raise InvalidInput("Relevance and confidence run from 0 to 1, and the counts from 1.")
    relevant = await _relevant(scoped, task, episodes, relevance)
    deeds = await shared_deeds(scoped.embed, relevant)
    by_statistics = lessons_of(cases_of(relevant, deeds), confidence=confidence, support=support)
    by_model, rejected = await _lessons_by_model(task, relevant, teacher)
    won = sum(episode.outcome == "succeeded" for episode, _ in relevant)
    return Lessons(
        task=task,
        considered=tuple(episode.id for episode, _ in relevant),
        succeeded=won,
        failed=len(relevant) - won,
        lessons=(*by_model, *by_statistics),
        remarks=tuple(_remarks([episode for episode, _ in relevant])),
        rejected=rejected,
    )


async def _relevant(scoped: ScopedStore, task: str, most: int, relevance: float) -> list[tuple[Episode, list[Event]]]:
    """Return the relevant episodes with a known outcome and their events, the most relevant first."""
    hits = await reading.search(scoped, task, k=min(2 * most, 300), type=None, outcome=None, since=None, until=None)
    floor = relevance * hits[0].score if hits else 0.0
    ended = [h.episode for h in hits if h.score >= floor and h.episode.outcome != "unknown" and not h.episode.open]
    return [(e, [event async for event in reading.iterate_events(scoped, e.id, limit=_EVENTS)]) for e in ended[:most]]


async def _lessons_by_model(
    task: str, relevant: Sequence[tuple[Episode, Sequence[Event]]], teacher: Teacher | None
) -> tuple[list[Lesson], int]:
    """Return the model's lessons that quote an episode they cite correctly, and how many did not."""
    if teacher is None or not relevant:
        return [], 0
    accounts = [
        Account(episode=episode, text=narrate(episode, events, "full")[:_ACCOUNT_CHARS])
        for episode, events in relevant[:_ACCOUNTS]
    ]
    drafts = await teacher.lessons(task, accounts)
    texts = {account.episode.id: account.text for account in accounts}
    kept = [draft for draft in drafts if _holds(draft, texts)]
    return [_by_model(draft) for draft in kept], len(drafts) - len(kept)


def _holds(draft: LessonDraft, texts: dict[str, str]) -> bool:
    return all(id in texts for id in draft.episodes) and any(draft.quote in texts[id] for id in draft.episodes)


def _by_model(draft: LessonDraft) -> Lesson:
    return Lesson(
        statement=draft.statement,
        subject="model",
        advice=draft.advice,
        confidence=draft.confidence,
        episodes=draft.episodes,
        by_model=True,
    )


def _remarks(episodes: Sequence[Episode]) -> list[Remark]:
    """Return the notes on the episodes' outcomes, those of failed episodes first."""
    noted = [e for e in episodes if e.note]
    ordered = [e for e in noted if e.outcome == "failed"] + [e for e in noted if e.outcome == "succeeded"]
    return [Remark(episode=e.id, title=e.title, outcome=e.outcome, note=e.note) for e in ordered[:_REMARKS]]


MAX_TEXT = 60
"""The longest text in an event's data that is compared as a value between episodes."""
_FEW = 3
"""A number with more distinct values than this is split at its median instead of being compared value by value."""
_ORDER = ("call", "event", "data", "attribute", "actor", "tag", "type", "deed")
_OF_CALL = frozenset({"tool", "args", "ok", "result", "error", "thought", "truncated"})
"""What is recorded of a call beside other data: the call itself is compared, and how it came out is no choice."""
_SURE_OF_DEEDS = 0.95
"""The least confidence of a lesson from free text: there are many statements to compare, and some differ by chance."""


@dataclass(frozen=True, slots=True)
class Case:
    """One episode that ended: whether it succeeded, and its traits."""

    id: str
    succeeded: bool
    traits: frozenset[str]


def cases_of(accounts: Sequence[tuple[Episode, Sequence[Event]]], deeds: Sequence[Collection[str]] = ()) -> list[Case]:
    """Return the episodes as cases. Numbers are divided at the median over all of them.

    ``deeds`` are what was done in each episode, as ``shared_deeds`` finds it in free text.
    """
    plain = [_plain_traits(episode, events) for episode, events in accounts]
    for traits, done in zip(plain, deeds, strict=False):
        traits |= {f"deed:{deed}" for deed in done}
    numbers = [_numbers(episode, events) for episode, events in accounts]
    values: defaultdict[str, list[float]] = defaultdict(list)
    for by_name in numbers:
        for name, value in by_name.items():
            values[name].append(value)
    cases = []
    for (episode, _), traits, own in zip(accounts, plain, numbers, strict=True):
        halves = {_half(name, value, values[name]) for name, value in own.items()}
        cases.append(Case(episode.id, episode.outcome == "succeeded", frozenset(traits | halves)))
    return cases


def lessons_of(cases: Sequence[Case], *, confidence: float = 0.8, support: int = 2) -> list[Lesson]:
    """Return the traits that distinguish success from failure, the surest first.

    Traits that always occur together become one lesson, and so do two traits of which every episode has exactly one.
    Traits of fewer than ``support`` episodes, or of all episodes, are left out.
    """
    holders: defaultdict[frozenset[str], list[str]] = defaultdict(list)
    for trait in sorted({t for case in cases for t in case.traits}, key=_rank):
        holders[frozenset(c.id for c in cases if trait in c.traits)].append(trait)
    everyone = frozenset(case.id for case in cases)
    lessons, covered = [], set[frozenset[str]]()
    for ids, traits in holders.items():
        if support <= len(ids) < len(cases) and everyone - ids not in covered:
            covered.add(ids)
            lesson = _lesson(traits, [c for c in cases if c.id in ids], [c for c in cases if c.id not in ids])
            least = max(confidence, _SURE_OF_DEEDS) if traits[0].startswith("deed:") else confidence
            if lesson is not None and lesson.confidence >= least:
                lessons.append(lesson)
    return sorted(lessons, key=lambda lesson: (-lesson.confidence, _rank(lesson.subject)))


def _lesson(traits: Sequence[str], having: Sequence[Case], lacking: Sequence[Case]) -> Lesson | None:
    a, b = _split(having)
    c, d = _split(lacking)
    if not (a + c) or not (b + d):
        return None  # all had the same outcome, so there is nothing to compare
    odds = (a + 0.5) * (d + 0.5) / ((b + 0.5) * (c + 0.5))
    error = math.sqrt(sum(1 / (n + 0.5) for n in (a, b, c, d)))
    helps = odds > 1
    overall = (a + c) / (a + b + c + d)
    agreeing = [x.id for x in having if x.succeeded == helps] + [x.id for x in lacking if x.succeeded != helps]
    opposing = [x.id for x in having if x.succeeded != helps] + [x.id for x in lacking if x.succeeded == helps]
    return Lesson(
        statement=_statement(traits, a, a + b, c, c + d),
        subject=traits[0],
        advice="do" if helps else "avoid",
        succeeded_with=a,
        failed_with=b,
        succeeded_without=c,
        failed_without=d,
        lift=round(a / (a + b) / overall, 4),
        odds_ratio=round(odds, 4),
        confidence=round(_normal(abs(math.log(odds)) / error), 4),
        episodes=tuple(agreeing),
        against=tuple(opposing),
    )


def _split(cases: Iterable[Case]) -> tuple[int, int]:
    outcomes = [case.succeeded for case in cases]
    return sum(outcomes), len(outcomes) - sum(outcomes)


def _normal(z: float) -> float:
    """Return the share of a standard normal distribution below z."""
    return 0.5 * (1 + math.erf(z / math.sqrt(2)))


def _statement(traits: Sequence[str], won: int, of: int, won_without: int, of_without: int) -> str:
    together = f" (always with {', '.join(map(_named, traits[1:3]))})" if len(traits) > 1 else ""
    return f"With {_named(traits[0])}{together}, {won} of {of} succeeded; without, {won_without} of {of_without}."


def _named(trait: str) -> str:
    sort, _, value = trait.partition(":")
    return {
        "call": f"{value}",
        "event": f"an event “{value}”",
        "data": f"{value}",
        "attribute": f"{value}",
        "actor": f"{value} acting",
        "tag": f"the tag “{value}”",
        "type": f"the type “{value}”",
        "deed": f"“{value}”",
    }[sort]


def _rank(trait: str) -> tuple[int, str]:
    return _ORDER.index(trait.partition(":")[0]), trait


def _plain_traits(episode: Episode, events: Sequence[Event]) -> set[str]:
    traits = {f"type:{episode.type}"} | {f"tag:{tag}" for tag in episode.tags}
    traits |= {f"attribute:{pair}" for pair in _pairs(episode.attributes)}
    for event in events:
        traits.add(f"event:{event.type}")
        if event.actor:
            traits.add(f"actor:{event.actor}")
        call = described_call(event)
        if call is not None:
            traits.add(f"call:{call}")
        data = event.data if call is None else {n: v for n, v in event.data.items() if n not in _OF_CALL}
        traits |= {f"data:{pair}" for pair in _pairs(data)}
    return traits


def _pairs(data: Mapping[str, Any]) -> Iterable[str]:
    for name, value in data.items():
        if isinstance(value, bool):
            yield f"{name}={str(value).lower()}"
        elif isinstance(value, str) and 0 < len(value) <= MAX_TEXT:
            yield f"{name}={value}"


def _numbers(episode: Episode, events: Sequence[Event]) -> dict[str, float]:
    """Return the numbers of an episode; a number in several events is averaged."""
    values_by_name: defaultdict[str, list[float]] = defaultdict(list)
    for sort, data in [("attribute", episode.attributes), *(("data", event.data) for event in events)]:
        for name, value in data.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                values_by_name[f"{sort}:{name}"].append(float(value))
    return {name: sum(values) / len(values) for name, values in values_by_name.items()}


def _half(name: str, value: float, all_values: Sequence[float]) -> str:
    if len(set(all_values)) <= _FEW:
        return f"{name}={value:g}"
    middle = median(all_values)
    return f"{name}>={middle:g}" if value >= middle else f"{name}<{middle:g}"
