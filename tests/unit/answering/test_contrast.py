"""The same question about somebody else."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from longmind.answering.contrast import CONTRASTED, about_another, read_contrast
from longmind.answering.passages import ASSISTANT, Passage, SpokenText
from longmind.answering.reading import draft_answer
from longmind.models.span_reader import Reading, ReadSpan
from longmind.text.questions import read_question
from longmind.types import Memory, Source

SAID = datetime(2023, 7, 12, tzinfo=UTC)


def passage(number: int, speaker: str | None, text: str) -> Passage:
    memory = Memory(
        id=f"00000000-0000-7000-8000-{number:012x}",
        version=1,
        tenant="t",
        agent="a",
        kind="message",
        content=text,
        source=Source(role="user", name=speaker),
        occurred_at=SAID,
        recorded_at=SAID,
    )
    return Passage((SpokenText(memory, speaker),), 0, number)


TALK = [passage(0, "Melanie", "I run every day."), passage(1, "Ana Silva", "My dog is called Rex.")]


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("What is Melanie's dog called?", "What is Ana's dog called?"),
        ("What is Mel's dog called?", "What is Ana's dog called?"),
        ("What did Ana tell Melanie?", "What did Melanie tell Ana?"),
        ("What is the dog called?", None),
        ("Where does Zoe live?", None),
    ],
)
def test_people_change_places(question: str, other: str | None) -> None:
    assert about_another(question, read_question(question), TALK, None) == other


def test_who_is_alone_has_no_contrast() -> None:
    question = "What is Melanie's dog called?"
    alone = [TALK[0], passage(2, ASSISTANT, "Nice."), passage(3, None, "A document.")]
    assert about_another(question, read_question(question), alone, None) is None


class Reader:
    """Reads the name of the dog where its owner is asked about."""

    def __init__(self) -> None:
        self.read_passages = 0

    async def read(self, question: str, passages: Sequence[Sequence[str]]) -> list[Reading]:
        self.read_passages += len(passages)
        readings = []
        for (text,) in passages:
            start = text.find("Rex")
            owned = start >= 0 and question.split("'")[0].rpartition(" ")[2] in text
            spans = [ReadSpan(0, start, start + 3, 8.0 if owned else 1.0)] if start >= 0 else []
            readings.append(Reading((*spans, ReadSpan(0, len(text) - 4, len(text), 2.0)), 0.0))
        return readings


async def test_an_answer_that_fits_somebody_else_better_is_less_sure() -> None:
    reader, confidences = Reader(), []
    for question in ("What is Melanie's dog called?", "What is Ana's dog called?"):
        form = read_question(question)
        readings = await reader.read(question, [each.read for each in TALK])
        contrast = await read_contrast(reader, question, form, TALK, None)
        draft = draft_answer(question, form, TALK, readings, None, contrast)
        assert draft is not None
        assert not draft.signs.uncontrasted
        confidences.append((draft.signs.contrast, draft.confidence))
    (wrong, low), (right, high) = confidences
    assert wrong > 0 > right
    assert low < high


async def test_only_the_first_passages_are_read_again() -> None:
    reader = Reader()
    many = [*TALK, *(passage(number, "Ana Silva", "Something else.") for number in range(2, 12))]
    question = "What is Melanie's dog called?"
    await read_contrast(reader, question, read_question(question), many, None)
    assert reader.read_passages == CONTRASTED
