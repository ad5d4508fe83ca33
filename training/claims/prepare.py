"""Labelled turns as numbers, with variants for training, and turns without labels.

    python -m training.claims.prepare --data DATA --bytepairs tokenizer.json --out prepared

A turn for training comes four times: as it is, typed without apostrophes and full stops, and twice with objects, people
and times taken from other turns of training writers with the same relation. ``--bytepairs`` is the tokenizer of the
teacher (``training.llama``); the byte pairs that occur are listed in ``bytepairs.json``.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from training.bert import save_arrays
from training.claims.examples import PARTS
from training.claims.labels import DATA, DEVELOPMENT, RELATIONS, STATUSES, TEST, Label, Turn, read_turns
from training.claims.unlabelled import unlabelled_turns
from training.prepare import Ragged, open_tokenizer

SWAPPED = frozenset(
    """name from lives_in language works_as works_at works_in studies studied_at partner child parent
    sibling relative knows pet diet allergy condition medication likes dislikes hobby owns
    uses member_of located_in made_by""".split()
)
"""Relations whose objects can stand for each other."""
PREVIOUS, TEXT = 60, 170
"""The most pieces of the turn before and of the turn that are read."""
PREVIOUS_PAIRS = 70
CLS, SEP = 101, 102


@dataclass(frozen=True, slots=True)
class Example:
    """A turn as word pieces and as byte pairs; a claim is eight numbers, its places count word pieces."""

    ids: list[int]
    head: int
    pairs: list[int]
    firsts: list[int]
    """For each word piece the byte pair where it begins."""
    lasts: list[int]
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


class Reading:
    """Makes examples of turns by two tokenizers: the student's word pieces and the teacher's byte pairs."""

    def __init__(self, word_pieces: Tokenizer, byte_pairs: Tokenizer) -> None:
        self._words, self._pairs = word_pieces, byte_pairs
        self._break = byte_pairs.encode("\n\n", add_special_tokens=False).ids

    def example(self, previous: str | None, text: str, claims: Sequence[Label]) -> Example | None:
        """Return a turn as numbers; nothing if it is empty or a label does not fit into what is read."""
        before = self._words.encode(previous or "", add_special_tokens=False).ids[-PREVIOUS:]
        own = self._words.encode(text, add_special_tokens=False)
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
        pairs, firsts, lasts = self._echo(previous, text[: offsets[-1][1]], offsets)
        padding = [len(pairs) - 1] * len(head)
        return Example(
            [*head, *own.ids[:TEXT], SEP],
            len(head),
            pairs,
            [*padding, *firsts, len(pairs) - 1],
            [*padding, *lasts, len(pairs) - 1],
            numbers,
        )

    def _echo(
        self, previous: str | None, text: str, offsets: Sequence[tuple[int, int]]
    ) -> tuple[list[int], list[int], list[int]]:
        """Return the byte pairs of the turn before and twice the turn, and where each piece stands the second time."""
        before = self._pairs.encode(previous or "", add_special_tokens=False).ids[-PREVIOUS_PAIRS:]
        own = self._pairs.encode(text, add_special_tokens=False)
        begin = len(before) + len(own.ids) + 2 * len(self._break)
        ends = [end for _, end in own.offsets]
        last = len(ends) - 1
        firsts = [begin + min(int(np.searchsorted(ends, a, side="right")), last) for a, _ in offsets]
        lasts = [begin + min(int(np.searchsorted(ends, b, side="left")), last) for _, b in offsets]
        return [*before, *self._break, *own.ids, *self._break, *own.ids], firsts, lasts


def labelled_examples(reading: Reading, folds: int = 3) -> Iterator[tuple[str, int, Example]]:
    """Yield the part, the fold and the numbers of every labelled turn and its variants; folds go by writer."""
    chance = random.Random(5)
    turns = [turn for path in sorted(DATA.glob("*.jsonl")) for turn in read_turns(path)]
    trained = [turn for turn in turns if turn.writer not in TEST + DEVELOPMENT]
    objects: dict[str, list[str]] = defaultdict(list)
    for turn in trained:
        for claim in turn.claims:
            objects[claim.relation].append(turn.text[slice(*claim.object)])
    for turn in turns:
        variants = [turn]
        part = "test" if turn.writer in TEST else "development" if turn.writer in DEVELOPMENT else "train"
        if part == "train":
            swaps = [swapped(turn, objects, chance) for _ in range(2)]
            variants += [careless(turn), swaps[0], careless(swaps[1])]
        for variant in variants:
            example = reading.example(variant.previous, variant.text, variant.claims)
            if example is not None:
                yield part, int(turn.writer[1:]) % folds, example


def arrays_of(examples: Sequence[tuple[str, int, Example]]) -> tuple[dict[str, np.ndarray], list[int]]:
    """Return examples as arrays, and the byte pairs that occur, in the order in which the arrays count them."""
    ids, pairs, claims = Ragged(), Ragged(), Ragged()
    occurring = sorted({pair for _, _, example in examples for pair in example.pairs})
    numbers = {pair: number for number, pair in enumerate(occurring)}
    firsts, lasts = Ragged(), Ragged()
    for _, _, example in examples:
        ids.add(example.ids)
        pairs.add([numbers[pair] for pair in example.pairs])
        firsts.add(example.firsts)
        lasts.add(example.lasts)
        claims.add([number for claim in example.claims for number in claim])
    return {
        **ids.arrays("ids"),
        **pairs.arrays("pairs"),
        **claims.arrays("claims"),
        "firsts": firsts.arrays("firsts")["firsts"],
        "lasts": lasts.arrays("lasts")["lasts"],
        "heads": np.asarray([example.head for _, _, example in examples], np.uint8),
        "parts": np.asarray([PARTS.index(part) for part, _, _ in examples], np.uint8),
        "folds": np.asarray([fold for _, fold, _ in examples], np.uint8),
        "relations": np.asarray(RELATIONS),
        "statuses": np.asarray(STATUSES),
    }, occurring


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--bytepairs", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    call = parser.parse_args()
    call.out.mkdir(parents=True, exist_ok=True)
    reading = Reading(open_tokenizer(), Tokenizer.from_file(str(call.bytepairs)))
    examples = list(labelled_examples(reading))
    for previous, text in unlabelled_turns(call.data):
        example = reading.example(previous, text, ())
        if example is not None:
            examples.append(("unlabelled", 0, example))
    arrays, occurring = arrays_of(examples)
    save_arrays(call.out / "claims.npz.xz", arrays)
    (call.out / "bytepairs.json").write_text(json.dumps(occurring))
    counts = {part: sum(part == of for of, _, _ in examples) for part in PARTS}
    size = (call.out / "claims.npz.xz").stat().st_size / 1e6
    sys.stdout.write(f"{counts}, {len(occurring)} byte pairs, {size:.1f} MB\n")


if __name__ == "__main__":
    main()
