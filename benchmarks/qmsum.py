"""QMSum validation: transcripts of meetings. One case per meeting; the evidence is every turn of the relevant spans."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.cases import Case, Item, Question, read_gzip
from benchmarks.quality import DEPTHS, EvaluationSet, Scores, recalled_labels
from longmind.memory import AgentMemory

TUNED = 17


def cases(folder: Path) -> Iterator[Case]:
    """Read the meetings. Empty turns are left out, and so are questions whose spans hold only such turns."""
    for place, line in enumerate(read_gzip(folder / "qmsum_val.jsonl.gz").splitlines()):
        meeting = json.loads(line)
        began = datetime(2005, 1, 10, 10, tzinfo=UTC) + timedelta(days=place)
        items = tuple(
            Item(str(number), turn["content"], "meeting", turn["speaker"].strip() or None, "user", began)
            for number, turn in enumerate(meeting["meeting_transcripts"])
            if turn["content"].strip()
        )
        known = {item.label for item in items}
        questions = []
        for entry in meeting["specific_query_list"]:
            spans = [(int(first), int(last)) for first, last in entry["relevant_text_span"]]
            evidence = frozenset(str(n) for first, last in spans for n in range(first, last + 1)) & known
            if evidence:
                questions.append(Question(entry["query"], evidence, "specific"))
        yield Case(f"meeting {place + 1}", place < TUNED, items, tuple(questions))


async def score(mem: AgentMemory, case: Case, question: Question) -> Scores:
    """Whether a turn of the relevant spans is among the first hits."""
    labels = await recalled_labels(mem, await mem.recall(question.text, k=DEPTHS[-1]))
    return {f"hit@{k}": float(not question.evidence.isdisjoint(labels[:k])) for k in DEPTHS}


def groups(question: Question) -> list[str]:
    """All questions: the set has one category only."""
    return ["all"]


SET = EvaluationSet("qmsum", "QMSum: a turn of the relevant span", cases, score, "hit@10", groups)
