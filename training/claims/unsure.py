"""Turns without labels of which the reader of statements is unsure, labelled by somebody who reads them.

    python -m training.claims.unsure list --data DATA --out FOLDER [--files 8] [--turns 3200] [--changes]
    python -m training.claims.unsure add FOLDER
    python -m training.claims.unsure measure --data DATA

``list`` reads turns of posts, scenes and our own chats, and writes those in which the reader half believes something,
with the claims that it sees; with ``--changes`` it writes all turns that were made for the reader of changes. Whoever
reads them writes ``part.verdicts``: a line for each turn with its number and the letters of the claims that are right
(``A``), that are true but not worth keeping (``b``), or that have the wrong status only (``C=past``); under it, behind
``+``, what the turn states and no claim says, in the same form.

``add`` appends the labels to ``unsure.jsonl``, and what was found about each listed claim to ``checked.jsonl``. A turn
is known there by a checksum of its text, since posts are no part of the project; ``training.claims.prepare`` finds it
among the turns without labels and learns it like a labelled one, and ``training.changes.prepare`` finds its claims.

Some turns are held out: no label of theirs was learnt, and none of their sentences stands in a turn whose label was.
``measure`` tells how good the reader is on them. They are harder than talk in general, since a reader doubted them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import string
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from longmind.models.small_models import load
from longmind.models.statement_reader import TrainedStatementReader
from longmind.models.statements import StatedClaim
from longmind.models.statements import Turn as ReadTurn
from training.claims.disagreements import shown
from training.claims.labels import RELATIONS, STATUSES, Label, Turn, overlap
from training.claims.thresholds import SHOWN, judge
from training.claims.unlabelled import Unlabelled, known_turns, talk_of_people

UNSURE = Path(__file__).with_name("unsure.jsonl")
CHECKED = Path(__file__).with_name("checked.jsonl")
SEEN = 0.25
"""The confidence from which on a claim is listed."""
DOUBTED = (0.4, 0.92)
"""A turn is listed if the confidence of a claim in it lies between these."""
BATCH = 500


def checksum(text: str) -> str:
    """Return what a turn is known by."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def label_of(entry: dict[str, Any]) -> Label:
    """Return a label as it was written."""
    spans = [tuple(entry[name]) if name in entry else None for name in ("object", "subject", "time")]
    return Label(entry["relation"], entry["status"], *spans)  # type: ignore[arg-type]


def read_labels(path: Path = UNSURE, *, held_out: bool = False) -> dict[str, tuple[Label, ...]]:
    """Return the labels of turns to learn from, or of those that are held out, by the checksum of their text."""
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    wanted = [entry for entry in entries if entry.get("held_out", False) == held_out]
    return {entry["turn"]: tuple(map(label_of, entry["claims"])) for entry in wanted}


def entry_of(label: Label) -> dict[str, Any]:
    """Return a label as it is written."""
    return {name: value for name, value in asdict(label).items() if value is not None}


@dataclass(slots=True)
class Verdict:
    """What somebody found who read a turn."""

    right: dict[str, str | None] = field(default_factory=dict)
    """The letters of right claims, with their status where another one was listed."""
    added: list[str] = field(default_factory=list)
    """Claims that were not listed, as ``subject | relation | object | status``."""
    trivial: frozenset[str] = frozenset()
    """The letters of claims that are true but not worth keeping, as capitals."""

    def of(self, letter: str) -> str:
        """Return what was found about a listed claim; one with another status is wrong as it was listed."""
        if letter in self.right:
            return "right" if self.right[letter] is None else "wrong"
        return "trivial" if letter in self.trivial else "wrong"


def read_verdicts(path: Path) -> Iterator[tuple[int, Verdict]]:
    """Yield the number of each turn and what was found; a line in another form raises ValueError."""
    number, verdict = -1, Verdict()
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("+"):
            verdict.added.append(line.lstrip(" +"))
            continue
        match = re.fullmatch(r"#?(\d+):?\s*((?:[A-Za-z](?:=[a-z]+)?[\s,]*)*|-)\s*", line)
        if match is None:
            raise ValueError(f"{path.name}: not a number and letters: {line!r}")
        if number >= 0:
            yield number, verdict
        trivial = re.findall(r"(?<![\w=])[a-z](?![\w=])", match[2])
        number, verdict = int(match[1]), Verdict(trivial=frozenset(letter.upper() for letter in trivial))
        for letter, status in re.findall(r"([A-Z])(?:=([a-z]+))?(?=[\s,]|$)", match[2]):
            if status and status not in STATUSES:
                raise ValueError(f"{path.name}: no status {status!r}: {line!r}")
            verdict.right[letter] = status or None
    if number >= 0:
        yield number, verdict


def added_label(text: str, line: str) -> Label:
    """Return a claim that a reader wrote; words that are not in the turn raise ValueError."""
    subject, relation, words, status, *rest = (part.strip() for part in line.split("|"))
    if relation not in RELATIONS or status not in STATUSES:
        raise ValueError(f"no such relation or status: {line!r}")

    def span(named: str) -> tuple[int, int]:
        if not named or named not in text:
            raise ValueError(f"{named!r} is not in the turn: {line!r}")
        return text.index(named), text.index(named) + len(named)

    time = span(rest[0]) if rest and rest[0] else None
    return Label(relation, status, span(words), None if subject == "speaker" else span(subject), time)


def _read(turns: list[Unlabelled]) -> list[list[StatedClaim]]:
    decoded = TrainedStatementReader(load("statements")).decode_all([ReadTurn(text, before) for before, text in turns])
    return [[claim for claim, _ in claims] for claims in decoded]


