"""The reader without a model: of each passage the sentence that shares most words with the question.

It is what answers where ``longmind-models`` or ONNX Runtime is not installed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from longmind.models.span_reader import Reading, ReadSpan
from longmind.text.analysis import terms
from longmind.text.questions import names_in
from longmind.text.sentences import sentences

NEEDED = 0.5
"""The share of a question's words, names apart, that a sentence must have for an answer as likely as not."""
STEEP = 20.0
"""How fast the score rises with that share."""


class SentenceReader:
    """Reads by shared words: every sentence that states something is a span."""

    async def read(self, question: str, passages: Sequence[Sequence[str]]) -> list[Reading]:
        """Return the sentences of each passage, those that share most with the question first."""
        named = {term for name in names_in(question) for term in terms(name)}
        wanted = set(terms(question)) - named
        return [_read(wanted, passage) for passage in passages]


def _read(wanted: set[str], passage: Sequence[str]) -> Reading:
    spans = []
    for number, text in enumerate(passage):
        for sentence in sentences(text[:4_000]):
            if sentence.asks or not wanted:
                continue
            share = len(wanted.intersection(terms(sentence.text))) / len(wanted)
            score = STEEP * (share - NEEDED) - math.log1p(len(sentence.text) / 100)
            spans.append(ReadSpan(number, sentence.start, sentence.start + len(sentence.text), score))
    return Reading(tuple(sorted(spans, key=lambda span: -span.score)), 0.0)
