"""Readers of statements and of changes that read what a test says."""

from __future__ import annotations

from collections.abc import Sequence

from longmind.consolidate.rules.relations import LASTING
from longmind.models.changes import Change, KnownFact
from longmind.models.statements import PossibleChange, StatedClaim, Status, Turn, TurnReading


class ScriptedReaders:
    """Read in each text what a test says: of statements, and of changes."""

    name = "scripted"

    def __init__(self) -> None:
        self.claims: dict[str, list[StatedClaim]] = {}
        self.changes: dict[tuple[str, str], tuple[bool, str | None, float]] = {}
        self.possible: dict[str, list[PossibleChange]] = {}
        self.asked: list[KnownFact] = []
        self.turns: list[str] = []

    def states(
        self,
        text: str,
        relation: str,
        object: str,
        *,
        sure: bool = True,
        confidence: float | None = None,
        subject: str | None = None,
        status: Status = "current",
    ) -> str:
        def span(words: str) -> tuple[int, int]:
            return text.index(words), text.index(words) + len(words)

        sure = sure and confidence is None
        confidence = confidence or (0.9 if sure else 0.2)
        whom = None if subject is None else span(subject)
        claim = StatedClaim(relation, status, span(object), confidence, sure, sure, whom)
        self.claims.setdefault(text, []).append(claim)
        return text

    def may_change(self, text: str, relation: str, *, likely: bool = True) -> str:
        self.possible.setdefault(text, []).append(PossibleChange(relation, 0, likely))
        return text

    def ends(
        self, text: str, object: str, new: str | None = None, *, certain: bool = True, gone: float | None = None
    ) -> str:
        self.changes[text, object] = (certain, new, gone or (0.95 if certain else 0.3))
        named = (PossibleChange(relation, 0, likely=False) for relation in LASTING)
        self.possible.setdefault(text, []).extend(named)
        return text


class Statements(ScriptedReaders):
    def read(self, turns: Sequence[Turn]) -> list[TurnReading]:
        self.turns += [turn.text for turn in turns]
        return [TurnReading(self.claims.get(turn.text, []), self.possible.get(turn.text, [])) for turn in turns]


class Changes:
    name = "scripted"

    def __init__(self, script: ScriptedReaders) -> None:
        self._script = script

    def read(self, facts: Sequence[KnownFact]) -> list[Change]:
        self._script.asked += facts
        return [self._change(fact) for fact in facts]

    def _change(self, fact: KnownFact) -> Change:
        certain, new, gone = self._script.changes.get((fact.text, fact.object), (False, None, 0.3))
        start = 0 if new is None else fact.text.index(new)
        return Change(gone, None if new is None else (start, start + len(new)), certain)
