"""Extraction with a language model: what it says counts only where it quotes what is really in the text.

The model is asked for triples with a quote each. A triple whose quote is not in its source, or whose subject or object
nobody mentions, is refused and counted; the text itself is data for it, never an instruction. What was recalled, and
what an unnamed assistant said, is not shown to it at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Protocol

from pydantic import Field, create_model

from longmind.consolidate.claims import Claim
from longmind.consolidate.extract import MAX_TEXT, is_source, speaker_of
from longmind.consolidate.model_part import Answered, ModelPart, Unusable
from longmind.consolidate.work import Work
from longmind.models import prompts
from longmind.models.quotes import quotes
from longmind.text.analysis import STOP_WORDS, stem, words
from longmind.types import Memory, Model, Unit

if TYPE_CHECKING:
    from longmind.models.chat import Chat

PROMPTS = "longmind.consolidate.prompts"
_AT_ONCE = 20
"""Passages that one request is about, at most."""
_CHARS_AT_ONCE = 16_000
_PASSAGE = 4_000
"""Characters of one passage; a longer text is several."""
_TOKENS_A_FACT = 180
"""Room for a fact whose every field is as long as it may be, so that an answer held to the schema never breaks off."""
_CHARS_A_FACT = 400
"""One fact for so many characters of text, beside one for each text, is as many as a model may list."""
_SPEAKER = frozenset({"i", "me", "my", "speaker", "the speaker", "user", "the user"})


class Triple(Model):
    """A fact as a model tells it."""

    subject: str = Field(min_length=1, max_length=60)
    predicate: str = Field(min_length=1, max_length=40)
    object: str = Field(min_length=1, max_length=100)
    quote: str = Field(max_length=200)
    """The words of the text that say so, letter by letter."""
    text: int = Field(ge=0)
    """The number of the text it is in."""
    confidence: Unit = 0.7
    single: bool = False
    """Whether there can be only one such value at a time."""


class Triples(Model):
    """What a model found in some texts."""

    facts: tuple[Triple, ...] = ()


@lru_cache(maxsize=256)
def triples_of(most: int) -> type[Triples]:
    """``Triples`` of at most so many facts: a weak model would go on for as long as it may."""
    return create_model("Triples", __base__=Triples, facts=(tuple[Triple, ...], Field(default=(), max_length=most)))


class Text(Model):
    """A text for a model: who speaks, when, and what was said."""

    number: int
    speaker: str | None
    date: str
    content: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The facts a model found, which model it was, and the prompts it was asked with."""

    facts: tuple[Triple, ...] = ()
    model: str = ""
    prompts: tuple[str, ...] = ()


class Extractor(Protocol):
    """Something that finds facts in texts, such as a language model. One call is one request."""

    async def extract(self, texts: Sequence[Text]) -> Reading: ...


class ChatExtractor:
    """An extractor that asks a language model."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    async def extract(self, texts: Sequence[Text]) -> Reading:
        prompt = prompts.load("extract", PROMPTS)
        messages = [{"role": "system", "content": prompt.fill()}, {"role": "user", "content": shown(texts)}]
        most = 2 + len(texts) + sum(len(text.content) for text in texts) // _CHARS_A_FACT
        made = await self._chat.structured(
            messages, triples_of(most), max_tokens=_TOKENS_A_FACT * most, temperature=0.0, prompts=[prompt.id]
        )
        return Reading(made.value.facts, self._chat.name, made.prompts)


@dataclass(frozen=True, slots=True)
class ModelClaim(Claim):
    """A claim of a model, with what has to be recorded of how it came about."""

    model: str = ""
    prompts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a memory that one speaker said, and where in the memory it begins."""

    memory: Memory
    start: int
    text: str
    speaker: str | None

    def shown(self, number: int) -> Text:
        return Text(number=number, speaker=self.speaker, date=f"{self.memory.occurred_at:%Y-%m-%d}", content=self.text)


async def ask(work: Work) -> list[tuple[Memory, Claim]]:
    """The claims that the model finds in what it should read, as far as it comes in this run."""
    part = work.model
    if part is None or part.extractor is None:
        return []
    sources = [memory for memory in work.sources if memory.id in part.wanted and is_source(memory)]
    await _read(part, [memory for memory in sources if memory.id not in part.read])
    answers = [part.read[memory.id] for memory in sources if memory.id in part.read]
    for answer in answers:
        work.notes.rejected.update(answer.rejected)
    if part.stopped is not None and len(answers) < len(sources):
        work.notes.failed = part.stopped.why
    return [one for answer in answers for one in answer.found]


