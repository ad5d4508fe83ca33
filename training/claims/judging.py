"""Claims that the reader of statements finds in the turns it is measured on, to be judged by reading.

    python -m training.claims.judging list --out FOLDER [--files 8]
    python -m training.claims.judging add FOLDER

``list`` writes the turns with the claims that equal no label and were not judged yet, and a tenth of those that equal
one, without saying which. Whoever reads them writes ``part.verdicts`` with a line for each turn: its number, the
letters of the claims that are right, and in small letters those that are true but not worth keeping. ``add`` appends
what was found to ``judged.jsonl``, which ``training.claims.thresholds`` reads.
"""

from __future__ import annotations

import argparse
import json
import random
import string
import sys
from pathlib import Path

from longmind.models.small_models import load
from longmind.models.statement_reader import TrainedStatementReader
from longmind.models.statements import StatedClaim
from training.claims.disagreements import read_letters, shown
from training.claims.labels import DATA, DEVELOPMENT, TEST, Label, Turn, read_turns
from training.claims.thresholds import JUDGED, LEAST_JUDGED, calibrated, fit, joined, read, read_verdicts

CONTROL = 0.1
"""How many of the claims that equal a label are judged too."""


def entry(writer: str, number: int, turn: Turn, claim: StatedClaim) -> dict[str, object]:
    """Return what a verdict is known by."""
    subject = "speaker" if claim.subject is None else turn.text[slice(*claim.subject)]
    names = {"writer": writer, "turn": number, "relation": claim.relation, "status": claim.status}
    return {**names, "subject": subject, "at": claim.object[0], "object": turn.text[slice(*claim.object)]}


def write_list(out: Path, files: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    reader, verdicts, chance = TrainedStatementReader(load("statements")), read_verdicts(), random.Random(8)
    samples = {writer: read(reader, writer, verdicts) for writer in (*DEVELOPMENT, *TEST)}
    developed = [j for writer in DEVELOPMENT for j in samples[writer].judged]
    calibration = fit(developed, len(reader.relations))
    by_turn: dict[tuple[str, int], list[StatedClaim]] = {}
    turns = {writer: list(read_turns(DATA / f"{writer}.jsonl")) for writer in samples}
    for each in calibrated(joined(list(samples.values()), calibration).judged, calibration):
        claim, (writer, number) = each.claim, each.place
        known = tuple(list(entry(writer, number, turns[writer][number], claim).values())[:6])
        if claim.confidence < LEAST_JUDGED or known in verdicts or (each.right and chance.random() > CONTROL):
            continue
        by_turn.setdefault(each.place, []).append(claim)
    listed = sorted(by_turn.items())
    chance.shuffle(listed)
    texts, entries = [list[str]() for _ in range(files)], []
    for place, ((writer, number), claims) in enumerate(listed):
        turn = turns[writer][number]
        chance.shuffle(claims)
        lines = [f"#{place}\n", f"  before: {turn.previous[-200:]}\n" if turn.previous else ""]
        lines.append(f"  turn ({turn.speaker}): {turn.text}\n")
        for letter, claim in zip(string.ascii_uppercase, claims, strict=False):
            label = Label(claim.relation, claim.status, claim.object, claim.subject)
            lines.append(f"  {letter}: {shown(turn, label)}\n")
        texts[place % files] += lines
        entries.append([entry(writer, number, turn, claim) for claim in claims[:26]])
    for part, lines in enumerate(texts):
        (out / f"{part}.txt").write_text("".join(lines), encoding="utf-8")
    (out / "claims.json").write_text(json.dumps(entries), encoding="utf-8")
    sys.stdout.write(f"{len(listed)} turns, {sum(len(claims) for claims in entries)} claims\n")


def add(folder: Path) -> None:
    entries = json.loads((folder / "claims.json").read_bytes())
    lines = []
    for path in sorted(folder.glob("*.verdicts")):
        for number, letters in read_letters(path):
            for letter, claim in zip(string.ascii_uppercase, entries[number], strict=False):
                verdict = "right" if letter in letters else "trivial" if letter.lower() in letters else "wrong"
                lines.append(json.dumps({**claim, "verdict": verdict}, ensure_ascii=False))
    with JUDGED.open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
    sys.stdout.write(f"{len(lines)} verdicts\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list")
    listing.add_argument("--out", type=Path, required=True)
    listing.add_argument("--files", type=int, default=8)
    commands.add_parser("add").add_argument("folder", type=Path)
    call = parser.parse_args()
    if call.command == "list":
        write_list(call.out, call.files)
    else:
        add(call.folder)


if __name__ == "__main__":
    main()
