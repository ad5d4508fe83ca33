"""What ``ask`` returns: an answer, and the words in memory that it rests on."""

from __future__ import annotations

from typing import Literal

from longmind.types.fields import Unit
from longmind.types.memory import Memory
from longmind.types.model import Model

NOT_KNOWN = "not known"
AnswerMethod = Literal["model", "reader", "fact", "sentence", "none"]


class Citation(Model):
    """Words of a memory that an answer rests on: ``memory.content[start:end] == quote``."""

    memory: Memory
    start: int
    end: int
    quote: str
    supports: str
    """The sentence of the answer, or the item of its list, that these words support."""


class Answer(Model):
    """The answer to a question, the words it rests on, and how sure it is; or that the answer is not known."""

    question: str
    text: str
    """The answer; "not known" if memory does not hold it."""
    known: bool
    confidence: Unit
    """How likely it is that the answer is right. Of an answer that is not known: of the best one that was refused."""
    method: AnswerMethod
    """Who found it: the language model, the reader of spans, a fact, the best sentence, or nobody."""
    evidence: tuple[Citation, ...] = ()

    def __str__(self) -> str:
        return self.text
