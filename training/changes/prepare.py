"""Known facts and claims beside turns as numbers, with variants for training.

    python -m training.changes.prepare --data DATA --out prepared

A turn with a known fact comes as it is, typed without apostrophes and full stops, and, where it names the fact, with
the object of another fact of the same relation in both, so that names tell nothing. Facts are also put beside turns of
which nobody said what they do to them, for teachers. Claims come as in ``training.changes.checks``.
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

from longmind.consolidate.rules.relations import LASTING
from longmind.models.change_reader import joined
from longmind.models.changes import KnownFact
from longmind.models.passages import PREVIOUS, TEXT
from training.bert import save_arrays
from training.changes import checks
from training.changes.checks import Check
from training.changes.derived import derive
from training.changes.examples import PARTS, UNKNOWN
from training.changes.turns import DATA, DEVELOPMENT, TEST, KnownTurn, as_fact, read_turns
from training.claims import labels
from training.claims.labels import Label
from training.claims.prepare import careless, part_of
from training.claims.unlabelled import unlabelled_turns
from training.claims.unsure import checksum, read_labels
from training.prepare import Ragged, open_tokenizer

PAIRED = 45_000
"""Facts beside turns of which nobody said what they do to them."""
UNJUDGED = 70_000
"""Claims in turns without labels."""


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


@dataclass(frozen=True, slots=True)
class Example:
    """What is read of a fact or of a claim beside its turn, and what is known of it."""

    part: str
    ids: list[int]
    head: int
    gone: int = -1
    new: tuple[int, int] = (0, 0)
    verdict: int = UNKNOWN


def facts(
    tokenizer: Tokenizer, written: Sequence[KnownTurn], labelled: Sequence[labels.Turn], chance: random.Random
) -> Iterator[Example]:
    """Yield known facts beside turns, and their variants."""
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
            swaps = 0 if not training else 3 if part == "written" else 1
            made: Sequence[KnownTurn] = list(variants.of(turn, swaps)) if training else [turn]
            for each in made:
                fact = as_fact(each, chance if training else None)
                if (numbers := numbered(tokenizer, fact, each.new)) is not None:
                    ids, head, *new = numbers
                    yield Example(part, ids, head, int(each.gone), (new[0], new[1]))


def paired(
    tokenizer: Tokenizer, written: Sequence[KnownTurn], found: Sequence[Check], chance: random.Random
) -> Iterator[Example]:
    """Yield facts beside turns that nobody labelled: what a reader found in them, another value, and other facts."""
    own = [turn for turn in written if turn.writer not in (*DEVELOPMENT, *TEST)]
    pairs = []
    for turn in own:
        other = chance.choice(own)
        pairs.append(replace(turn, subject=other.subject, relation=other.relation, object=other.object, new=None))
    objects: dict[str, list[str]] = defaultdict(list)
    for check in found:
        objects[check.claim.relation].append(check.text[slice(*check.claim.object)])
    for check in found:
        claim, relation = check.claim, check.claim.relation
        if relation not in LASTING:
            continue
        subject = "I" if claim.subject is None else check.text[slice(*claim.subject)]
        words = check.text[slice(*claim.object)] if chance.random() < 0.4 else chance.choice(objects[relation])
        pairs.append(KnownTurn("", subject, relation, words, check.previous, check.text, False, None, "nothing"))
    for turn in chance.sample(pairs, min(PAIRED, len(pairs))):
        if (numbers := numbered(tokenizer, as_fact(turn, chance), None)) is not None:
            yield Example("paired", numbers[0], numbers[1])


def checked(tokenizer: Tokenizer, part: str, found: Iterable[Check]) -> Iterator[Example]:
    """Yield claims beside their turns."""
    for check in found:
        if (numbers := checks.numbered(tokenizer, check)) is not None:
            yield Example(part, *numbers, verdict=UNKNOWN if check.verdict is None else check.verdict)


def carelessly_checked(check: Check) -> Check:
    """Return a claim beside its turn as somebody types who leaves out apostrophes, commas and full stops."""
    typed = careless(labels.Turn("", "", check.previous, "", check.text, (check.claim,)))
    return replace(check, text=typed.text, claim=typed.claims[0])


def examples(tokenizer: Tokenizer, data: Path, chance: random.Random) -> Iterator[Example]:
    """Yield all facts and claims beside turns."""
    written = [turn for path in sorted(DATA.glob("*.jsonl")) for turn in read_turns(path)]
    labelled = [turn for path in sorted(labels.DATA.glob("*.jsonl")) for turn in labels.read_turns(path)]
    yield from facts(tokenizer, written, labelled, chance)
    talk, known = unlabelled_turns(data), read_labels()
    learnt = [turn for turn in labelled if part_of(turn) == "train"]
    learnt += [
        labels.Turn("", "", before, "", text, known[checksum(text)]) for before, text in talk if checksum(text) in known
    ]
    others = [turn for turn in talk if checksum(turn[1]) not in known]
    judged = list(checks.judged(talk))
    yield from checked(tokenizer, "judged", (*judged, *map(carelessly_checked, judged)))
    yield from checked(tokenizer, "judged development", checks.judged_development())
    yield from checked(tokenizer, "stated", checks.stated(learnt, chance))
    turns = [(turn.previous, turn.text) for turn in learnt]
    yield from checked(tokenizer, "found", checks.found(learnt, checks.claims_in(turns)))
    unjudged = list(checks.unjudged(others, checks.claims_in(others)))
    yield from checked(tokenizer, "unjudged", chance.sample(unjudged, min(UNJUDGED, len(unjudged))))
    yield from paired(tokenizer, written, unjudged, chance)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    call = parser.parse_args()
    call.out.mkdir(parents=True, exist_ok=True)
    made = list(examples(open_tokenizer(), call.data, random.Random(7)))
    ids = Ragged()
    for each in made:
        ids.add(each.ids)
    arrays = {
        **ids.arrays("ids"),
        "heads": np.asarray([each.head for each in made], np.uint8),
        "new": np.asarray([each.new for each in made], np.uint8),
        "gone": np.asarray([each.gone for each in made], np.int8),
        "verdicts": np.asarray([each.verdict for each in made], np.uint8),
        "parts": np.asarray([PARTS.index(each.part) for each in made], np.uint8),
    }
    path = call.out / "changes.npz.xz"
    save_arrays(path, arrays)
    for number, part in enumerate(PARTS):
        inside = arrays["parts"] == number
        counts = np.bincount(arrays["verdicts"][inside], minlength=UNKNOWN + 1)
        sys.stdout.write(f"{part}: {inside.sum()}, gone {(arrays['gone'][inside] > 0).sum()}, verdicts {counts}\n")
    sys.stdout.write(f"{path.stat().st_size / 1e6:.1f} MB\n")


if __name__ == "__main__":
    main()