async def _read(part: ModelPart, sources: Sequence[Memory]) -> None:
    """Let the model read these memories; each is in ``part.read`` once all of it was read."""
    assert part.extractor is not None
    extractor = part.extractor
    todo = [passage for memory in sources for passage in passages(memory)]
    answers = {memory.id: Answered() for memory in sources}
    place, size = 0, _AT_ONCE
    while place < len(todo):
        some = _fitting(todo[place : place + size])
        texts = [passage.shown(number) for number, passage in enumerate(some)]
        try:
            reading = await part.ask(partial(extractor.extract, texts))
        except Unusable as error:
            if error.smaller and len(some) > 1:
                size = len(some) // 2
                continue
            answers[some[0].memory.id].rejected["answer"] += 1
        else:
            if reading is None:
                break
            _take(reading, some, answers)
        place += len(some)
    unread = {passage.memory.id for passage in todo[place:]}
    part.read.update({id: answer for id, answer in answers.items() if id not in unread})


def _take(reading: Reading, some: Sequence[Passage], answers: dict[str, Answered]) -> None:
    mentioned = terms_of(" ".join((*(p.text for p in some), *(p.speaker or "" for p in some))))
    for triple in reading.facts:
        place = place_of(triple.quote, triple.text, [passage.text for passage in some])
        if place is None:
            answers[some[0].memory.id].rejected["quote"] += 1
            continue
        passage = some[place[0]]
        claim = _claim(triple, passage, place[1], reading)
        if _supported(claim, passage, mentioned):
            answers[passage.memory.id].found.append((passage.memory, claim))
        else:
            answers[passage.memory.id].rejected["unsupported"] += 1


def place_of(quote: str, number: int, texts: Sequence[str]) -> tuple[int, tuple[int, int]] | None:
    """The text that a quote is in, and where: the one that was named, or else the only one that has it."""
    if number < len(texts) and (span := quotes(texts[number], quote)) is not None:
        return number, span
    found = [(n, span) for n, text in enumerate(texts) if (span := quotes(text, quote)) is not None]
    return found[0] if len(found) == 1 else None


def _claim(triple: Triple, passage: Passage, span: tuple[int, int], reading: Reading) -> ModelClaim:
    speaks = passage.speaker is not None and triple.subject.strip().casefold() in _SPEAKER
    return ModelClaim(
        passage.speaker or triple.subject if speaks else triple.subject,
        triple.predicate,
        triple.object,
        (span[0] + passage.start, span[1] + passage.start),
        min(triple.confidence, 0.9),
        f"model {reading.model}",
        many=not triple.single,
        model=reading.model,
        prompts=reading.prompts,
    )


def _supported(claim: Claim, passage: Passage, mentioned: frozenset[str]) -> bool:
    """Whether the object is named in the text, and the subject in it or near it: a real quote proves neither."""
    own = terms_of(passage.text)
    return bool(terms_of(claim.object) & own) and bool(terms_of(claim.subject) & mentioned)


def terms_of(text: str) -> frozenset[str]:
    """The words by which one text can be found in another; those of everything only if there are no others."""
    found = words(text)
    return frozenset(stem(word) for word in found if word not in STOP_WORDS) or frozenset(found)


def passages(memory: Memory) -> list[Passage]:
    """The pieces of a memory that may be evidence, each of its own speaker; an unnamed assistant's are left out."""
    if memory.kind != "page":
        return list(_pieces(memory, 0, memory.content[:MAX_TEXT], speaker_of(memory)))
    found: list[Passage] = []
    at = 0
    for turn in memory.body.get("turns", ()):
        text = turn.get("text", "")
        place = memory.content.find(text, at) if text else -1
        if place < 0:
            continue
        at = place + len(text)
        if turn.get("role") != "assistant" or turn.get("name"):
            found += _pieces(memory, place, text, turn.get("name") or speaker_of(memory))
    return found


def _pieces(memory: Memory, start: int, text: str, speaker: str | None) -> Iterable[Passage]:
    """A text in pieces that end between two words."""
    at = 0
    while at < len(text):
        end = at + _PASSAGE
        if end < len(text):
            end = max(text.rfind(" ", at + _PASSAGE // 2, end), text.rfind("\n", at + _PASSAGE // 2, end)) + 1 or end
        yield Passage(memory, start + at, text[at:end], speaker)
        at = end


def _fitting(some: Sequence[Passage]) -> Sequence[Passage]:
    """As many of these as fit into one request, one at least."""
    chars = 0
    for number, passage in enumerate(some):
        chars += len(passage.text)
        if number and chars > _CHARS_AT_ONCE:
            return some[:number]
    return some


def shown(texts: Iterable[Text]) -> str:
    """Texts as a model reads them."""
    return json.dumps([text.model_dump() for text in texts], ensure_ascii=False)
