"""LoCoMo: long conversations between two people. One case per conversation; the evidence are turns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.cases import Case, Item, Question, read_gzip
from benchmarks.quality import EvaluationSet, Scores, recalled_labels, score_evidence, share
from longmind.memory import AgentMemory

TUNED = frozenset({"conv-26", "conv-30", "conv-41", "conv-42", "conv-43"})
CATEGORIES = {1: "1 multi-hop", 2: "2 temporal", 3: "3 open domain", 4: "4 single-hop", 5: "5 adversarial"}
SESSION_DEPTH = 200
"""Turns recalled in order to rank sessions by their best turn."""


def cases(folder: Path) -> Iterator[Case]:
    """Read the conversations. Questions whose evidence is not in the conversation are left out."""
    for sample in json.loads(read_gzip(folder / "locomo10.json.gz")):
        items = tuple(_turns(sample["conversation"]))
        known = {item.label for item in items}
        questions = []
        for entry in sample["qa"]:
            evidence = frozenset(_turn_ids(entry.get("evidence", []))) & known
            if evidence:
                questions.append(Question(entry["question"], evidence, CATEGORIES[entry["category"]]))
        yield Case(sample["sample_id"], sample["sample_id"] in TUNED, items, tuple(questions))


def _turns(conversation: dict[str, Any]) -> Iterator[Item]:
    numbers = sorted(int(k.split("_")[1]) for k in conversation if re.fullmatch(r"session_\d+", k))
    for number in numbers:
        date = conversation[f"session_{number}_date_time"]
        began = datetime.strptime(date, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for turn in conversation[f"session_{number}"]:
            caption = turn.get("blip_caption")
            yield Item(
                label=turn["dia_id"],
                text=f"{turn['text']} [{caption}]" if caption else turn["text"],
                session=f"session {number}",
                speaker=turn["speaker"],
                occurred_at=began,
            )


def _turn_ids(evidence: list[str]) -> Iterator[str]:
    """Bring evidence such as ``D8:6; D9:17``, ``D:11:26`` and ``D30:05`` into one form."""
    for text in evidence:
        for day, turn in re.findall(r"D:?(\d+):(\d+)", text):
            yield f"D{int(day)}:{int(turn)}"


async def score(mem: AgentMemory, case: Case, question: Question) -> Scores:
    """Score the recalled turns, and the sessions ranked by their best turn."""
    turns = await score_evidence(mem, case, question)
    hits = await mem.recall(question.text, k=SESSION_DEPTH)
    sessions = list(dict.fromkeys(label.partition(":")[0] for label in await recalled_labels(mem, hits) if label))
    evidence = frozenset(label.partition(":")[0] for label in question.evidence)
    return {**turns, "sessions R@5": share(sessions[:5], evidence), "sessions R@10": share(sessions[:10], evidence)}


def groups(question: Question) -> list[str]:
    """All questions, all that are not adversarial, and the question's category."""
    return ["all", question.category] if question.category == CATEGORIES[5] else ["all", "1 to 4", question.category]


SET = EvaluationSet("locomo", "LoCoMo: evidence recall, turns and sessions", cases, score, "R@10", groups)
