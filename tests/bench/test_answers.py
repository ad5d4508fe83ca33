"""The floor of ``ask``: invented conversations and questions of our own, with those that have no answer."""

import gzip
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks import answers
from benchmarks.answer_scores import f1, f1_of_parts, score_answer
from longmind import Longmind
from longmind.answering import SentenceReader
from longmind.errors import InvalidInput
from longmind.memory import AgentMemory
from longmind.models import small_models

OWN = json.loads((Path(__file__).parents[2] / "benchmarks" / "own_answers.json").read_text(encoding="utf-8"))


async def remember(mem: AgentMemory) -> None:
    for number, session in enumerate(OWN["sessions"]):
        day = datetime.fromisoformat(session["date"]).replace(tzinfo=UTC)
        turns = [{"role": "user", "name": name, "content": text, "occurred_at": day} for name, text in session["turns"]]
        await mem.remember(turns, session=f"s{number}")


@pytest.fixture
async def mem(request: pytest.FixtureRequest) -> AsyncIterator[AgentMemory]:
    async with Longmind.open("memory:", span_reader=request.param) as longmind:
        mem = longmind.agent("answers")
        await remember(mem)
        yield mem


async def measured(mem: AgentMemory) -> tuple[float, float, float]:
    """Return the F1 of answers that are always given, the F1 with "not known", and how often that is rightly said."""
    always = careful = 0.0
    least = (await mem.configuration()).answer_confidence
    for question, right in OWN["questions"]:
        answer = await mem.ask(question, min_confidence=0.0)
        best = max(f1(answer.text, text) for text in right)
        always += best
        careful += best if answer.confidence >= least else 0.0
        for citation in answer.evidence:
            assert citation.memory.content[citation.start : citation.end] == citation.quote != ""
    refused = [not (await mem.ask(question)).known for question in OWN["unanswerable"]]
    count = len(OWN["questions"])
    return always / count, careful / count, sum(refused) / len(refused)


@pytest.mark.skipif(bool(small_models.missing()), reason="the small models are not installed")
@pytest.mark.parametrize("mem", [None], indirect=True, ids=["reader"])
async def test_the_reader_answers_and_refuses(mem: AgentMemory) -> None:
    always, careful, refused = await measured(mem)
    assert always >= 0.6
    assert careful >= 0.5
    assert refused >= 0.7


@pytest.mark.parametrize("mem", [SentenceReader()], indirect=True, ids=["sentences"])
async def test_shared_words_answer_some_and_refuse(mem: AgentMemory) -> None:
    always, _, refused = await measured(mem)
    assert always >= 0.2
    assert refused >= 0.5


def test_the_scorer_follows_the_published_rules() -> None:
    assert f1("The cats, and a dog", "cat dog") == 1.0
    assert f1("blue", "red") == 0.0
    assert f1_of_parts("tea, black coffee", "coffee, tea") == pytest.approx((2 / 3 + 1) / 2)
    assert score_answer("Yes", True, "Yes; she is kind", 3) == 1.0
    assert score_answer("tea", False, "tea", 4) == 0.0
    assert score_answer("tea", True, "tea", 5) == 0.0
    assert score_answer("tea", False, "tea", 5) == 1.0


LOCOMO = [
    {
        "sample_id": name,
        "conversation": {
            "session_1_date_time": "1:00 pm on 8 May, 2023",
            "session_1": [{"dia_id": "D1:1", "speaker": "Ana", "text": "I live in Porto."}],
        },
        "qa": [
            {"question": f"Where does Ana live, {number}?", "answer": "Porto", "category": 4, "evidence": ["D1:1"]}
            for number in range(4)
        ],
    }
    for name in ("conv-26", "conv-44")
]


@pytest.fixture
def locomo_folder(tmp_path: Path) -> Path:
    (tmp_path / "locomo10.json.gz").write_bytes(gzip.compress(json.dumps(LOCOMO).encode()))
    return tmp_path


def test_conversations_and_questions_are_chosen(locomo_folder: Path) -> None:
    def numbers(conversations: set[str], every: int = 1, limit: int | None = None) -> dict[str, list[int]]:
        return {case.name: numbers for case, numbers in answers.chosen(locomo_folder, conversations, every, limit)}

    assert numbers(set()) == {"conv-26": [0, 1, 2, 3], "conv-44": [0, 1, 2, 3]}
    assert numbers({"untouched"}, every=3) == {"conv-44": [0, 3]}
    assert numbers({"tuned", "conv-44"}, limit=3) == {"conv-26": [0, 2], "conv-44": [1]}
    with pytest.raises(InvalidInput, match="conv-1"):
        numbers({"conv-1"})


async def test_a_run_continues_where_it_stopped(locomo_folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "answers.jsonl"
    async with Longmind.open("memory:", span_reader=SentenceReader()) as longmind:
        first = await answers.ask(
            longmind, locomo_folder, answers.chosen(locomo_folder, set(), 1, 2), kept, lambda done: None
        )
        size = kept.stat().st_size
        again = await answers.ask(
            longmind, locomo_folder, answers.chosen(locomo_folder, set(), 1, 2), kept, lambda done: None
        )
    assert len(first) == 2
    assert again == first
    assert kept.stat().st_size == size
