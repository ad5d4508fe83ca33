"""The same question about somebody else: if that is answered better, what was found is not about who is asked about.

Who mixes people up asks what Tim named his dog when it is Ana who has one. The reader then finds something that Tim
said, and its own score does not tell; but asked about Ana, the same turns answer better.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from longmind.answering.passages import ASSISTANT, Passage
from longmind.answering.people import asked_person, same_person
from longmind.models.span_reader import Reading, SpanReader
from longmind.text.questions import QuestionForm

CONTRASTED = 5
"""How many passages are read again."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """A question about somebody else, and what was read for it in the first passages."""

    question: str
    readings: tuple[Reading, ...]


async def read_contrast(
    reader: SpanReader, question: str, form: QuestionForm, passages: Sequence[Passage], asker: str | None
) -> Contrast | None:
    """Read the question about the next best speaker; None if it names no speaker, or nobody else speaks."""
    other_question = about_another(question, form, passages, asker)
    if other_question is None:
        return None
    readings = await reader.read(other_question, [passage.read for passage in passages[:CONTRASTED]])
    return Contrast(other_question, tuple(readings))


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
