"""The common form of an evaluation set: what to remember, what to ask, and what must come back.

The published sets are not part of Longmind. ``tuned`` marks the half on which weights may be tuned; the other half is
reported apart.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from longmind.errors import NotFound
from longmind.types import Role


@dataclass(frozen=True, slots=True)
class Item:
    """One message to remember; ``label`` is how the evidence of a question names it."""

    label: str
    text: str
    session: str | None = None
    speaker: str | None = None
    role: Role = "user"
    occurred_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question, with the labels of its evidence or the texts that answer it."""

    text: str
    evidence: frozenset[str]
    category: str
    answers: tuple[str, ...] = ()
    stale: frozenset[str] = frozenset()
    """Labels of turns that state what is no longer true and must not rank above the evidence."""


@dataclass(frozen=True, slots=True)
class Case:
    """One agent's memory and the questions asked of it."""

    name: str
    tuned: bool
    items: tuple[Item, ...]
    questions: tuple[Question, ...] = field(default=())


def read_gzip(path: Path) -> bytes:
    """Return the unpacked bytes of an evaluation file."""
    if not path.is_file():
        raise NotFound(
            f"The evaluation file {path.name} is not in {path.parent}.",
            hint="Give the folder that holds the evaluation data with --data.",
        )
    return gzip.decompress(path.read_bytes())
