"""From what was read in passages to a draft of the answer, with the signs that its confidence is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from longmind.answering.candidates import Candidate, find_candidates
from longmind.answering.composing import compose
from longmind.answering.confidence import LEAST_CONTRAST, Signs, confidence_of, signs_of
from longmind.answering.contrast import Contrast
from longmind.answering.passages import Passage
from longmind.models.span_reader import Reading
from longmind.text.questions import QuestionForm, read_question


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

    @property
    def highest_confidence(self) -> float:
        """The confidence if the same question about somebody else had no answer at all."""
        return max(self.confidence, confidence_of(self.signs._replace(contrast=LEAST_CONTRAST, uncontrasted=0.0)))


def draft_answer(
    question: str,
    form: QuestionForm,
    passages: Sequence[Passage],
    readings: Sequence[Reading],
    asker: str | None = None,
    contrast: Contrast | None = None,
) -> Draft | None:
    """Return the best answer that was read; None if there are no words at all.

    ``contrast`` is the same question about somebody else. It changes nothing but the confidence.
    """
    candidates = find_candidates(question, form, passages, readings, asker)
    if not candidates:
        return None
    text, items = compose(question, form, candidates)
    better = None
    if contrast is not None:
        read = passages[: len(contrast.readings)]
        others = find_candidates(contrast.question, read_question(contrast.question), read, contrast.readings, None)
        better = (others[0].value if others else -LEAST_CONTRAST) - candidates[0].value
    return Draft(text, tuple(items), _signs(items[0][1], candidates, better))


def _signs(best: Candidate, candidates: Sequence[Candidate], contrast: float | None) -> Signs:
    return signs_of(
        read=best.read,
        about=best.about,
        others=max((each.read for each in candidates if (each.about or 0.0) < 0), default=-20.0),
        contrast=contrast,
    )
