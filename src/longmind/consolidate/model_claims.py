"""Claims that a language model finds in what was said, each with a quotation that is really there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from longmind.config import FactOrigin
from longmind.consolidate.model import (
    CheckedClaims,
    ExtractionAnswer,
    ModelCalls,
    PromptText,
    Triple,
    UnusableAnswer,
    content_terms,
    locate_quote,
)
from longmind.consolidate.rules.claims import Claim
from longmind.consolidate.rules.extraction import FACTS_FROM, MAX_TEXT, is_source, speaker_of, spoken_turns
from longmind.consolidate.work import Work
from longmind.types import MAX_FACTS, Memory

_PASSAGES_PER_REQUEST = 20
_CHARS_PER_REQUEST = 16_000
_CHARS_PER_PASSAGE = 4_000
_SPEAKER = frozenset({"i", "me", "my", "speaker", "the speaker", "user", "the user"})
"""The subjects by which a model means the speaker."""
SourcedClaim = tuple[Memory, Claim]


@dataclass(frozen=True, slots=True)
class ModelClaim(Claim):
    """A claim of a model, with the model and the prompts that are recorded with its fact."""

    model: str = ""
    prompts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SpokenPassage:
    """A piece of a memory that one speaker said, and where in the memory it begins."""

    memory: Memory
    start: int
    text: str
    speaker: str | None

    def prompt_text(self, number: int) -> PromptText:
        date = f"{self.memory.occurred_at:%Y-%m-%d}"
        return PromptText(number=number, speaker=self.speaker, date=date, content=self.text)


async def model_claims(work: Work) -> list[SourcedClaim]:
    """Return the claims that the model finds in what it should read, as far as it comes in this run."""
    model = work.model
    if model is None or model.extractor is None:
        return []
    facts_from = work.settings.facts_from
    sources = [memory for memory in work.sources if memory.id in model.wanted and is_source(memory, facts_from)]
    await _read(model, [memory for memory in sources if memory.id not in model.read], facts_from)
    answers = [model.read[memory.id] for memory in sources if memory.id in model.read]
    for answer in answers:
        work.notes.rejected.update(answer.rejected)
    if model.stopped is not None and len(answers) < len(sources):
        work.notes.failed = model.stopped.why
    return [sourced for answer in answers for sourced in answer.claims]


async def _read(model: ModelCalls, sources: Sequence[Memory], facts_from: Collection[FactOrigin]) -> None:
    """Let the model read these memories; each is in ``model.read`` once all of it was read."""
    assert model.extractor is not None
    extractor = model.extractor
    todo = [passage for memory in sources for passage in passages(memory, facts_from)]
    answers = {memory.id: CheckedClaims() for memory in sources}
    position, size = 0, _PASSAGES_PER_REQUEST
    while position < len(todo):
        batch = _fitting(todo[position : position + size])
        texts = [passage.prompt_text(number) for number, passage in enumerate(batch)]
        try:
            answer = await model.ask(partial(extractor.extract, texts))
        except UnusableAnswer as error:
            if error.smaller and len(batch) > 1:
                size = len(batch) // 2
                continue
            answers[batch[0].memory.id].rejected["answer"] += 1
        else:
            if answer is None:
                break
            _check(answer, batch, answers)
        position += len(batch)
    unread = {passage.memory.id for passage in todo[position:]}
    model.read.update({id: checked for id, checked in answers.items() if id not in unread})


def _check(answer: ExtractionAnswer, batch: Sequence[SpokenPassage], answers: dict[str, CheckedClaims]) -> None:
    """Sort the triples of an answer into claims and rejections, by memory."""
    mentioned = content_terms(" ".join((*(p.text for p in batch), *(p.speaker or "" for p in batch))))
    for triple in answer.facts:
        place = locate_quote(triple.quote, triple.text, [passage.text for passage in batch])
        if place is None:
            answers[batch[0].memory.id].rejected["quote"] += 1
            continue
        passage = batch[place[0]]
        claim = _claim(triple, passage, place[1], answer)
        checked = answers[passage.memory.id]
        if not _is_supported(claim, passage, mentioned):
            checked.rejected["unsupported"] += 1
        elif len(checked.claims) >= MAX_FACTS:
            checked.rejected["limit"] += 1
        else:
            checked.claims.append((passage.memory, claim))


def _claim(triple: Triple, passage: SpokenPassage, span: tuple[int, int], answer: ExtractionAnswer) -> ModelClaim:
    is_speaker = passage.speaker is not None and triple.subject.strip().casefold() in _SPEAKER
    return ModelClaim(
        passage.speaker or triple.subject if is_speaker else triple.subject,
        triple.predicate,
        triple.object,
        (span[0] + passage.start, span[1] + passage.start),
        min(triple.confidence, 0.9),
        f"model {answer.model}",
        many=not triple.single,
        model=answer.model,
        prompts=answer.prompts,
    )


def _is_supported(claim: Claim, passage: SpokenPassage, mentioned: frozenset[str]) -> bool:
    """Whether the object is named in the text, and the subject in it or near it: a real quote proves neither."""
    own = content_terms(passage.text)
    return bool(content_terms(claim.object) & own) and bool(content_terms(claim.subject) & mentioned)


def passages(memory: Memory, facts_from: Collection[FactOrigin] = FACTS_FROM) -> list[SpokenPassage]:
    """Return the pieces of a memory that may be evidence, each of one speaker."""
    if memory.kind != "page":
        return list(_pieces(memory, 0, memory.content[:MAX_TEXT], speaker_of(memory)))
    turns = spoken_turns(memory, facts_from)
    return [piece for turn in turns for piece in _pieces(memory, turn.start, turn.text, turn.speaker)]


def _pieces(memory: Memory, start: int, text: str, speaker: str | None) -> Iterable[SpokenPassage]:
    """Yield a text in pieces that end between two words."""
    at, size = 0, _CHARS_PER_PASSAGE
    while at < len(text):
        end = at + size
        if end < len(text):
            end = max(text.rfind(" ", at + size // 2, end), text.rfind("\n", at + size // 2, end)) + 1 or end
        yield SpokenPassage(memory, start + at, text[at:end], speaker)
        at = end


def _fitting(passages: Sequence[SpokenPassage]) -> Sequence[SpokenPassage]:
    """Return as many of these as fit into one request, at least one."""
    chars = 0
    for number, passage in enumerate(passages):
        chars += len(passage.text)
        if number and chars > _CHARS_PER_REQUEST:
            return passages[:number]
    return passages