def write_list(data: Path, out: Path, files: int, most: int, *, changes: bool) -> None:
    out.mkdir(parents=True, exist_ok=True)
    chance = random.Random(9)
    known = read_labels() | read_labels(held_out=True)
    source = list(dict.fromkeys(known_turns())) if changes else talk_of_people(data)
    turns = [turn for turn in source if checksum(turn[1]) not in known]
    chance.shuffle(turns)
    parts = [turns[at : at + BATCH] for at in range(0, min(len(turns), 8 * most), BATCH)]
    listed = []
    with ProcessPoolExecutor() as pool:
        for part, read in zip(parts, pool.map(_read, parts), strict=True):
            for turn, claims in zip(part, read, strict=True):
                if changes or any(DOUBTED[0] <= claim.confidence <= DOUBTED[1] for claim in claims):
                    listed.append((turn, [claim for claim in claims if claim.confidence >= SEEN][:26]))
    listed = listed[:most]
    texts, entries = [list[str]() for _ in range(files)], []
    for number, ((before, text), claims) in enumerate(listed):
        turn = Turn("", "", before, "", text, ())
        labels = [Label(c.relation, c.status, c.object, c.subject, c.time) for c in claims]
        chance.shuffle(labels)
        lines = [f"#{number}\n", f"  before: {before[-200:]}\n" if before else "", f"  turn: {text}\n"]
        lettered = zip(string.ascii_uppercase, labels, strict=False)
        lines += [f"  {letter}: {shown(turn, label)}\n" for letter, label in lettered]
        texts[number % files].append("".join(lines))
        entries.append({"text": text, "claims": [entry_of(label) for label in labels]})
    for part, lines in enumerate(texts):
        (out / f"{part}.txt").write_text("".join(lines), encoding="utf-8")
    (out / "turns.json").write_text(json.dumps(entries), encoding="utf-8")
    sys.stdout.write(f"{len(listed)} turns, {sum(len(claims) for _, claims in listed)} claims\n")


def labels_of(entry: dict[str, Any], verdict: Verdict, skipped: Counter[str]) -> list[Label]:
    """Return the labels of a turn after a reading; what cannot be used is counted."""
    labels = []
    for letter, claim in zip(string.ascii_uppercase, map(label_of, entry["claims"]), strict=False):
        if letter in verdict.right:
            labels.append(replace(claim, status=verdict.right[letter] or claim.status))
    for line in verdict.added:
        try:
            label = added_label(entry["text"], line)
        except ValueError:
            skipped["not in the turn or not in form"] += 1
            continue
        if any(overlap(label.object, other.object) > 0 for other in labels):
            skipped["about the same words"] += 1
        else:
            labels.append(label)
    return sorted(labels, key=lambda label: label.object)


def add(folder: Path) -> None:
    entries = json.loads((folder / "turns.json").read_bytes())
    skipped, lines, listed, right, added = Counter[str](), list[str](), 0, 0, 0
    checked = list[str]()
    for path in sorted(folder.glob("*.verdicts")):
        for number, verdict in read_verdicts(path):
            entry = entries[number]
            labels = labels_of(entry, verdict, skipped)
            listed, right, added = listed + len(entry["claims"]), right + len(verdict.right), added + len(labels)
            stored = {"turn": checksum(entry["text"]), "claims": [entry_of(label) for label in labels]}
            lines.append(json.dumps(stored) + "\n")
            for letter, claim in zip(string.ascii_uppercase, entry["claims"], strict=False):
                found = {"turn": stored["turn"], "claim": claim, "verdict": verdict.of(letter)}
                checked.append(json.dumps(found) + "\n")
    with UNSURE.open("a", encoding="utf-8") as file:
        file.writelines(lines)
    with CHECKED.open("a", encoding="utf-8") as file:
        file.writelines(checked)
    added -= right
    sys.stdout.write(f"{len(lines)} turns: of {listed} claims {right} right, {added} added, left out {dict(skipped)}\n")


def measure(data: Path) -> None:
    """Print how good the reader is on the turns that are held out."""
    labels = read_labels(held_out=True)
    turns = [turn for turn in talk_of_people(data) if checksum(turn[1]) in labels]
    reader = TrainedStatementReader(load("statements"))
    decoded = reader.decode_all([ReadTurn(text, before) for before, text in turns])
    own = [labels[checksum(text)] for _, text in turns]
    judged = [each for claims, right in zip(decoded, own, strict=True) for each in judge(claims, right)]
    wanted = sum(map(len, own))
    sys.stdout.write(f"{len(turns)} turns with {wanted} labels\n")
    kept = {f"from {least}": [j for j in judged if j.claim.confidence >= least] for least in SHOWN}
    kept["as kept"] = [j for j in judged if reader.thresholds.keeps(j.claim)]
    for name, some in kept.items():
        right, harmful = sum(j.right for j in some), sum(j.harmful for j in some)
        sys.stdout.write(
            f"{name}: {len(some)} claims, precision {right / max(len(some), 1):.3f}, recall {right / wanted:.3f}, "
            f"false as current in {harmful / len(turns):.1%} of turns\n"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list")
    listing.add_argument("--data", type=Path, required=True)
    listing.add_argument("--out", type=Path, required=True)
    listing.add_argument("--files", type=int, default=8)
    listing.add_argument("--turns", type=int, default=3200)
    listing.add_argument("--changes", action="store_true")
    commands.add_parser("add").add_argument("folder", type=Path)
    commands.add_parser("measure").add_argument("--data", type=Path, required=True)
    call = parser.parse_args()
    if call.command == "list":
        write_list(call.data, call.out, call.files, call.turns, changes=call.changes)
    elif call.command == "measure":
        measure(call.data)
    else:
        add(call.folder)


if __name__ == "__main__":
    main()
