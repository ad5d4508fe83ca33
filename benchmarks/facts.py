"""FactConsolidation, single hop: whether the newest value of a fact is the top hit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.cases import Case, Item, Question, read_gzip
from benchmarks.quality import EvaluationSet, Scores
from longmind.memory import AgentMemory
from longmind.text.analysis import fold


def cases(folder: Path, form: str = "sh") -> Iterator[Case]:
    """Read the lists with single-hop questions, or with multi-hop ones (mh); the later of two facts is right.

    The lists were looked at while the rules for restated facts and for hops were made, so none is untouched.
    """
    for group in json.loads(read_gzip(folder / "factconsolidation_6k_32k.json.gz")):
        name = re.sub(r"^factconsolidation_|_no\d+$", "", group["metadata"]["qa_pair_ids"][0])
        if not name.startswith(f"{form}_"):
            continue
        items = tuple(
            Item(label=number, text=text)
            for number, text in re.findall(r"^(\d+)\. (.+)$", group["context"], flags=re.MULTILINE)
        )
        pairs = zip(group["questions"], group["answers"], strict=True)
        questions = tuple(Question(text, frozenset(), name, tuple(answers)) for text, answers in pairs)
        yield Case(name, True, items, questions)


async def score(mem: AgentMemory, case: Case, question: Question) -> Scores:
    """Look for the newest value in the first hit, and in the first five."""
    hits = await mem.recall(question.text, k=5)
    contents = [fold(hit.memory.content) for hit in hits]
    answers = [fold(answer) for answer in question.answers]
    return {f"top {k}": float(any(a in content for a in answers for content in contents[:k])) for k in (1, 5)}


def groups(question: Question) -> list[str]:
    """The question's list, and both lists."""
    return [question.category, "both sizes"]


SET = EvaluationSet("facts", "FactConsolidation, single hop: the newest value", cases, score, "top 1", groups)
