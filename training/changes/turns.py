"""Turns labelled with what they do to a known fact: reading them, and finding what is wrong with a line.

python -m training.changes.turns [FILE ...]
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmind.consolidate.rules.naming import relation_of
from longmind.consolidate.rules.relations import RELATIONS
from longmind.models.changes import SPEAKER, KnownFact
from longmind.models.statements import Span, StatedClaim

DATA = Path(__file__).parent / "data"
DEVELOPMENT = ("r06", "r11")
"""The writers that thresholds are fitted on, never trained on."""
TEST = ("r09", "r13")
"""The writers that nothing is trained or fitted on."""
GONE = frozenset({"told", "hinted", "unnamed"})
_KNOWN_AS = {
    "owns": "has drives",
    "uses": "owns has",
    "partner": "has_wife has_husband has_girlfriend has_boyfriend",
    "pet": "has_dog has_cat has",
    "hobby": "plays likes",
    "habit": "likes hobby",
    "works_in": "works_in",
    "studies": "is_learning",
    "language": "is_learning",
    "member_of": "joined signed_up_for",
    "likes": "favorite interested_in",
    "diet": "eats",
    "knows": "has_friend has_colleague has_boss",
}
"""Other predicates under which memory may have a relation."""
HOLDS = frozenset({"still", "beside", "imagined", "planned", "for now", "reported", "other", "nothing"})


@dataclass(frozen=True, slots=True)
class KnownTurn:
    """A known fact, a turn, and whether the fact has stopped to hold in it."""

    writer: str
    subject: str
    """``I`` for whoever speaks."""
    relation: str
    object: str
    previous: str | None
    text: str
    gone: bool
    new: Span | None
    kind: str


def as_fact(turn: KnownTurn, chance: random.Random | None = None) -> KnownFact:
    """Return a turn as the reader gets it; with ``chance`` the fact is sometimes known under another predicate."""
    whose = None if turn.subject == SPEAKER else (0, 0)
    claim = StatedClaim(turn.relation, "current", (0, len(turn.object)), 1.0, subject=whose)
    words = (relation_of(claim, turn.object) or RELATIONS[turn.relation]).predicate
    if chance is not None and chance.random() < 0.3:
        others = _KNOWN_AS.get(turn.relation, turn.relation).split()
        words = chance.choice(others).replace("_", " ")
    found = re.search(re.escape(turn.object), turn.text, re.IGNORECASE)
    place = found.start() if found is not None else turn.new[0] if turn.new is not None else 0
    subject = SPEAKER if turn.subject.casefold() == "we" else turn.subject
    return KnownFact(subject, words, turn.object, turn.text, place, turn.previous)


def read_turns(path: Path) -> Iterator[KnownTurn]:
    """Yield the turns of a file; a wrong line raises ``ValueError`` that says which and why."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                yield _turn(path.stem, json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{path.name}, line {number}: {error}") from error


def _turn(writer: str, entry: dict[str, Any]) -> KnownTurn:
    subject, relation, object = entry["known"]
    gone, new, text, kind = entry["gone"], entry["new"], entry["text"], entry["kind"]
    if relation not in RELATIONS:
        raise ValueError(f"no relation {relation!r}")
    if kind not in (GONE if gone else HOLDS):
        raise ValueError(f"{kind!r} is no kind of turn after which the fact {'is gone' if gone else 'holds'}")
    if new is not None and (not gone or new not in text or new != new.strip() or not new):
        raise ValueError(f"{new!r} is no new value of {text!r}")
    span = None if new is None else (text.index(new), text.index(new) + len(new))
    return KnownTurn(writer, subject, relation, object, entry["previous"], text, gone, span, kind)


def main() -> None:
    """Check files and tell what they hold."""
    for path in [Path(name) for name in sys.argv[1:]] or sorted(DATA.glob("*.jsonl")):
        turns = list(read_turns(path))
        twice = len(turns) - len({(turn.text, turn.object) for turn in turns})
        facts = len({(turn.subject, turn.relation, turn.object) for turn in turns})
        named = sum(turn.object.casefold() in turn.text.casefold() for turn in turns if not turn.gone)
        kinds, relations = (Counter(getattr(turn, name) for turn in turns) for name in ("kind", "relation"))
        sys.stdout.write(
            f"{path.name}: {len(turns)} turns of {facts} facts, {sum(turn.gone for turn in turns)} gone, "
            f"{twice} twice, {named} name the fact that still holds\n"
            f"  kinds {dict(kinds)}\n  relations {dict(relations)}\n"
        )


if __name__ == "__main__":
    main()
