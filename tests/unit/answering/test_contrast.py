"""The same question about somebody else."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from longmind.answering.candidates import find_candidates
from longmind.answering.contrast import CONTRASTED, about_another, read_contrast
from longmind.answering.passages import ASSISTANT, Passage, SpokenText
from longmind.answering.reading import draft_answer
from longmind.models.rerank_small import Numbers, TextInContext
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
    return Passage((SpokenText(memory, speaker),), 0, number, 0.5)


TALK = [passage(0, "Melanie", "I run every day."), passage(1, "Ana Silva", "My dog is called Rex.")]
TEXTS = [TextInContext(each.read[0]) for each in TALK]


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


class OwnerReranker:
    """Finds that a text with a dog fits a question about its owner, and reads only so many texts."""

    name = "owners"

    def __init__(self, most: int = 100) -> None:
        self.most = most
        self.compared = 0

    async def depth(self) -> int:
        return self.most

    async def read(self, question: str, texts: Sequence[TextInContext]) -> Numbers:
        self.compared += len(texts)
        owner = question.split("'")[0].rpartition(" ")[2]
        numbers = [4.0 if "Rex" in each.text and owner in each.text else -4.0 for each in texts]
        return [number if place < self.most else None for place, number in enumerate(numbers)]


async def test_an_answer_that_fits_somebody_else_better_is_less_sure() -> None:
    confidences = []
    for question, other in (
        ("What is Melanie's dog called?", "What is Ana's dog called?"),
        ("What is Ana's dog called?", "What is Melanie's dog called?"),
    ):
        words = [ReadSpan(0, len(TEXTS[1].text) - 4, len(TEXTS[1].text) - 1, 8.0)]
        readings = [Reading((), 0.0), Reading(tuple(words), 0.0)]
        contrasts = await read_contrast(OwnerReranker(), question, other, TEXTS)
        form = read_question(question)
        candidates = find_candidates(question, form, TALK, readings, None)
        draft = draft_answer(question, form, candidates, contrasts)
        assert draft is not None
        assert draft.text == "Rex"
        assert not draft.signs.uncontrasted
        confidences.append((draft.signs.contrast, draft.signs.contrast_here))
    (wrong, wrong_here), (right, right_here) = confidences
    assert wrong > 0 > right
    assert wrong_here > 0 > right_here


async def test_only_the_first_memories_are_compared() -> None:
    reranker = OwnerReranker()
    await read_contrast(reranker, "What is Melanie's dog called?", "What is Ana's dog called?", TEXTS * 6)
    assert reranker.compared == 2 * CONTRASTED


async def test_memories_that_were_not_read_say_nothing() -> None:
    question, other = "What is Ana's dog called?", "What is Melanie's dog called?"
    unread = await read_contrast(OwnerReranker(most=0), question, other, TEXTS)
    assert unread.of(0) is None
    half = await read_contrast(OwnerReranker(most=1), question, other, [TEXTS[1], TEXTS[0]])
    assert half.of(0) == (-8.0, -8.0)
    assert half.of(1) == (-8.0, 0.0)
    assert half.of(7) == (-8.0, 0.0)
