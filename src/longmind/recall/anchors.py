"""Events as points in time: "before I moved", "after the wedding".

A question without a date may name an event instead. The memory that tells of the event is looked up by the words of the
event alone. The date is the one in its text ("last May", said in June), or else the date of the memory. It gives a span
of time like any other date.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from longmind.store.search.view import View
from longmind.text.analysis import term_hash, terms
from longmind.text.dates import format_day
from longmind.text.index_terms import DATED, mark_hash
from longmind.text.time_spans import TimeSpan, find_span

if TYPE_CHECKING:
    from longmind.types import Memory

_PLACE = re.compile(r"\b(before|until|prior to|after|since|following)\s+(?=\S)", re.IGNORECASE)
_WORDS = ("before", "until", "prior", "after", "since", "following")
_DEFINITE = re.compile(
    r"(?:the|my|our|your|his|her|their|its|that)\s+\w+|(?:[Ii]|we|you|he|she|they|it)\s+[a-z]{3,}"
    r"|[A-Z]\w+(?:'s)?\s+[a-z]{3,}"
    r"|(?:moving|leaving|joining|quitting|graduating|retiring|marrying|divorcing|adopting)\b"
    r"|(?:getting|being|becoming) (?:married|engaged|divorced|hired|fired|promoted|laid off|diagnosed|pregnant)\b"
)
"""How an event begins: "the wedding", "I moved", "Ann's birthday", "getting married". Not "work", "a meal" or "going to
bed": those recur, so they name no point in time."""
_ENDS = re.compile(r"[,.;:?!\n]|\b(?:what|who|whom|where|when|which|how|why|did|does|do|and|or|but)\b", re.IGNORECASE)
_LASTS = re.compile(r"\bhow (?:long|many (?:days|weeks|months|years))\b", re.IGNORECASE)
"""A question for a duration before an event: the answer is told together with the event, not before it."""
_LONGEST = 80
SURE = 0.5
_DATED_MORE = 1.25
"""A factor for memories that name a time, as they are more likely to tell of the event."""
AS_GOOD = 0.75
"""The earliest memory with at least this share of the best score is taken: later ones look back on the event."""
COVERED = 0.75
"""The share of an event's words, weighted by rarity, that a memory must contain to tell of it."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event that a question names, and whether it asks for the time before or after it."""

    before: bool
    event: str

    @property
    def said(self) -> str:
        return f"{'before' if self.before else 'after'} {self.event}"


def anchor_in(text: str) -> Anchor | None:
    """Find the event before or after which a question asks; None if it names none."""
    if len(text) > 2_000:
        return None
    lowered = text.lower()
    if not any(word in lowered for word in _WORDS) or _LASTS.search(text):
        return None
    for match in _PLACE.finditer(text):
        rest = text[match.end() : match.end() + _LONGEST]
        if not _DEFINITE.match(rest):
            continue
        end = _ENDS.search(rest)
        event = (rest[: end.start()] if end else rest).strip()
        if terms(event):
            return Anchor(match.group(1).lower() in ("before", "until", "prior to"), event)
    return None


def find_telling_memory(view: View, anchor: Anchor, allowed: NDArray[np.bool_]) -> str | None:
    """Return the id of the memory that tells of an event best; None if there is none."""
    asked = [(term_hash(term), 1.0) for term in dict.fromkeys(terms(anchor.event))]
    rows, scores = view.bm25(asked)
    kept = allowed[rows]
    rows, scores = rows[kept], scores[kept]
    if not len(rows):
        return None
    covered, whole = np.zeros(len(rows), np.float32), 0.0
    for term, _ in asked:
        found = view.term_rows(term)
        whole += found.idf
        covered[np.isin(rows, found.rows, assume_unique=True)] += np.float32(found.idf)
    scores = np.where(covered >= COVERED * whole, scores, 0)
    scores[np.isin(rows, view.term_rows(mark_hash(DATED)).rows, assume_unique=True)] *= np.float32(_DATED_MORE)
    most = float(scores.max())
    if most <= 0:
        return None
    as_good = np.flatnonzero(scores >= np.float32(AS_GOOD * most))
    first = int(as_good[np.argmin(view.column("occurred_at")[rows[as_good]])])
    return view.ids[int(rows[first])]


def span_around(anchor: Anchor, memory: Memory) -> TimeSpan:
    """Return the time before or after the event that a memory tells of."""
    when = _moment(memory)
    said = f"{anchor.said}: {format_day(when)}"
    return TimeSpan(None, when, said, SURE) if anchor.before else TimeSpan(when, None, said, SURE)


def _moment(memory: Memory) -> datetime:
    if memory.kind == "fact" and memory.valid_from is not None:
        return memory.valid_from
    named = find_span(memory.content, memory.occurred_at)
    if named is not None and named.since is not None and named.until is not None:
        return named.since
    return memory.occurred_at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
