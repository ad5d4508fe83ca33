"""Where labels and teachers differ about a turn, to be read once more, and labels as that reading wants them.

    python -m training.claims.disagreements list --prepared prepared --taught OUT --out FOLDER [--files 8]
    python -m training.claims.disagreements apply FOLDER

A teacher (``training.claims.teach``) reads the writers that it has not learnt from. Where it is sure of a claim that no
label has, or sees nothing of what a label says, one of the two is wrong, or both are right. ``list`` writes such turns
with all the claims that labels or the teacher have, in random order and without saying whose they are. Whoever reads
them writes, beside ``part.txt``, a file ``part.verdicts`` with a line for each turn: its number, and the letters of the
claims that are right by the guideline. ``apply`` takes wrong labels away and adds what is right, but of several claims
about the same words only one: the label, if it is right.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import string
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from longmind.models.statements import Span
from training.claims.labels import DATA, RELATIONS, STATUSES, Label, Turn, overlap, read_turns, same, with_labels

SURE = 0.5
"""From this belief on, what a teacher reads and no label says is read once more."""
UNSEEN = 0.12
"""Below this belief of the teacher, a label is read once more."""
MOST = 12
"""The most claims of a turn that are listed."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """A claim about a turn and how sure the teacher is of it; a label is known by that."""

    claim: Label
    belief: float
    labelled: bool


def opinions(turn: Turn, read: Sequence[tuple[Label, float]]) -> list[Opinion]:
    """Return what labels and a teacher say of a turn that is to be read once more; nothing if they agree."""
    beliefs = [max((sure for claim, sure in read if same(claim, label)), default=0.0) for label in turn.claims]
    added = [(c, sure) for c, sure in read if sure >= SURE and not any(same(c, label) for label in turn.claims)]
    if not added and all(belief >= UNSEEN for belief in beliefs):
        return []
    labels = [Opinion(label, belief, labelled=True) for label, belief in zip(turn.claims, beliefs, strict=True)]
    return [*labels, *(Opinion(claim, sure, labelled=False) for claim, sure in added)][:MOST]


def corrected(candidates: Sequence[Opinion], right: Sequence[int]) -> tuple[Label, ...]:
    """Return the labels of a turn after a reading that found some of the candidates right."""
    chosen = sorted((candidates[n] for n in right), key=lambda each: (not each.labelled, -each.belief))
    kept: list[Label] = []
    for each in chosen:
        if all(overlap(each.claim.object, label.object) == 0 for label in kept if each.labelled is False):
            kept.append(each.claim)
    return tuple(sorted(kept, key=lambda label: label.object))


def taught_claims(prepared: Path, taught: Path) -> Iterator[tuple[Turn, int, list[tuple[Label, float]]]]:
    """Yield the turns that teachers have read without having learnt from them: turn, line, and what they read."""
    from training.bert import load_arrays
    from training.prepare import open_tokenizer

    arrays, tokenizer = load_arrays(prepared / "claims.npz.xz"), open_tokenizer()
    turns = {path.stem: list(read_turns(path)) for path in sorted(DATA.glob("*.jsonl"))}
    for path in sorted(taught.glob("taught.*.npz")):
        with np.load(path) as stored:
            said = {name: stored[name] for name in stored.files}
        holds = dict(zip(said["numbers"].tolist(), said["holds"].tolist(), strict=True))
        rows: dict[int, list[tuple[list[int], float]]] = {}
        for row, statuses, weight in zip(said["claims"].tolist(), said["statuses"], said["weights"], strict=True):
            rows.setdefault(row[0], []).append((row[1:], float(weight) * float(statuses.max())))
        for number, held in holds.items():
            if arrays["parts"][number] != 0 or arrays["variants"][number] != 0:
                continue
            line = int(arrays["lines"][number])
            turn = turns[f"w{arrays['writers'][number]:02d}"][line]
            offsets = tokenizer.encode(turn.text, add_special_tokens=False).offsets
            head = int(arrays["heads"][number])
            claims = [(_label(row, offsets, head), sure * held) for row, sure in rows.get(number, [])]
            yield turn, line, _apart([(claim, sure) for claim, sure in claims if claim is not None])


def _label(row: Sequence[int], offsets: Sequence[Span], head: int) -> Label | None:
    """Return a claim by characters; none if it points before the turn."""

    def span(first: int, last: int) -> Span | None:
        if first < head or last < first or last - head >= len(offsets):
            return None
        return offsets[first - head][0], offsets[last - head][1]

    thing = span(row[2], row[3])
    if thing is None or (row[4] and span(row[4], row[5]) is None):
        return None
    time = span(row[6], row[7]) if row[6] else None
    return Label(RELATIONS[row[0]], STATUSES[row[1]], thing, span(row[4], row[5]) if row[4] else None, time)


def _apart(claims: Sequence[tuple[Label, float]]) -> list[tuple[Label, float]]:
    """Return the surest claims of which no two have words in common."""
    kept: list[tuple[Label, float]] = []
    for claim, sure in sorted(claims, key=lambda pair: -pair[1]):
        if all(overlap(claim.object, other.object) == 0 for other, _ in kept):
            kept.append((claim, sure))
    return kept


def shown(turn: Turn, claim: Label) -> str:
    """Return a claim as a line for a reader."""
    subject = "speaker" if claim.subject is None else turn.text[slice(*claim.subject)]
    return f"{subject} | {claim.relation} | {turn.text[slice(*claim.object)]} | {claim.status}"


def write_list(prepared: Path, taught: Path, out: Path, files: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    chance = random.Random(3)
    listed = []
    for turn, line, read in taught_claims(prepared, taught):
        found = opinions(turn, read)
        chance.shuffle(found)
        if found:
            listed.append((turn, line, found))
    chance.shuffle(listed)
    texts, entries = [list[str]() for _ in range(files)], []
    for number, (turn, line, found) in enumerate(listed):
        claims = "\n".join(f"  {string.ascii_uppercase[n]}: {shown(turn, o.claim)}" for n, o in enumerate(found))
        before = f"  before: {turn.previous[-200:]}\n" if turn.previous else ""
        texts[number % files].append(f"#{number}\n{before}  turn ({turn.speaker}): {turn.text}\n{claims}\n")
        entries.append({"writer": turn.writer, "line": line, "claims": [_entry(o) for o in found]})
    for part, lines in enumerate(texts):
        (out / f"{part}.txt").write_text("".join(lines), encoding="utf-8")
    (out / "claims.json").write_text(json.dumps(entries), encoding="utf-8")
    sys.stdout.write(f"{len(listed)} turns, {sum(len(found) for *_, found in listed)} claims\n")


def _entry(opinion: Opinion) -> list[object]:
    claim = opinion.claim
    return [claim.relation, claim.status, claim.object, claim.subject, claim.time, opinion.belief, opinion.labelled]


def _opinion(entry: list[object]) -> Opinion:
    relation, status, *spans, belief, labelled = entry
    thing, subject, time = (None if span is None else tuple(span) for span in spans)  # type: ignore[call-overload]
    return Opinion(Label(relation, status, thing, subject, time), belief, labelled)  # type: ignore[arg-type]


def read_letters(path: Path) -> Iterator[tuple[int, frozenset[str]]]:
    """Yield the number of each turn and the letters behind it; a line in another form raises ValueError."""
    for line in path.read_text(encoding="utf-8").splitlines():
        match = re.fullmatch(r"#?(\d+):?((?:[\s,]+[A-Za-z](?![A-Za-z]))*|\s*-)\s*", line)
        if match is None:
            raise ValueError(f"{path.name}: not a number and letters: {line!r}")
        yield int(match[1]), frozenset(re.findall("[A-Za-z]", match[2]))


def apply(folder: Path) -> None:
    entries = json.loads((folder / "claims.json").read_bytes())
    changes: dict[str, dict[int, tuple[Label, ...]]] = {}
    turns = {path.stem: list(read_turns(path)) for path in sorted(DATA.glob("*.jsonl"))}
    counts = {"turns": 0, "labels gone": 0, "claims added": 0}
    for path in sorted(folder.glob("*.verdicts")):
        for number, letters in read_letters(path):
            entry = entries[number]
            found = [_opinion(each) for each in entry["claims"]]
            turn = turns[entry["writer"]][entry["line"]]
            labels = corrected(found, [n for n in range(len(found)) if string.ascii_uppercase[n] in letters])
            counts["turns"] += 1
            counts["labels gone"] += sum(label not in labels for label in turn.claims)
            counts["claims added"] += sum(label not in turn.claims for label in labels)
            changes.setdefault(entry["writer"], {})[entry["line"]] = labels
    for writer, by_line in changes.items():
        path = DATA / f"{writer}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, labels in by_line.items():
            lines[number] = with_labels(lines[number], labels)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.stdout.write(f"{counts}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list")
    listing.add_argument("--prepared", type=Path, required=True)
    listing.add_argument("--taught", type=Path, required=True)
    listing.add_argument("--out", type=Path, required=True)
    listing.add_argument("--files", type=int, default=8)
    commands.add_parser("apply").add_argument("folder", type=Path)
    call = parser.parse_args()
    if call.command == "list":
        write_list(call.prepared, call.taught, call.out, call.files)
    else:
        apply(call.folder)


if __name__ == "__main__":
    main()
