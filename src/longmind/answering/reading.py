"""From what was read in passages to a draft of the answer, with the signs that its confidence is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from longmind.answering.candidates import Candidate
from longmind.answering.composing import compose
from longmind.answering.confidence import Signs, confidence_of, signs_of
from longmind.answering.contrast import Contrasts
from longmind.text.questions import QuestionForm


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


def draft_answer(
    question: str, form: QuestionForm, candidates: Sequence[Candidate], contrasts: Contrasts | None = None
) -> Draft | None:
    """Return the best answer of the words that were read, the best first; None if there are none.

    ``contrasts`` compares the same question about somebody else. It changes nothing but the confidence.
    """
    if not candidates:
        return None
    text, items = compose(question, form, candidates)
    best = items[0][1]
    contrast = None if contrasts is None else contrasts.of(best.passage.rank)
    return Draft(text, tuple(items), signs_of(read=best.read, score=best.passage.score, contrast=contrast))
