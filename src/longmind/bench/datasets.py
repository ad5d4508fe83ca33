"""The evaluation sets, read into one shape: what to remember, what to ask, what must come back.

The files are not part of Longmind; their README says what each is and how it is scored. ``tuned`` marks the halves
on which weights may be tuned; the others are reported apart.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from longmind.errors import NotFound
from longmind.types import Role

LOCOMO_TUNED = frozenset({"conv-26", "conv-30", "conv-41", "conv-42", "conv-43"})
LOCOMO_CATEGORIES = {1: "1 multi-hop", 2: "2 temporal", 3: "3 open domain", 4: "4 single-hop", 5: "5 adversarial"}
BEAM_TUNED = 10
QMSUM_TUNED = 17


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to remember; ``label`` is how gold evidence names it."""

    label: str
    text: str
    session: str | None = None
    speaker: str | None = None
    role: Role = "user"
    occurred_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    gold: frozenset[str]
    category: str
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One agent's memory and the questions asked of it."""

    name: str
    tuned: bool
    items: tuple[Item, ...]
    questions: tuple[Question, ...] = field(default=())


def read(path: Path) -> bytes:
    """The unpacked bytes of an evaluation file."""
    if not path.is_file():
        raise NotFound(
            f"The evaluation file {path.name} is not in {path.parent}.",
            hint="Give the folder that holds the evaluation data with --data.",
        )
    return gzip.decompress(path.read_bytes())


def locomo(folder: Path) -> Iterator[Case]:
    """LoCoMo: one case a conversation, one item a turn, the gold are turns."""
    for sample in json.loads(read(folder / "locomo10.json.gz")):
        items = tuple(_locomo_turns(sample["conversation"]))
        known = {i.label for i in items}
        questions = []
        for asked in sample["qa"]:
            gold = frozenset(_dialogue_ids(asked.get("evidence", []))) & known
            if gold:
                questions.append(Question(asked["question"], gold, LOCOMO_CATEGORIES[asked["category"]]))
        yield Case(sample["sample_id"], sample["sample_id"] in LOCOMO_TUNED, items, tuple(questions))


def _locomo_turns(conversation: dict[str, Any]) -> Iterator[Item]:
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


def _dialogue_ids(evidence: list[str]) -> Iterator[str]:
    """Gold such as ``D8:6; D9:17``, ``D:11:26`` and ``D30:05`` in one form."""
    for text in evidence:
        for day, turn in re.findall(r"D:?(\d+):(\d+)", text):
            yield f"D{int(day)}:{int(turn)}"


def beam(folder: Path) -> Iterator[Case]:
    """BEAM 100K: one case a chat, one item a message."""
    for place, chat in enumerate(json.loads(read(folder / "beam_100k.json.gz"))):
        items = tuple(_beam_messages(chat["chat"]))
        known = {i.label for i in items}
        questions = []
        for category, asked in chat["probing_questions"].items():
            for one in asked:
                gold = frozenset(str(i) for i in _flat(one.get("source_chat_ids"))) & known
                if gold:
                    questions.append(Question(one["question"], gold, category.replace("_", " ")))
        yield Case(f"chat {chat['id']}", place < BEAM_TUNED, items, tuple(questions))


def _beam_messages(batches: list[dict[str, Any]]) -> Iterator[Item]:
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
        for one in ids:
            yield from _flat(one)
    elif ids is not None:
        yield int(ids)


def facts(folder: Path) -> Iterator[Case]:
    """FactConsolidation: one case a list of facts; the later of two that contradict each other wins.

    Both lists were looked at while the rule for restated facts was made, so neither is untouched.
    """
    for group in json.loads(read(folder / "factconsolidation_6k_32k.json.gz")):
        name = re.sub(r"^factconsolidation_|_no\d+$", "", group["metadata"]["qa_pair_ids"][0])
        items = tuple(
            Item(label=number, text=text)
            for number, text in re.findall(r"^(\d+)\. (.+)$", group["context"], flags=re.MULTILINE)
        )
        pairs = zip(group["questions"], group["answers"], strict=True)
        asked = tuple(Question(q, frozenset(), name, tuple(answers)) for q, answers in pairs)
        yield Case(name, True, items, asked)


def qmsum(folder: Path) -> Iterator[Case]:
    """QMSum validation: one case a meeting, one item a turn, the gold is every turn of the relevant spans."""
    for place, line in enumerate(read(folder / "qmsum_val.jsonl.gz").splitlines()):
        meeting = json.loads(line)
        began = datetime(2005, 1, 10, 10, tzinfo=UTC) + timedelta(days=place)
        items = tuple(
            Item(str(i), turn["content"], "meeting", turn["speaker"].strip() or None, "user", began)
            for i, turn in enumerate(meeting["meeting_transcripts"])
            if turn["content"].strip()
        )
        known = {item.label for item in items}
        questions = []
        for asked in meeting["specific_query_list"]:
            spans = [(int(a), int(b)) for a, b in asked["relevant_text_span"]]
            gold = frozenset(str(i) for a, b in spans for i in range(a, b + 1)) & known
            if gold:
                questions.append(Question(asked["query"], gold, "specific"))
        yield Case(f"meeting {place + 1}", place < QMSUM_TUNED, items, tuple(questions))
