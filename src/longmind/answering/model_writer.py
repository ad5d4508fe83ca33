"""Answers written by a language model. A sentence counts only with a quote that really stands in a memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field

from longmind.models import prompts
from longmind.models.chat import Chat
from longmind.models.quotes import find_quote
from longmind.text.analysis import terms
from longmind.text.dates import format_day
from longmind.text.quoting import label, quote
from longmind.types import Citation, Memory, Model

SHOWN = 1_500
"""Characters of a memory that the model reads."""
SUPPORTED, PARTLY = 0.9, 0.6
"""The confidence in an answer whose sentences all have their quotes, and in one that lost some."""


class Quotation(Model):
    """Words of a memory, by the number of the memory in the prompt."""

    memory: Annotated[int, Field(ge=1)]
    words: Annotated[str, Field(max_length=2_000)]


class WrittenSentence(Model):
    """One sentence of the answer, with what it rests on."""

    text: Annotated[str, Field(max_length=2_000)]
    quotes: Annotated[tuple[Quotation, ...], Field(max_length=20)] = ()


class WrittenAnswer(Model):
    """What the model answers."""

    known: bool
    sentences: Annotated[tuple[WrittenSentence, ...], Field(max_length=40)] = ()


@dataclass(frozen=True, slots=True)
class SupportedAnswer:
    """The sentences that have evidence; none if the model does not know, or proves nothing of what it says."""

    text: str
    evidence: tuple[Citation, ...]
    confidence: float


async def write_answer(chat: Chat, question: str, memories: Sequence[Memory], now: datetime) -> SupportedAnswer:
    """Let a model answer from memories, and keep the sentences whose quotes are found."""
    prompt = prompts.load("answer")
    lines = [_line(number, memory) for number, memory in enumerate(memories, 1)]
    text = prompt.fill(today=format_day(now), memories="\n".join(lines), question=quote(question, 2_000))
    written = (await chat.structured(text, WrittenAnswer, temperature=0.0, prompts=(prompt.id,))).value
    kept: list[str] = []
    evidence: list[Citation] = []
    for sentence in written.sentences if written.known else ():
        citations = [
            citation for quotation in sentence.quotes if (citation := _cited(quotation, sentence.text, memories))
        ]
        if citations and sentence.text.strip():
            kept.append(sentence.text.strip())
            evidence += citations
    whole = len(kept) == len(written.sentences)
    return SupportedAnswer(" ".join(kept), tuple(evidence), (SUPPORTED if whole else PARTLY) if kept else 0.0)


def _line(number: int, memory: Memory) -> str:
    source = memory.source
    said_by = label(source.name) if source.name else source.role
    return f"{number}. ({said_by}, {format_day(memory.occurred_at)}) {quote(memory.content, SHOWN)}"


def _cited(quotation: Quotation, sentence: str, memories: Sequence[Memory]) -> Citation | None:
    if quotation.memory > len(memories):
        return None
    memory = memories[quotation.memory - 1]
    place = find_quote(memory.content, quotation.words)
    if place is None:
        return None
    start, end = place
    if not terms(memory.content[start:end]):
        return None  # "in the" stands in every memory and proves nothing
    return Citation(memory=memory, start=start, end=end, quote=memory.content[start:end], supports=sentence.strip())
