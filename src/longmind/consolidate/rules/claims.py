"""A claim: what a sentence states, as subject, predicate and object, with the place where it says so."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Reason = Literal[
    "question",
    "hypothetical",
    "negated",
    "reported",
    "unclear",
    "unsure",
    "language",
    "quote",
    "invalid",
    "conflict",
    "limit",
]
"""Why something that looked like a claim was not taken for one."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement found in a text."""

    subject: str
    predicate: str
    object: str
    span: tuple[int, int]
    """The characters of the text that say so."""
    confidence: float
    rule: str
    many: bool = True
    """Whether several such values may hold at once."""
    relates: bool = False
    """Whether the object is something that has a name."""
    start: datetime | None = None
    """When it began or happened, if the sentence says so."""
    ended: bool = False
    """Whether the sentence says that this no longer holds; an empty object then means any value."""
    since: datetime | None = None
    """Since when something holds now. Unlike ``start`` it never puts the claim behind what was known later."""
    until: datetime | None = None
    """When it stops to hold, if the sentence says so."""
    also: tuple[str, ...] = ()
    """Further predicates under which the same may be known."""
    instead_of: tuple[str, ...] = ()
    """Predicates whose other values end with this claim, if it is certain."""
    certain: bool = True
    """Whether it is sure enough to replace or end another value."""
    by_name: tuple[str, ...] = ()
    """Predicates under which what has ended may be known by its name; it then ends there although less than certain."""
    beside: tuple[str, ...] = ()
    """Further values that the same text holds for true, however unsurely: this one stands beside them."""
    rest: str | None = None
    """The rest of the text, if the claim is too unsure by itself: it is learnt only in place of a value named there."""
    otherwise: str | None = None
    """Another name by which its subject may be known: "ann's company" is "company" where ann says "the company"."""


@dataclass(frozen=True, slots=True)
class Refused:
    """What looked like a claim and was not taken for one."""

    reason: Reason
    text: str
    span: tuple[int, int] | None = None
