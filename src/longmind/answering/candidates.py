"""Words that may answer a question: the spans that were read, with how good each is, all things together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from longmind.answering.passages import Passage, SpokenText
from longmind.answering.people import asked_person, is_about, named_speaker, with_names
from longmind.answering.times import duration_in, number_in, times_in
from longmind.models.span_reader import Reading
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


def sentence_at(content: str, start: int) -> Sentence:
    """Return the sentence that a place of a text lies in; the whole text if it lies in none."""
    best = Sentence(content, 0, False)
    for sentence in sentences(content):
        if sentence.start > start:
            break
        best = sentence
    return best


def find_candidates(
    question: str,
    form: QuestionForm,
    passages: Sequence[Passage],
    readings: Sequence[Reading],
    asker: str | None,
) -> list[Candidate]:
    """Return the words that were read as candidates, the best first."""
    candidates = _candidates(question, form, passages, readings, asker)
    return sorted(candidates, key=lambda each: -each.value)


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
    asked_speakers = {named_speaker(name, speakers) for name in form.names} - {None}
    of_both = len(asked_speakers) > 1
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
            if named is None and _only_addresses(source.content, start, end, speakers):
                continue
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
                    of_both=of_both,
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


def _only_addresses(content: str, start: int, end: int, speakers: Iterable[str]) -> bool:
    """Return whether words are nothing but the name of who is spoken to, as in "Ana, I have news" or "Thanks, Ana!"."""
    name = content[start:end].casefold()
    if not any(name in (speaker.casefold(), speaker.casefold().split()[0]) for speaker in speakers):
        return False
    before, after = content[:start].rstrip(), content[end:].lstrip()
    alone = not before or before[-1] in ",.!?" or len(before.split()) == 1
    return alone and (not after or after[0] in ",.!?")


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
