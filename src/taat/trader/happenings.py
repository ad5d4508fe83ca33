"""What the loop tells those who watch it: what happened, and what a run did in all."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from taat.memory import Decision, Execution, SignalRecord


@dataclass(frozen=True)
class Happening:
    """Something that the loop did, for whoever watches it."""

    kind: str
    """``decision``, ``execution``, ``edit``, ``learnt``, ``draft``, ``alert`` or ``error``."""
    at: datetime
    announcer: str
    text: str
    record: SignalRecord | None = None
    decision: Decision | None = None
    execution: Execution | None = None


@dataclass
class Summary:
    """What a run did."""

    posts: int = 0
    signals: int = 0
    accepted: int = 0
    refused: int = 0
    executions: int = 0
    duplicates: int = 0
    edits: int = 0
    errors: int = 0
