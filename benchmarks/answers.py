"""How good the answers of ``ask`` are: LoCoMo's questions through the public face, scored as LoCoMo scores them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import locomo, quality
from benchmarks.answer_scores import score_answer
from benchmarks.cases import Case, read_gzip
from longmind.config import AgentSettings
from longmind.errors import InvalidInput
from longmind.memory import Longmind

ADVERSARIAL = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was asked, and what came of it."""

    case: str
    tuned: bool
    category: int
    question: str
    right: str
    answer: str
    confidence: float
    milliseconds: float

    def score(self, least: float) -> float:
        """Return the score, where less sure answers are not given."""
        return score_answer(self.answer, self.confidence >= least and bool(self.answer), self.right, self.category)


def questions(folder: Path) -> dict[str, list[tuple[str, str, int]]]:
    """Return question, right answer and category of every question, by conversation."""
    return {
        sample["sample_id"]: [
            (entry["question"], str(entry.get("answer", entry.get("adversarial_answer", ""))), entry["category"])
            for entry in sample["qa"]
        ]
        for sample in json.loads(read_gzip(folder / "locomo10.json.gz"))
    }


def chosen(folder: Path, conversations: Set[str], every: int, limit: int | None) -> list[tuple[Case, list[int]]]:
    """Return the conversations to load, each with the numbers of the questions that are asked.

    ``conversations`` holds names, or "tuned" and "untouched"; empty means all. ``limit`` is spread over them.
    """
    cases = [
        case
        for case in locomo.cases(folder)
        if not conversations or conversations & {case.name, "tuned" if case.tuned else "untouched"}
    ]
    if not cases:
        raise InvalidInput(
            f"There is no conversation {', '.join(sorted(conversations))}.", hint="Name one, tuned, or untouched."
        )
    counts = {name: len(entries) for name, entries in questions(folder).items()}
    numbers = [(case, number) for case in cases for number in range(0, counts[case.name], every)]
    if limit is not None and limit < len(numbers):
        numbers = [numbers[place * len(numbers) // limit] for place in range(limit)]
    return [(case, [number for other, number in numbers if other is case]) for case in cases]


async def ask(
    longmind: Longmind,
    folder: Path,
    plan: Sequence[tuple[Case, Sequence[int]]],
    answers: Path | None,
    progress: quality.Progress,
) -> list[Asked]:
    """Remember the conversations and ask the chosen questions; no answer is held back.

    With ``answers`` each is written to that file as soon as it is there, and not asked again if it stands there.
    """
    (await longmind.recaller()).counts_reads = False
    texts = questions(folder)
    known = {(each.case, each.question): each for each in read_answers(answers)} if answers else {}
    asked: list[Asked] = []
    total = sum(len(numbers) for _, numbers in plan)
    for case, numbers in plan:
        entries = [texts[case.name][number] for number in numbers]
        mem = None
        for question, right, category in entries:
            result = known.get((case.name, question))
            if result is None:
                mem = mem or await quality.load(longmind, "answers", case)
                began = time.process_time()
                answer = await mem.ask(question, min_confidence=0.0, use_model=False)
                spent = round(1_000 * (time.process_time() - began), 1)
                text = answer.text if answer.known else ""
                result = Asked(case.name, case.tuned, category, question, right, text, answer.confidence, spent)
                if answers:
                    with answers.open("a", encoding="utf-8") as stream:
                        stream.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")
            asked.append(result)
            progress(len(asked) / max(1, total))
    return asked


def read_answers(path: Path) -> list[Asked]:
    """Return the answers that an earlier run wrote; none if there is no such file."""
    if not path.exists():
        return []
    return [Asked(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line]


def rows(asked: Sequence[Asked], least: float) -> Iterator[list[str]]:
    """Yield, for each half and category, the score without and with "not known", and how often it was said."""
    for half in ("tuned", "untouched"):
        for name, categories in (("1 to 4", (1, 2, 3, 4)), *((text, (n,)) for n, text in locomo.CATEGORIES.items())):
            chosen = [each for each in asked if each.category in categories and each.tuned == (half == "tuned")]
            if not chosen:
                continue
            refused = sum(each.confidence < least or not each.answer for each in chosen)
            always = "" if categories == (ADVERSARIAL,) else f"{_mean([each.score(0.0) for each in chosen]):.1f}"
            careful = f"{_mean([each.score(least) for each in chosen]):.1f}"
            yield [half, name, str(len(chosen)), always, careful, f"{100 * refused / len(chosen):.1f}"]


def figures(asked: Sequence[Asked]) -> list[quality.Figure]:
    """Return what cannot be told by category: the cost, and how far the confidence may be believed."""
    costs = sorted(each.milliseconds for each in asked)
    answerable = [each for each in asked if each.category != ADVERSARIAL]
    error = sum(
        abs(sum(each.confidence for each in bin_) - sum(each.score(0.0) for each in bin_)) for bin_ in _bins(answerable)
    )
    return [
        ("CPU of an ask, median", round(costs[len(costs) // 2], 1), "ms"),
        ("CPU of an ask, 95th percentile", round(costs[int(len(costs) * 0.95)], 1), "ms"),
        ("calibration error of the confidence", round(error / max(1, len(answerable)), 3), ""),
    ]


def _bins(asked: Sequence[Asked], count: int = 10) -> Iterator[list[Asked]]:
    for number in range(count):
        yield [each for each in asked if min(int(each.confidence * count), count - 1) == number]


def _mean(scores: Sequence[float]) -> float:
    return 100 * sum(scores) / len(scores)


HEAD = ["half", "category", "questions", "F1, always answering", "F1, or not known", "not known %"]
LEAST = AgentSettings().answer_confidence
