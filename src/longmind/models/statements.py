"""What a turn states: claims with their places in the text, and who can read them.

A claim names a relation of a fixed inventory, and says whether it holds. ``docs/adr/0030-reader-of-statements.md`` says
what consolidation does with each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

Status = Literal["current", "past", "ended", "planned", "negated", "temporary", "hypothetical", "reported", "asked"]
STATUSES: tuple[Status, ...] = (
    "current",
    "past",
    "ended",
    "planned",
    "negated",
    "temporary",
    "hypothetical",
    "reported",
    "asked",
)
RELATIONS: tuple[str, ...] = tuple(
    """name age birthday from lives_in contact language belief
    works_as works_at works_in studies studied_at skill
    partner child parent sibling relative knows pet
    diet allergy condition medication measure
    likes dislikes hobby habit owns uses member_of
    event deadline instruction
    located_in property part_of made_by other""".split()
)
"""The inventory. ``training/claims/GUIDELINE.md`` says what each means."""
Span = tuple[int, int]
"""The first character of a piece of text, and the one after its last."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A message to be read, and the message of the other side before it."""

    text: str
    previous: str | None = None


@dataclass(frozen=True, slots=True)
class StatedClaim:
    """A claim of a turn; all spans count characters of the turn's text."""

    relation: str
    status: Status
    object: Span
    confidence: float
    """How likely all of the claim is right, from 0 to 1."""
    kept: bool = True
    """Whether it is sure enough to be learnt; otherwise it is only a second opinion on what others read."""
    certain: bool = False
    """Whether it is sure enough to change what was known before."""
    subject: Span | None = None
    """The words that name whom or what it is about; None: the speaker."""
    time: Span | None = None
    """The words that say when, or since when."""

    @property
    def span(self) -> Span:
        """All of the text that the claim rests on."""
        spans = [span for span in (self.object, self.subject, self.time) if span is not None]
        return min(start for start, _ in spans), max(end for _, end in spans)


@dataclass(frozen=True, slots=True)
class PossibleChange:
    """A relation of which a turn may tell a change, by words that need not name it: "the ring is back in its box"."""

    relation: str
    place: int
    """The first character of the passage that may tell it."""
    likely: bool = True
    """Whether it is worth reading also together with a fact that the turn does not name."""


@dataclass(frozen=True, slots=True)
class TurnReading:
    """What is read of a turn."""

    claims: list[StatedClaim] = field(default_factory=list)
    """In the order of the text."""
    changes: list[PossibleChange] = field(default_factory=list)
    """What is worth reading together with what is known."""


class StatementReader(Protocol):
    """Reads the claims in turns. It computes for long, so callers run it in a thread."""

    @property
    def name(self) -> str:
        """The model and its version, recorded with what is learnt from it."""
        ...

    def read(self, turns: Sequence[Turn]) -> list[TurnReading]:
        """Return what is read of each turn; what is read of one depends on no other."""
        ...


def open_statement_reader() -> StatementReader | None:
    """Return the trained reader, opened once in a process; None where it is not installed, or not finished."""
    from longmind.models.small_models import missing

    if missing():
        return None
    from longmind.models.statement_reader import shared_reader

    return shared_reader()
