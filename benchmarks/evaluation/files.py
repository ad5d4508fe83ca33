"""The files of the evaluation set, read into cases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.cases import Case, Item, Question

FOLDER = Path(__file__).parent


def cases(folder: Path = FOLDER) -> Iterator[Case]:
    """Read the conversations. No weights are tuned on them."""
    for data in read(folder / "conversations"):
        questions = tuple(
            Question(
                entry["text"],
                frozenset(entry["evidence"]),
                entry["type"],
                (entry["answer"],) if entry["answer"] else (),
                frozenset(entry.get("stale", ())),
            )
            for entry in data["questions"]
        )
        yield Case(data["name"], False, items(data), questions)


def read(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the files of a folder, in order of their names."""
    for path in sorted(folder.glob("*.json")):
        yield json.loads(path.read_text(encoding="utf-8"))


def items(data: dict[str, Any]) -> tuple[Item, ...]:
    """Return the turns of a file as messages. An assistant speaks without a name, as in a chat."""
    roles = {speaker["name"]: speaker["role"] for speaker in data["speakers"]}
    return tuple(
        Item(
            label=turn["id"],
            text=turn["text"],
            session=f"session {number}",
            speaker=turn["speaker"] if roles[turn["speaker"]] == "user" else None,
            role=roles[turn["speaker"]],
            occurred_at=datetime.fromisoformat(session["date"]).replace(tzinfo=UTC),
        )
        for number, session in enumerate(data["sessions"], 1)
        for turn in session["turns"]
    )
