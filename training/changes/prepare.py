"""Turns about known facts as numbers, with variants for training.

    python -m training.changes.prepare --out prepared

A turn for training comes as it is, typed without apostrophes and full stops, and, where it names the fact, with the
object of another fact of the same relation in both, so that names tell nothing.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from longmind.models.change_reader import joined
from longmind.models.changes import KnownFact
from longmind.models.passages import PREVIOUS, TEXT
from training.bert import save_arrays
from training.changes.derived import derive
from training.changes.turns import DATA, DEVELOPMENT, TEST, KnownTurn, as_fact, read_turns
from training.claims import labels
from training.claims.labels import Label
from training.claims.prepare import careless, part_of
from training.prepare import Ragged, open_tokenizer

PARTS = ("written", "derived", "development", "development of claims")
"""Turns for training that were written for it or made of labelled ones, and those that are measured on."""


def carelessly(turn: KnownTurn) -> KnownTurn:
    """Return a turn as somebody types who leaves out apostrophes, commas and full stops."""
    claims = () if turn.new is None else (Label("other", "current", turn.new),)
    typed = careless(labels.Turn("", "", turn.previous, "", turn.text, claims))
    new = typed.claims[0].object if typed.claims else None
    return replace(turn, text=typed.text, new=new)


def swapped(turn: KnownTurn, object: str) -> KnownTurn | None:
    """Return a turn about another object of the same relation; nothing if the text does not name the known one."""
    places = list(re.finditer(rf"(?<!\w){re.escape(turn.object)}(?!\w)", turn.text))
    new = turn.new
    if not places or (new is not None and any(m.start() < new[1] and m.end() > new[0] for m in places)):
        return None
    text = turn.text
    for found in reversed(places):
        text = text[: found.start()] + object + text[found.end() :]
        if new is not None and found.start() < new[0]:
            shift = len(object) - len(turn.object)
            new = (new[0] + shift, new[1] + shift)
    previous = None if turn.previous is None else turn.previous.replace(turn.object, object)
    return replace(turn, object=object, text=text, new=new, previous=previous)


def numbered(
    tokenizer: Tokenizer, fact: KnownFact, new: tuple[int, int] | None
) -> tuple[list[int], int, int, int] | None:
    """Return pieces, where the text begins, and the first and last piece of the new value; None if it does not fit."""
    known = tokenizer.encode(fact.words, add_special_tokens=False).ids
    before = tokenizer.encode(fact.previous or "", add_special_tokens=False).ids[-PREVIOUS:]
    own = tokenizer.encode(fact.text, add_special_tokens=False)
    offsets = own.offsets[:TEXT]
    if not offsets or (len(own.ids) > TEXT and fact.place > offsets[-1][1]):
        return None
    ids, head = joined(known, before, own.ids[:TEXT])
    if new is None:
        return ids, head, 0, 0
    inside = [n for n, (a, b) in enumerate(offsets) if a < new[1] and b > new[0]]
    return (ids, head, head + inside[0], head + inside[-1]) if inside else None


class Variants:
    """Makes of a turn for training what is learnt."""

    def __init__(self, turns: Iterable[KnownTurn], chance: random.Random) -> None:
        self._chance = chance
        self._objects: dict[str, list[str]] = defaultdict(list)
        for turn in turns:
            self._objects[turn.relation].append(turn.object)

    def of(self, turn: KnownTurn, swaps: int) -> Iterator[KnownTurn]:
        yield turn
        yield carelessly(turn)
        for number in range(swaps):
            other = swapped(turn, self._chance.choice(self._objects[turn.relation]))
            if other is not None:
                yield carelessly(other) if number % 2 else other


def examples(
    tokenizer: Tokenizer, chance: random.Random
) -> Iterator[tuple[str, KnownTurn, tuple[list[int], int, int, int]]]:
    """Yield the part, the turn and its numbers, for every turn and its variants."""
    written = [turn for path in sorted(DATA.glob("*.jsonl")) for turn in read_turns(path)]
    labelled = [turn for path in sorted(labels.DATA.glob("*.jsonl")) for turn in labels.read_turns(path)]
    by_part = {
        "written": [turn for turn in written if turn.writer not in (*DEVELOPMENT, *TEST)],
        "development": [turn for turn in written if turn.writer in DEVELOPMENT],
        "derived": derive([turn for turn in labelled if part_of(turn) == "train"], chance),
        "development of claims": derive([turn for turn in labelled if part_of(turn) == "development"], chance),
    }
    variants = Variants([*by_part["written"], *by_part["derived"]], chance)
    for part, turns in by_part.items():
        training = part in ("written", "derived")
        for turn in turns:
            swaps = 0 if not training else 4 if part == "written" else 1
            made: Sequence[KnownTurn] = list(variants.of(turn, swaps)) if training else [turn]
            for each in made:
                fact = as_fact(each, chance if training else None)
                if (numbers := numbered(tokenizer, fact, each.new)) is not None:
                    yield part, each, numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    call = parser.parse_args()
    call.out.mkdir(parents=True, exist_ok=True)
    made = list(examples(open_tokenizer(), random.Random(7)))
    ids = Ragged()
    for _, _, numbers in made:
        ids.add(numbers[0])
    arrays = {
        **ids.arrays("ids"),
        "heads": np.asarray([numbers[1] for _, _, numbers in made], np.uint8),
        "new": np.asarray([numbers[2:] for _, _, numbers in made], np.uint8),
        "gone": np.asarray([turn.gone for _, turn, _ in made], np.bool_),
        "parts": np.asarray([PARTS.index(part) for part, _, _ in made], np.uint8),
    }
    path = call.out / "changes.npz.xz"
    save_arrays(path, arrays)
    for number, part in enumerate(PARTS):
        inside = arrays["parts"] == number
        sys.stdout.write(f"{part}: {inside.sum()}, gone {arrays['gone'][inside].sum()}\n")
    sys.stdout.write(f"{path.stat().st_size / 1e6:.1f} MB\n")


if __name__ == "__main__":
    main()
