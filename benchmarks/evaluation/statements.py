"""What consolidation learns from the labelled turns of the evaluation set, and what it must not learn."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.cases import Case
from benchmarks.evaluation.files import FOLDER, items, read
from benchmarks.quality import Figure, Progress, load, percent
from longmind.memory import AgentMemory, Longmind
from longmind.recall.folding import evidence_ids
from longmind.text.analysis import fold
from longmind.types import Filter, Memory

Triple = tuple[str, str, str]
"""Subject, predicate and object, folded."""


@dataclass(frozen=True, slots=True)
class Statement:
    """The label of one turn: facts that must be learnt from it, and others that may be."""

    turn: str
    facts: frozenset[Triple]
    allowed: frozenset[Triple]
    trap: bool
    """Whether the turn looks like a statement although nothing must be learnt from it."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A conversation with labelled turns, and the facts that are current or outdated at its end."""

    case: Case
    statements: tuple[Statement, ...]
    current: frozenset[Triple]
    outdated: frozenset[Triple]


@dataclass(slots=True)
class Learnt:
    """The result, summed over the labelled turns."""

    expected: int = 0
    found: int = 0
    """Expected facts that were learnt."""
    learnt: int = 0
    """Facts learnt from labelled turns."""
    right: int = 0
    """Those that are expected or allowed."""
    traps: int = 0
    traps_avoided: int = 0
    updates: int = 0
    """Facts of which it is known whether they hold at the end."""
    updates_right: int = 0

    @property
    def precision(self) -> float:
        """The share of what was learnt that is right, in percent."""
        return percent(self.right, self.learnt)

    @property
    def recall(self) -> float:
        """The share of the expected facts that was learnt, in percent."""
        return percent(self.found, self.expected)

    def rows(self) -> list[Figure]:
        """Return the figures as rows of name, value and unit."""
        return [
            ("facts learnt that are right", self.precision, "%"),
            ("expected facts that are learnt", self.recall, "%"),
            ("traps from which nothing is learnt", percent(self.traps_avoided, self.traps), "%"),
            ("facts rightly current or outdated at the end", percent(self.updates_right, self.updates), "%"),
        ]


def dialogues(folder: Path = FOLDER) -> Iterator[Dialogue]:
    """Read the labelled conversations and update dialogues."""
    for part in ("conversations", "updates"):
        for data in read(folder / part):
            yield Dialogue(
                Case(f"{part} {data['name']}", False, items(data)),
                tuple(_statement(entry) for entry in data["statements"]),
                _triples(data.get("current", ())),
                _triples(data.get("outdated", ())),
            )


def _statement(entry: dict[str, Any]) -> Statement:
    facts = _triples(entry["facts"])
    return Statement(entry["turn"], facts, facts | _triples(entry.get("also", ())), entry.get("trap", False))


def _triples(rows: Iterable[Sequence[str]]) -> frozenset[Triple]:
    return frozenset(_triple(*row) for row in rows)


def _triple(subject: object, predicate: object, object_: object) -> Triple:
    """Fold case and accents, and drop an article at the beginning of the object."""
    return fold(str(subject)), fold(str(predicate)), re.sub(r"^(?:an?|the)\s+", "", fold(str(object_)))


async def measure(longmind: Longmind, labelled: Sequence[Dialogue], progress: Progress) -> Learnt:
    """Remember and consolidate each dialogue, and compare the facts with the labels.

    The labels have the predicates of the patterns, so the trained reader is left out: ``training.claims.thresholds``
    measures that.
    """
    result = Learnt()
    for number, dialogue in enumerate(labelled, 1):
        mem = await load(longmind, "statements", dialogue.case)
        await mem.configure(statement_reader=False)
        await mem.consolidate()
        _compare(dialogue, *await _facts(mem), result)
        progress(number / len(labelled))
    return result


async def _facts(mem: AgentMemory) -> tuple[dict[str, set[Triple]], set[Triple]]:
    """Return the facts by the turns they were drawn from, and those that are current."""
    by_turn: dict[str, set[Triple]] = defaultdict(set)
    current: set[Triple] = set()
    async for memory in mem.store.scan_all(mem.scope, Filter(kinds=("fact",), states=None)):
        triple = _triple(memory.body["subject_name"], memory.body["predicate"], memory.body["object"])
        for source in await mem.store.get_all(mem.scope, list(evidence_ids(memory))):
            by_turn[str(source.metadata.get("label", ""))].add(triple)
        if _is_current(memory):
            current.add(triple)
    return by_turn, current


def _is_current(memory: Memory) -> bool:
    return memory.state == "active" and memory.valid_to is None and not memory.body.get("retracted_at")


def _is_learnt(fact: Triple, learnt: Set[Triple]) -> bool:
    """Whether a fact was learnt, in its own words or in others that are allowed for the same turn."""
    return any(fact[:2] == other[:2] for other in learnt)


def _compare(dialogue: Dialogue, by_turn: dict[str, set[Triple]], current: set[Triple], result: Learnt) -> None:
    for statement in dialogue.statements:
        learnt = by_turn.get(statement.turn, set())
        result.expected += len(statement.facts)
        result.found += sum(_is_learnt(fact, statement.allowed & learnt) for fact in statement.facts)
        result.learnt += len(learnt)
        result.right += len(statement.allowed & learnt)
        result.traps += statement.trap
        result.traps_avoided += statement.trap and not learnt
    result.updates += len(dialogue.current) + len(dialogue.outdated)
    result.updates_right += len(dialogue.current & current) + len(dialogue.outdated - current)
