"""Questions with the texts that answer them: the form in which every set is mined, trained on and evaluated."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_SPEAKER = re.compile(r"([^:\n]{1,40}): ")
DIALOGUES = ("friendsqa", "molweni", "sgd", "qmsum", "chats")
"""The sources whose texts begin with the name of who speaks."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the places of the texts that answer it, and its candidates as recall ranks them."""

    text: str
    gold: tuple[int, ...]
    candidates: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    category: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Texts in their order, the session of each, and questions about them."""

    source: str
    texts: tuple[str, ...]
    sessions: tuple[int, ...]
    questions: tuple[Asked, ...] = field(default=())
    tuned: bool = True
    """Whether weights may be tuned on it; only evaluation sets have groups where they may not."""


def read_groups(path: Path) -> Iterator[Group]:
    """Yield the groups of a file of the training data, or of one that was mined."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            questions = tuple(
                Asked(
                    q[0],
                    tuple(q[1]),
                    tuple(q[2]) if len(q) > 2 else (),
                    tuple(s / 10_000 for s in q[3]) if len(q) > 3 else (),
                    q[4] if len(q) > 4 else "",
                )
                for q in entry["qs"]
            )
            sessions = tuple(entry.get("session") or [0] * len(entry["docs"]))
            yield Group(entry["source"], tuple(entry["docs"]), sessions, questions, entry.get("tuned", True))


def write_groups(path: Path, groups: Iterable[Group]) -> None:
    """Write groups in the same form, with the candidates of each question."""
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        for group in groups:
            questions = [
                [q.text, q.gold, q.candidates, [round(s * 10_000) for s in q.scores], q.category]
                for q in group.questions
            ]
            entry: dict[str, Any] = {
                "source": group.source,
                "docs": group.texts,
                "session": group.sessions,
                "qs": questions,
                "tuned": group.tuned,
            }
            lines.write(json.dumps(entry, ensure_ascii=False) + "\n")


def speaker_of(source: str, text: str) -> tuple[str | None, str]:
    """Return who speaks and what is said; nobody where texts have no speakers."""
    found = _SPEAKER.match(text) if source.startswith(DIALOGUES) else None
    if found is None or not text[found.end() :].strip():
        return None, text
    return found[1].strip() or None, text[found.end() :]
