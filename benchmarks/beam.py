"""BEAM 100K: long chats of a user with an assistant. One case per chat; the evidence are messages."""

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

TUNED = 10


def cases(folder: Path) -> Iterator[Case]:
    """Read the chats. Questions without evidence are left out."""
    for place, chat in enumerate(json.loads(read_gzip(folder / "beam_100k.json.gz"))):
        items = tuple(_messages(chat["chat"]))
        known = {item.label for item in items}
        questions = []
        for category, entries in chat["probing_questions"].items():
            for entry in entries:
                evidence = frozenset(str(id) for id in _flat(entry.get("source_chat_ids"))) & known
                if evidence:
                    questions.append(Question(entry["question"], evidence, category.replace("_", " ")))
        yield Case(f"chat {chat['id']}", place < TUNED, items, tuple(questions))


def _messages(batches: list[dict[str, Any]]) -> Iterator[Item]:
    when: datetime | None = None
    for batch in batches:
        for turn in batch["turns"]:
            for message in turn:
                if message.get("time_anchor"):
                    when = datetime.strptime(message["time_anchor"], "%B-%d-%Y").replace(tzinfo=UTC)
                text = re.sub(r"\s*->->.*\Z", "", message["content"], flags=re.DOTALL)
                yield Item(str(message["id"]), text, f"batch {batch['batch_number']}", None, message["role"], when)


def _flat(ids: Any) -> Iterator[int]:
    if isinstance(ids, dict):
        ids = list(ids.values())
    if isinstance(ids, list):
        for element in ids:
            yield from _flat(element)
    elif ids is not None:
        yield int(ids)


async def score(mem: AgentMemory, case: Case, question: Question) -> Scores:
    """Score how much of the evidence is among the first hits, and among what a recall without ``k`` returns.

    That is ten hits and the standing instructions beside them.
    """
    scores = await score_evidence(mem, case, question)
    labels = await recalled_labels(mem, await mem.recall(question.text))
    return {**scores, "with instructions": share(labels, question.evidence)}


SET = EvaluationSet("beam", "BEAM 100K: evidence recall, messages", cases, score, "R@10")
