"""Folding: a fact is shown with the memory it was extracted from, not as a second hit.

Consolidation extracts facts from messages, and knowledge about a person from facts. A question that finds the message
finds these too, and the same answer would take two places among ten hits. So a fact whose evidence is also a candidate
becomes a note of that candidate. A fact without a quoted source (stored directly, or derived from an episode) stays a
hit of its own, and so does one whose evidence the question does not find.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from longmind.types import Memory

if TYPE_CHECKING:
    from longmind.recall.ranking import Candidate

MAX_FACTS_SHOWN = 3
"""The most facts noted on one hit, the best first."""
EXTRACTED_KINDS = ("fact", "knowledge")
EXTRACTED_FACTOR = 0.85
"""A factor on the score of a memory that was extracted from another, so that the original ranks first."""
NAME_ONLY_FACTOR = 0.2
"""A factor on the score of a concept that has nothing but a name."""


def evidence_ids(memory: Memory) -> Iterator[str]:
    """Yield the ids of the memories that a fact or a knowledge entry quotes as evidence."""
    for evidence in memory.body.get("evidence", ()) if memory.kind in EXTRACTED_KINDS else ():
        if isinstance(evidence, str):
            yield evidence
        elif isinstance(evidence, Mapping) and evidence.get("span"):
            yield str(evidence["memory"])


def reduce_repetitions(candidates: Iterable[Candidate]) -> None:
    """Lower the scores of extracted memories and of concepts that are only a name."""
    for candidate in candidates:
        if is_only_a_name(candidate.memory):
            candidate.score *= NAME_ONLY_FACTOR
        elif next(evidence_ids(candidate.memory), None) is not None:
            candidate.score *= EXTRACTED_FACTOR


def fold(candidates: dict[str, Candidate], same: Mapping[str, str] = MappingProxyType({})) -> None:
    """Fold each fact into the best candidate it was extracted from, which takes over its score if that is higher.

    ``same`` maps memories that are no candidates to the candidate that says the same.
    """
    counts: dict[str, int] = {}
    facts = [c for c in candidates.values() if c.memory.kind in EXTRACTED_KINDS]
    for fact in sorted(facts, key=lambda c: -c.score):
        evidence = {same.get(id, id) for id in evidence_ids(fact.memory)}
        sources = [candidates[id] for id in sorted(evidence) if id in candidates]
        if not sources:
            continue
        best = max(sources, key=lambda c: c.score)
        best.replace(fact, fact.score)
        counts[best.memory.id] = counts.get(best.memory.id, 0) + 1
        note = f"known from it{_validity(fact.memory)}: {fact.memory.content}"
        if counts[best.memory.id] <= MAX_FACTS_SHOWN and note not in best.notes:
            best.notes.append(note)
        del candidates[fact.memory.id]


def _validity(fact: Memory) -> str:
    """Return what keeps a fact from holding without end, in words."""
    if fact.state != "active":
        return f", {fact.state} since"
    return "" if fact.valid_to is None else f", until {fact.valid_to:%Y-%m-%d}"


def is_only_a_name(memory: Memory) -> bool:
    """Return whether a memory is a concept without definition and attributes."""
    return memory.kind == "concept" and not (memory.body.get("definition") or memory.body.get("attributes"))
