"""The same question about somebody else: if memories fit that better, what was found is not about who is asked about.

Who mixes people up asks what Tim named his dog when it is Ana who has one. The reader then finds something that Tim
said, and its own score does not tell; but asked about Ana, there is a memory that fits better. The reranker tells: it
has read these memories for the question, so another one costs it a few milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from longmind.answering.passages import ASSISTANT, Passage
from longmind.answering.people import asked_person, same_person
from longmind.models.rerank_small import TextInContext
from longmind.recall.rerank import ContextReranker
from longmind.text.questions import QuestionForm

CONTRASTED = 5
"""How many memories are compared."""


class Contrasts:
    """How well memories fit a question, and the same question about somebody else."""

    def __init__(self, own: Sequence[float | None], other: Sequence[float | None]) -> None:
        pairs = zip(own, other, strict=True)
        self._pairs = [None if a is None or b is None else (a, b) for a, b in pairs]

    def of(self, rank: int) -> tuple[float, float] | None:
        """Return how much better the other question fits: its best memory than the best, and the one of a rank."""
        known = [pair for pair in self._pairs if pair is not None]
        if not known:
            return None
        here = self._pairs[rank] if rank < len(self._pairs) else None
        best = max(other for _, other in known) - max(own for own, _ in known)
        return best, 0.0 if here is None else here[1] - here[0]


async def read_contrast(
    reranker: ContextReranker, question: str, other: str, texts: Sequence[TextInContext]
) -> Contrasts:
    """Read the first memories for a question, and for the same about somebody else."""
    own, contrary = [await reranker.read(asked, texts[:CONTRASTED]) for asked in (question, other)]
    return Contrasts(own, contrary)


def about_another(question: str, form: QuestionForm, passages: Sequence[Passage], asker: str | None) -> str | None:
    """Return a question with the person in it exchanged for the first other speaker of the passages."""
    speakers = frozenset(text.speaker for passage in passages for text in passage.texts if text.speaker)
    person = asked_person(form, speakers, asker)
    other = _first_other(person, passages) if person else None
    if person is None or other is None:
        return None
    names = {name for name in (*form.names, person, person.split()[0]) if asked_person_is(name, person)}
    exchanged = {name.casefold(): other.split()[0] for name in names}
    exchanged |= {name.casefold(): person.split()[0] for name in (other, other.split()[0])}
    pattern = "|".join(re.escape(name) for name in sorted(exchanged, key=len, reverse=True))
    changed = re.sub(
        rf"\b(?:{pattern})\b", lambda match: exchanged[match.group().casefold()], question, flags=re.IGNORECASE
    )
    return None if changed == question else changed


def asked_person_is(name: str, person: str) -> bool:
    """Return whether a name in a question is that of a speaker, or short for it."""
    return same_person(name, person) or (" " not in name and person.casefold().startswith(name.casefold()))


def _first_other(person: str, passages: Sequence[Passage]) -> str | None:
    """Return who said the best recalled memory that the person did not say."""
    turns = (text for passage in passages for text in (passage.texts[passage.main], *passage.texts))
    return next((text.speaker for text in turns if text.speaker not in (None, ASSISTANT, person)), None)
