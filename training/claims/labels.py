"""Labelled turns: reading them, and finding what is wrong with a label."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmind.models.statements import Span, StatedClaim

DATA = Path(__file__).parent / "data"
TEST = ("w05", "w11", "w15", "w18", "w63", "w67", "w71", "w75", "w95", "w105", "w111", "w117", "w123", "w148", "w149")
DEVELOPMENT = ("w07", "w14", "w79", "w83", "w87", "w92", "w108", "w121")
"""The writers that are measured on: never trained on, and those whose errors are read while training goes on."""
FRIENDS = ("w105", "w111", "w117", "w123")
"""Those of ``TEST`` that are pairs of friends, who state much in one message."""
EVERYDAY = ("w148", "w149")
"""Those of ``TEST`` that write as people do every day, to an assistant and to each other, with no wit."""
STATUSES = ("current", "past", "ended", "planned", "negated", "temporary", "hypothetical", "reported", "asked")
RELATIONS = tuple(
    """name age birthday from lives_in contact language belief
    works_as works_at works_in studies studied_at skill
    partner child parent sibling relative knows pet
    diet allergy condition medication measure
    likes dislikes hobby habit owns uses member_of
    event deadline instruction
    located_in property part_of made_by other""".split()
)


@dataclass(frozen=True, slots=True)
class Label:
    """A claim of a turn, by character positions in its text; no subject span means the speaker."""

    relation: str
    status: str
    object: tuple[int, int]
    subject: tuple[int, int] | None = None
    time: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A labelled turn."""

    writer: str
    topic: str
    previous: str | None
    speaker: str
    text: str
    claims: tuple[Label, ...]


def read_turns(path: Path) -> Iterator[Turn]:
    """Yield the turns of a file; a wrong line raises ``ValueError`` that says which and why."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                yield read_turn(line)
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{path.name}, line {number}: {error}") from error


def read_turn(line: str) -> Turn:
    """Return the turn of a line."""
    entry = json.loads(line)
    return Turn(
        entry["writer"],
        entry["topic"],
        entry.get("previous"),
        entry["speaker"],
        entry["text"],
        tuple(_label(claim, entry["text"]) for claim in entry["claims"]),
    )


def _label(claim: dict[str, Any], text: str) -> Label:
    if unknown := set(claim) - {
        "subject",
        "relation",
        "object",
        "status",
        "time",
        "object_at",
        "subject_at",
        "time_at",
    }:
        raise ValueError(f"unknown fields {sorted(unknown)}")
    if claim["relation"] not in RELATIONS:
        raise ValueError(f"no relation {claim['relation']!r}")
    if claim["status"] not in STATUSES:
        raise ValueError(f"no status {claim['status']!r}")
    subject = claim["subject"]
    return Label(
        claim["relation"],
        claim["status"],
        _span(text, claim["object"], claim.get("object_at", 1)),
        None if subject == "speaker" else _span(text, subject, claim.get("subject_at", 1)),
        _span(text, claim["time"], claim.get("time_at", 1)) if claim.get("time") else None,
    )


def _span(text: str, words: str, occurrence: int) -> tuple[int, int]:
    start = -1
    for _ in range(occurrence):
        start = text.find(words, start + 1)
        if start < 0:
            raise ValueError(f"{words!r} is not in the text that often: {text!r}")
    if not words.strip() or words != words.strip():
        raise ValueError(f"{words!r} has blanks at its ends")
    return start, start + len(words)


def overlap(a: Span, b: Span) -> float:
    """Return the share of the letters of two spans that they have in common."""
    return max(0, min(a[1], b[1]) - max(a[0], b[0])) / (max(a[1], b[1]) - min(a[0], b[0]))


def same(claim: Label | StatedClaim, label: Label) -> bool:
    """Whether a claim says what a label says, of nearly the same words."""
    if claim.relation != label.relation or claim.status != label.status or overlap(claim.object, label.object) < 0.5:
        return False
    if claim.subject is None or label.subject is None:
        return claim.subject is label.subject
    return overlap(claim.subject, label.subject) > 0


def with_labels(line: str, labels: Sequence[Label]) -> str:
    """Return the line of a turn with other labels."""
    entry = json.loads(line)
    entry["claims"] = [_claim(label, entry["text"]) for label in labels]
    return json.dumps(entry, ensure_ascii=False)


def _claim(label: Label, text: str) -> dict[str, Any]:
    claim: dict[str, Any] = {"subject": "speaker", "relation": label.relation, "object": "", "status": label.status}
    for name, span in (("subject", label.subject), ("object", label.object), ("time", label.time)):
        if span is not None:
            claim[name] = text[slice(*span)]
            occurrence = sum(text.startswith(claim[name], at) for at in range(span[0] + 1))
            if occurrence > 1:
                claim[f"{name}_at"] = occurrence
    return claim


def main() -> None:
    """Check files of labels and tell what they hold: ``python -m training.claims.labels [FILE ...]``."""
    wrong = 0
    for path in [Path(name) for name in sys.argv[1:]] or sorted(DATA.glob("*.jsonl")):
        lines = path.read_text(encoding="utf-8").splitlines()
        turns, seen = [], set()
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                turn = read_turn(line)
            except (ValueError, KeyError, TypeError) as error:
                wrong += 1
                sys.stdout.write(f"{path.name}:{number}: {error}\n")
                continue
            if turn.text in seen:
                wrong += 1
                sys.stdout.write(f"{path.name}:{number}: the same text a second time\n")
            seen.add(turn.text)
            turns.append(turn)
        claims = [claim for turn in turns for claim in turn.claims]
        empty = sum(not turn.claims for turn in turns)
        sys.stdout.write(
            f"{path.name}: {len(turns)} turns, {100 * empty / max(len(turns), 1):.0f} % without a claim, "
            f"{len(claims)} claims\n  relations {dict(Counter(c.relation for c in claims).most_common())}\n"
            f"  statuses {dict(Counter(c.status for c in claims).most_common())}\n"
            f"  writers {dict(Counter(t.writer for t in turns))}\n"
        )
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
