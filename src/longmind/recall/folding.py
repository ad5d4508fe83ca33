"""Folding: a fact is shown with the memory it was extracted from, not beside it.

Consolidation draws facts from what was said, and what is known of a person from facts. A question that finds the saying
finds these as well, and both among ten hits would be one answer twice, and a place less for another. So a fact whose
evidence is on the way to being a hit is told there. A fact that stands on its own (learnt by itself, or with an episode
as its ground) stays a hit of its own, and so does one whose evidence the question does not find.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from longmind.types import Memory

if TYPE_CHECKING:
    from longmind.recall.ranking import Candidate

TOLD = 3
"""Facts that are told of one memory; the best of them."""
DRAWN = ("fact", "knowledge")
REPEATS = 0.85
"""What is left of the score of a memory that was drawn from another: of the two, what was said itself comes first."""
NAME_ONLY = 0.2
"""What is left of the score of a concept that is nothing but a name."""


def drawn_from(memory: Memory) -> Iterator[str]:
    """The memories from whose words a fact, or what is known of a person, was drawn."""
    for evidence in memory.body.get("evidence", ()) if memory.kind in DRAWN else ():
        if isinstance(evidence, str):
            yield evidence
        elif isinstance(evidence, Mapping) and evidence.get("span"):
            yield str(evidence["memory"])


def weigh(candidates: Iterable[Candidate]) -> None:
    """Take from what only repeats, or only names, its share."""
    for candidate in candidates:
        if is_only_a_name(candidate.memory):
            candidate.score *= NAME_ONLY
        elif next(drawn_from(candidate.memory), None) is not None:
            candidate.score *= REPEATS


def fold(candidates: dict[str, Candidate]) -> None:
    """Put each fact into the best candidate it was drawn from, which gets its score if that is higher."""
    counts: dict[str, int] = {}
    facts = [c for c in candidates.values() if c.memory.kind in DRAWN]
    for fact in sorted(facts, key=lambda c: -c.score):
        sources = [candidates[id] for id in drawn_from(fact.memory) if id in candidates]
        if not sources:
            continue
        best = max(sources, key=lambda c: c.score)
        best.score = max(best.score, fact.score)
        counts[best.memory.id] = counts.get(best.memory.id, 0) + 1
        said = "known from it" if fact.memory.state == "active" else f"known from it, {fact.memory.state} since"
        note = f"{said}: {fact.memory.content}"
        if counts[best.memory.id] <= TOLD and note not in best.notes:
            best.notes.append(note)
        del candidates[fact.memory.id]


def is_only_a_name(memory: Memory) -> bool:
    """Whether a memory is a concept that says nothing but what it is called."""
    return memory.kind == "concept" and not (memory.body.get("definition") or memory.body.get("attributes"))
