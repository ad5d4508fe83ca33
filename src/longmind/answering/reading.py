"""From what was read in passages to an answer: the best words, a list of them, a date, a number, or yes and no."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from longmind.answering.confidence import Signs, confidence_of, signs_of
from longmind.answering.passages import Passage, SpokenText
from longmind.answering.people import asked_person, is_about, with_names
from longmind.answering.times import (
    cardinal,
    duration_in,
    in_unit_asked,
    number_in,
    times_in,
    told_on,
    vague_time,
)
from longmind.models.span_reader import Reading
from longmind.text.analysis import STOP_WORDS, stem, terms, words
from longmind.text.questions import QuestionForm
from longmind.text.sentences import Sentence, sentences

RANK = 0.2
"""What words lose with each place that their memory stands lower among the hits of recall, in the reader's units."""
ABOUT = 2.0
"""How much it counts that the words are about the person that is asked about, or about somebody else."""
FITS = 2.0
"""How much it counts that the words are of the kind that is asked for: a time, a number."""
ASKS = 4.0
"""What words lose that stand in a question: it states nothing."""
LISTED = 7.0
"""How much worse than the best an item of a list may be."""
MOST_ITEMS = 6
"""The most items of a list."""
_NEGATED = re.compile(
    r"\b(?:not|never|no longer|no|none|nobody|nothing|neither|nor|without|\w+n['’]t|cannot)\b",
    re.IGNORECASE,
)
_EDGES = " \t\n,;:.!?\"“”'’()[]-–—"


@dataclass(frozen=True, slots=True)
class Candidate:
    """Words that may answer a question, and how good they are."""

    source: SpokenText
    listener: str | None
    start: int
    end: int
    value: float
    """How good they are, all things together."""
    read: float
    """The reader's score, less that of "no answer here"."""
    about: float | None
    """Whether they are about the person asked about; None if the question is about nobody who speaks."""
    passage: Passage
    named: str | None = None
    """The speaker, where that is the answer and not what was said."""

    @property
    def words(self) -> str:
        return self.source.content[self.start : self.end]

    @property
    def answer(self) -> str:
        """The words as an answer: with names in the place of pronouns."""
        return self.named or with_names(self.words, self.source.speaker, self.listener)

    @property
    def sentence(self) -> Sentence:
        """The sentence that the words stand in."""
        return sentence_at(self.source.content, self.start)


Composed = tuple[str, list[tuple[str, Candidate]]]
"""The text of an answer, and its items with the words each rests on."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before it is given out: its items, each with the words it rests on, and how sure it is."""

    text: str
    items: tuple[tuple[str, Candidate], ...]
    signs: Signs
    """What its confidence is computed from."""

    @property
    def confidence(self) -> float:
        return confidence_of(self.signs)


def sentence_at(content: str, start: int) -> Sentence:
    """Return the sentence that a place of a text lies in; the whole text if it lies in none."""
    best = Sentence(content, 0, False)
    for sentence in sentences(content):
        if sentence.start > start:
            break
        best = sentence
    return best


def draft_answer(
    question: str,
    form: QuestionForm,
    passages: Sequence[Passage],
    readings: Sequence[Reading],
    asker: str | None = None,
) -> Draft | None:
    """Return the best answer that was read; None if there are no words at all."""
    candidates = sorted(
        _candidates(question, form, passages, readings, asker),
        key=lambda each: -each.value,
    )
    if not candidates:
        return None
    compose = {
        "time": _time,
        "duration": _duration,
        "count": _count,
        "yes or no": _yes_or_no,
        "list": _list,
        "one": _one,
    }[form.kind]
    text, items = compose(question, candidates)
    return Draft(text, tuple(items), _signs(question, form, items[0][1], candidates))


def _signs(question: str, form: QuestionForm, best: Candidate, candidates: Sequence[Candidate]) -> Signs:
    named = {term for name in form.names for term in terms(name)}
    wanted = set(terms(question)) - named
    said = {term for text in best.passage.texts for term in terms(text.content)}
    return signs_of(
        form,
        read=best.read,
        about=best.about,
        others=max((each.read for each in candidates if (each.about or 0.0) < 0), default=-20.0),
        covered=len(wanted & said) / max(1, len(wanted)),
    )


def _candidates(
    question: str,
    form: QuestionForm,
    passages: Sequence[Passage],
    readings: Sequence[Reading],
    asker: str | None,
) -> Iterable[Candidate]:
    speakers = frozenset(text.speaker for passage in passages for text in passage.texts if text.speaker)
    person = asked_person(
        form,
        speakers,
        asker,
        (text.content for passage in passages for text in passage.texts),
    )
    seen: set[tuple[str, int, int]] = set()
    for passage, reading in zip(passages, readings, strict=True):
        for span in reading.spans:
            source = passage.texts[span.text]
            shift = len(source.prefix)
            start, end = _trimmed(source.content, max(0, span.start - shift), span.end - shift)
            named = source.speaker if span.end <= shift else None
            if named is not None:  # who speaks is the answer: the first sentence is the evidence
                start, end = _trimmed(source.content, 0, len(sentence_at(source.content, 0).text))
            if end <= start or (source.memory.id, start, end) in seen:
                continue  # nothing but marks
            seen.add((source.memory.id, start, end))
            read = span.score - reading.none
            sentence = sentence_at(source.content, start)
            about = (
                None
                if person is None
                else is_about(
                    person,
                    source.speaker,
                    sentence.text,
                    question,
                    speaks=person in speakers,
                )
            )
            value = read - RANK * passage.rank + ABOUT * (about or 0.0) + FITS * _fits(form, source, start, end)
            value -= ASKS if sentence.asks else 0.0
            listener = next((name for name in sorted(speakers) if name != source.speaker), None)
            yield Candidate(
                source,
                listener if len(speakers) == 2 else None,
                start,
                end,
                value,
                read,
                about,
                passage,
                named,
            )


def _trimmed(content: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without marks and blanks at its ends."""
    while start < end and content[start] in _EDGES:
        start += 1
    while end > start and content[end - 1] in _EDGES:
        end -= 1
    return start, end


def _fits(form: QuestionForm, source: SpokenText, start: int, end: int) -> float:
    """Return how well words are of the kind that is asked for, 0 to 1."""
    text = source.content[start:end]
    if form.kind == "time":
        sentence = sentence_at(source.content, start)
        if any(time.start < end and time.end > start for time in times_in(source.content, source.said_at)):
            return 1.0
        return 0.5 if times_in(sentence.text, source.said_at) else 0.0
    if form.kind == "duration":
        return 1.0 if duration_in(text) else 0.0
    if form.kind == "count":
        return 1.0 if number_in(text) else 0.0
    return 0.0


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
    text, items = _narrowed(question, candidates, number_in)
    return cardinal(text), items


def _narrowed(
    question: str,
    candidates: Sequence[Candidate],
    find: Callable[[str], tuple[int, int] | None],
) -> Composed:
    """Answer with the number or length of time in the best words that hold one."""
    for candidate in candidates[:5]:
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
    denied = bool(_NEGATED.search(sentence.text)) != bool(_NEGATED.search(question))
    text = "No" if denied else "Yes"
    return text, [
        (
            text,
            replace(best, start=sentence.start, end=sentence.start + len(sentence.text)),
        )
    ]
