"""Labelled turns as numbers, with variants for training, and turns without labels.

    python -m training.claims.prepare --data DATA --out prepared

A turn for training comes four times: as it is, typed without apostrophes and full stops, and twice with objects, people
and times taken from other turns of training writers with the same relation.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from training.bert import save_arrays
from training.claims.examples import FOLDS, PARTS
from training.claims.labels import DATA, DEVELOPMENT, RELATIONS, STATUSES, TEST, Label, Turn, read_turns
from training.claims.unlabelled import known_turns, unlabelled_turns
from training.claims.unsure import checksum, read_labels
from training.prepare import Ragged, open_tokenizer

SWAPPED = frozenset(
    """name from lives_in language works_as works_at works_in studies studied_at partner child parent
    sibling relative knows pet diet allergy condition medication likes dislikes hobby owns
    uses member_of located_in made_by""".split()
)
"""Relations whose objects can stand for each other."""
PREVIOUS, TEXT = 60, 170
"""The most pieces of the turn before and of the turn that are read."""
CLS, SEP = 101, 102
FIRST_READER = 252
"""The number that stands for the writer of turns that were labelled later, in the first fold; the others follow it."""
OF_CHANGES = 248
"""The same for turns that were written for the reader of changes."""
UNWRITTEN = 10
"""Added to the variant of a turn that is in no file of a writer."""


@dataclass(frozen=True, slots=True)
class Example:
    """A turn as word pieces; a claim is eight numbers, its places count word pieces."""

    ids: list[int]
    head: int
    claims: list[list[int]]


def swapped(turn: Turn, objects: dict[str, list[str]], chance: random.Random) -> Turn:
    """Return a turn with some of its objects replaced by those of others."""
    for place, claim in enumerate(turn.claims):
        if claim.relation in SWAPPED and chance.random() < 0.7:
            turn = _with_words(turn, turn.claims[place].object, chance.choice(objects[claim.relation]))
    return turn


def _with_words(turn: Turn, span: tuple[int, int], words: str) -> Turn:
    """Return a turn with other words in a span; nothing changes if a label begins or ends inside the span."""
    start, end = span
    spans = [s for claim in turn.claims for s in (claim.object, claim.subject, claim.time) if s and s != span]
    if any(a < end and b > start for a, b in spans):
        return turn
    shift = len(words) - (end - start)

    def moved(other: tuple[int, int] | None) -> tuple[int, int] | None:
        if other is None or other == span:
            return None if other is None else (start, start + len(words))
        return other if other[1] <= start else (other[0] + shift, other[1] + shift)

    claims = tuple(
        replace(claim, object=moved(claim.object) or claim.object, subject=moved(claim.subject), time=moved(claim.time))
        for claim in turn.claims
    )
    return replace(turn, text=turn.text[:start] + words + turn.text[end:], claims=claims)


def careless(turn: Turn) -> Turn:
    """Return a turn as somebody types who leaves out apostrophes, commas and full stops."""
    for found in reversed(list(re.finditer(r"['’](?=\w)|[.,](?=\s|$)", turn.text))):
        inside = any(
            s and s[0] < found.end() and s[1] > found.start()
            for c in turn.claims
            for s in (c.object, c.subject, c.time)
        )
        if not inside:
            turn = _with_words(turn, found.span(), "")
    return turn


def numbered(tokenizer: Tokenizer, previous: str | None, text: str, claims: Sequence[Label]) -> Example | None:
    """Return a turn as numbers; nothing if it is empty or a label does not fit into what is read."""
    before = tokenizer.encode(previous or "", add_special_tokens=False).ids[-PREVIOUS:]
    own = tokenizer.encode(text, add_special_tokens=False)
    head = [CLS, *before, SEP]
    offsets = own.offsets[:TEXT]
    if not offsets:
        return None

    def span(characters: tuple[int, int] | None) -> tuple[int, int]:
        if characters is None:
            return 0, 0
        inside = [n for n, (a, b) in enumerate(offsets) if a < characters[1] and b > characters[0]]
        if not inside:
            raise ValueError
        return len(head) + inside[0], len(head) + inside[-1]

    try:
        numbers = [
            [
                RELATIONS.index(claim.relation),
                STATUSES.index(claim.status),
                *span(claim.object),
                *span(claim.subject),
                *span(claim.time),
            ]
            for claim in claims
        ]
    except ValueError:
        return None
    return Example([*head, *own.ids[:TEXT], SEP], len(head), numbers)


@dataclass(frozen=True, slots=True)
class Placed:
    """An example, the part it belongs to, and the turn it was made of: writer, line, and which variant it is."""

    part: str
    example: Example
    writer: int = 0
    line: int = 0
    variant: int = 0
    """0: the turn as it was written."""


class Variants:
    """Makes of a turn for training what is learnt: as it is, typed carelessly, and with objects of other turns."""

    def __init__(self, turns: Iterable[Turn], chance: random.Random) -> None:
        self._chance = chance
        self._objects: dict[str, list[str]] = defaultdict(list)
        for turn in turns:
            for claim in turn.claims:
                self._objects[claim.relation].append(turn.text[slice(*claim.object)])

    def of(self, turn: Turn) -> list[Turn]:
        swaps = [swapped(turn, self._objects, self._chance) for _ in range(2)]
        return [turn, careless(turn), swaps[0], careless(swaps[1])]


def labelled_examples(tokenizer: Tokenizer, turns: Sequence[tuple[int, Turn]], variants: Variants) -> Iterator[Placed]:
    """Yield every labelled turn of a writer, given with its line, and its variants as numbers."""
    for line, turn in turns:
        part = part_of(turn)
        for number, variant in enumerate(variants.of(turn) if part == "train" else [turn]):
            example = numbered(tokenizer, variant.previous, variant.text, variant.claims)
            if example is not None:
                yield Placed(part, example, int(turn.writer[1:]), line, number)


def unlabelled_examples(tokenizer: Tokenizer, data: Path, variants: Variants) -> Iterator[Placed]:
    """Yield the turns without labels; those that somebody has labelled since are for training."""
    labelled, of_changes = read_labels(), {text for _, text in known_turns()}
    for previous, text in unlabelled_turns(data):
        name = checksum(text)
        if name not in labelled:
            if (example := numbered(tokenizer, previous, text, ())) is not None:
                yield Placed("unlabelled", example)
            continue
        turn = Turn("", "", previous, "", text, labelled[name])
        for number, variant in enumerate(variants.of(turn), UNWRITTEN):
            if (example := numbered(tokenizer, previous, variant.text, variant.claims)) is not None:
                writer = (OF_CHANGES if text in of_changes else FIRST_READER) + int(name, 16) % FOLDS
                yield Placed("train", example, writer, 0, number)


def part_of(turn: Turn) -> str:
    """Return what the turns of a writer are for."""
    return "test" if turn.writer in TEST else "development" if turn.writer in DEVELOPMENT else "train"


def arrays_of(placed: Sequence[Placed]) -> dict[str, np.ndarray]:
    """Return examples as arrays."""
    ids, claims = Ragged(), Ragged()
    for each in placed:
        ids.add(each.example.ids)
        claims.add([number for claim in each.example.claims for number in claim])
    return {
        **ids.arrays("ids"),
        **claims.arrays("claims"),
        "heads": np.asarray([each.example.head for each in placed], np.uint8),
        "parts": np.asarray([PARTS.index(each.part) for each in placed], np.uint8),
        "writers": np.asarray([each.writer for each in placed], np.uint8),
        "lines": np.asarray([each.line for each in placed], np.uint16),
        "variants": np.asarray([each.variant for each in placed], np.uint8),
        "relations": np.asarray(RELATIONS),
        "statuses": np.asarray(STATUSES),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    call = parser.parse_args()
    call.out.mkdir(parents=True, exist_ok=True)
    tokenizer = open_tokenizer()
    turns = [(line, turn) for path in sorted(DATA.glob("*.jsonl")) for line, turn in enumerate(read_turns(path))]
    variants = Variants([turn for _, turn in turns if part_of(turn) == "train"], random.Random(5))
    examples = list(labelled_examples(tokenizer, turns, variants))
    examples += unlabelled_examples(tokenizer, call.data, variants)
    save_arrays(call.out / "claims.npz.xz", arrays_of(examples))
    counts = {part: sum(each.part == part for each in examples) for part in PARTS}
    size = (call.out / "claims.npz.xz").stat().st_size / 1e6
    sys.stdout.write(f"{counts}, {size:.1f} MB\n")


if __name__ == "__main__":
    main()
