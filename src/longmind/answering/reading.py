"""From what was read in passages to an answer: the best words, a list of them, a date, a number, or yes and no."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from longmind.answering.passages import Passage, SpokenText
from longmind.answering.people import asked_person, is_about, with_names
from longmind.answering.times import duration_in, number_in, times_in, vague_time
from longmind.models.span_reader import Reading
from longmind.text.analysis import STOP_WORDS, stem, terms, words
from longmind.text.dates import format_day
from longmind.text.questions import QuestionForm
from longmind.text.sentences import Sentence, sentences

RECALL = 4.0
"""How much the score of recall counts beside the reader's, in the reader's units."""
ABOUT = 2.0
"""How much it counts that the words are about the person that is asked about, or about somebody else."""
BESIDE = 0.5
"""What words lose that stand in a turn beside the recalled one."""
FITS = 2.0
"""How much it counts that the words are of the kind that is asked for: a time, a number."""
LISTED = 4.0
"""How much worse than the best an item of a list may be."""
MOST_ITEMS = 6
"""The most items of a list."""
SLOPE, OFFSET = 0.35, -0.3
"""The confidence is 1 / (1 + exp(-(SLOPE * value + OFFSET))); fitted on conversations that nothing is reported on."""
_NEGATED = re.compile(
    r"\b(?:not|never|no longer|no|none|nobody|nothing|neither|nor|without|\w+n['’]t|cannot)\b", re.IGNORECASE
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


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before it is given out: its items, each with the words it rests on, and how sure it is."""

    text: str
    items: tuple[tuple[str, Candidate], ...]
    confidence: float


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
    candidates = sorted(_candidates(question, form, passages, readings, asker), key=lambda each: -each.value)
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
    return compose(question, candidates)


def _candidates(
    question: str,
    form: QuestionForm,
    passages: Sequence[Passage],
    readings: Sequence[Reading],
    asker: str | None,
) -> Iterable[Candidate]:
    speakers = frozenset(text.speaker for passage in passages for text in passage.texts if text.speaker)
    person = asked_person(form, speakers, asker)
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
            value = span.score - reading.none + RECALL * passage.score
            value -= BESIDE if span.text != passage.main else 0.0
            sentence = sentence_at(source.content, start)
            if person is not None:
                value += ABOUT * is_about(person, source.speaker, sentence.text, question)
            value += FITS * _fits(form, source, start, end)
            listener = next((name for name in sorted(speakers) if name != source.speaker), None)
            yield Candidate(source, listener if len(speakers) == 2 else None, start, end, value, named)


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
        if any(a < end and b > start for a, b, _ in times_in(source.content, source.said_at)):
            return 1.0
        return 0.5 if times_in(sentence.text, source.said_at) else 0.0
    if form.kind == "duration":
        return 1.0 if duration_in(text) else 0.0
    if form.kind == "count":
        return 1.0 if number_in(text) else 0.0
    return 0.0


def confidence_of(value: float) -> float:
    """Return how likely an answer of this value is right."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, SLOPE * value + OFFSET))))


def _one(question: str, candidates: Sequence[Candidate]) -> Draft:
    best = candidates[0]
    return Draft(best.answer, ((best.answer, best),), confidence_of(best.value))


def _list(question: str, candidates: Sequence[Candidate]) -> Draft:
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
    return Draft(", ".join(text for text, _ in items), tuple(items), confidence_of(candidates[0].value))


def _time(question: str, candidates: Sequence[Candidate]) -> Draft:
    """Answer with the time that the best words name, or else with the day on which it was told."""
    best = candidates[0]
    source, sentence = best.source, best.sentence
    inside = [(s, e, t) for s, e, t in times_in(source.content, source.said_at) if s < best.end and e > best.start]
    beside = [
        (s + sentence.start, e + sentence.start, t) for s, e, t in times_in(sentence.text, source.said_at)
    ] or times_in(source.content, source.said_at)
    for start, end, text in [*inside, *beside]:
        candidate = Candidate(source, best.listener, start, end, best.value)
        return Draft(text, ((text, candidate),), confidence_of(best.value))
    text = vague_time(best.words, source.said_at) or format_day(source.said_at)
    return Draft(text, ((text, best),), confidence_of(best.value))


def _duration(question: str, candidates: Sequence[Candidate]) -> Draft:
    return _narrowed(question, candidates, duration_in)


def _count(question: str, candidates: Sequence[Candidate]) -> Draft:
    return _narrowed(question, candidates, number_in)


def _narrowed(question: str, candidates: Sequence[Candidate], find: Callable[[str], tuple[int, int] | None]) -> Draft:
    """Answer with the number or length of time in the best words that hold one."""
    for candidate in candidates[:5]:
        if place := find(candidate.words):
            narrowed = Candidate(
                candidate.source,
                candidate.listener,
                candidate.start + place[0],
                candidate.start + place[1],
                candidate.value,
            )
            return _one(question, [narrowed])
    return _one(question, candidates)


def _yes_or_no(question: str, candidates: Sequence[Candidate]) -> Draft:
    """Answer yes if the best sentence affirms what is asked, and no if one of the two denies it."""
    best = candidates[0]
    denied = bool(_NEGATED.search(best.sentence.text)) != bool(_NEGATED.search(question))
    sentence = best.sentence
    whole = Candidate(best.source, best.listener, sentence.start, sentence.start + len(sentence.text), best.value)
    text = "No" if denied else "Yes"
    return Draft(text, ((text, whole),), confidence_of(best.value))
