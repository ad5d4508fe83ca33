"""The answer that candidates make, by the kind of question: words, a list, a time, a number, yes or no, a choice."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from longmind.answering.candidates import Candidate
from longmind.answering.times import (
    cardinal,
    counted_in,
    duration_in,
    in_unit_asked,
    number_in,
    times_in,
    told_on,
    vague_time,
)
from longmind.text.analysis import STOP_WORDS, stem, terms, words
from longmind.text.questions import QuestionForm

LISTED = 7.0
"""How much worse than the best an item of a list may be."""
MOST_ITEMS = 6
"""The most items of a list."""
LOOKED_AT = 5
"""How many candidates are searched for a number, a length of time, or one of two alternatives."""
_NEGATED = re.compile(
    r"\b(?:not|never|no longer|no|none|nobody|nothing|neither|nor|without|\w+n['’]t|cannot)\b",
    re.IGNORECASE,
)
_OR_NOT = re.compile(r"\bor (?:not|no)\b", re.IGNORECASE)
Composed = tuple[str, list[tuple[str, Candidate]]]
"""The text of an answer, and its items with the words each rests on."""


def compose(question: str, form: QuestionForm, candidates: Sequence[Candidate]) -> Composed:
    """Return the answer that candidates make; they are not empty, and the best is first."""
    if form.kind == "choice":
        return _choice(question, form.options, candidates)
    by_kind = {
        "time": _time,
        "duration": _duration,
        "count": _count,
        "yes or no": _yes_or_no,
        "list": _list,
        "one": _one,
    }
    return by_kind[form.kind](question, candidates)


def _one(question: str, candidates: Sequence[Candidate]) -> Composed:
    best = candidates[0]
    return best.answer, [(best.answer, best)]


def _list(question: str, candidates: Sequence[Candidate]) -> Composed:
    """Gather what different memories say, the best first, without saying a thing twice."""
    asked = set(terms(question))
    items: list[tuple[str, Candidate]] = []
    taken: list[set[str]] = []
    per_memory: dict[str, int] = {}
    for candidate in candidates:
        if candidate.value < candidates[0].value - LISTED or len(items) == MOST_ITEMS:
            break
        content = {stem(word) for word in words(candidate.answer) if word not in STOP_WORDS} - asked
        if not content or any(len(content & other) * 2 > min(len(content), len(other)) for other in taken):
            continue
        if per_memory.get(candidate.source.memory.id, 0) == 2:
            continue
        per_memory[candidate.source.memory.id] = per_memory.get(candidate.source.memory.id, 0) + 1
        taken.append(content)
        items.append((candidate.answer, candidate))
    if not items:
        return _one(question, candidates)
    return ", ".join(text for text, _ in items), items


def _time(question: str, candidates: Sequence[Candidate]) -> Composed:
    """Answer with the time that the best words name, or else with the day on which it was told."""
    best = candidates[0]
    source, sentence = best.source, best.sentence
    inside = [
        time for time in times_in(source.content, source.said_at) if time.start < best.end and time.end > best.start
    ]
    beside = [time.moved(sentence.start) for time in times_in(sentence.text, source.said_at)]
    for time in [*inside, *beside, *times_in(source.content, source.said_at)]:
        text = in_unit_asked(question, time)
        return text, [(text, replace(best, start=time.start, end=time.end))]
    text = vague_time(best.words, source.said_at) or in_unit_asked(question, told_on(source.said_at))
    return text, [(text, best)]


def _duration(question: str, candidates: Sequence[Candidate]) -> Composed:
    return _narrowed(question, candidates, duration_in)


def _count(question: str, candidates: Sequence[Candidate]) -> Composed:
    """Answer with the number of what is counted, or else with a number in the best words.

    Of "my third race" and "my fourth race" the higher one says how many there were.
    """
    counted = []
    for candidate in candidates[: 2 * LOOKED_AT]:
        sentence = candidate.sentence
        if number := counted_in(question, sentence.text):
            start, end = (sentence.start + place for place in (number.start, number.end))
            counted.append((number, replace(candidate, start=start, end=end)))
    if counted:
        ordinals = [pair for pair in counted if pair[0].ordinal]
        number, candidate = max(ordinals, key=lambda pair: pair[0].value) if ordinals else counted[0]
        return number.text, [(number.text, candidate)]
    text, items = _narrowed(question, candidates, number_in)
    return cardinal(text), items


def _narrowed(
    question: str,
    candidates: Sequence[Candidate],
    find: Callable[[str], tuple[int, int] | None],
) -> Composed:
    """Answer with the number or length of time in the best words that hold one."""
    for candidate in candidates[:LOOKED_AT]:
        if place := find(candidate.words):
            start = candidate.start
            return _one(
                question,
                [replace(candidate, start=start + place[0], end=start + place[1])],
            )
    return _one(question, candidates)


def _yes_or_no(question: str, candidates: Sequence[Candidate]) -> Composed:
    """Answer yes if the best sentence affirms what is asked, and no if one of the two denies it."""
    best, sentence = candidates[0], candidates[0].sentence
    asks_for_no = _NEGATED.search(_OR_NOT.sub("", question))
    denied = bool(_NEGATED.search(sentence.text)) != bool(asks_for_no)
    text = "No" if denied else "Yes"
    return text, [
        (
            text,
            replace(best, start=sentence.start, end=sentence.start + len(sentence.text)),
        )
    ]


def _choice(question: str, options: Sequence[str], candidates: Sequence[Candidate]) -> Composed:
    """Answer with the alternative that the best sentence speaks of; with the other one if it denies it."""
    named = [set(terms(option)) for option in options]
    own = [mine - theirs for mine, theirs in zip(named, named[::-1], strict=True)]
    for candidate in candidates[:LOOKED_AT]:
        sentence = candidate.sentence
        said = set(terms(sentence.text))
        shares = [len(mine & said) / max(1, len(mine)) for mine in own]
        if shares[0] == shares[1]:
            continue
        place = shares.index(max(shares))
        text = options[1 - place if _NEGATED.search(sentence.text) else place]
        return text, [(text, replace(candidate, start=sentence.start, end=sentence.start + len(sentence.text)))]
    return _one(question, candidates)
