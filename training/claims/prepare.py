"""Labelled turns as word-piece numbers, with variants for training.

    python -m training.claims.prepare --out prepared/claims.json.gz

A turn for training comes four times: as it is, typed without apostrophes and full stops, and twice with objects, people
and times taken from other turns of training writers with the same relation.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from training.claims.labels import DATA, DEVELOPMENT, RELATIONS, STATUSES, TEST, Label, Turn, read_turns
from training.prepare import open_tokenizer

SWAPPED = frozenset(
    """name from lives_in language works_as works_at works_in studies studied_at partner child parent
    sibling relative knows pet diet allergy condition medication likes dislikes hobby owns
    uses member_of located_in made_by""".split()
)
"""Relations whose objects can stand for each other."""
PREVIOUS, TEXT = 60, 170
"""The most pieces of the turn before and of the turn that are read."""
CLS, SEP = 101, 102


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


def example(tokenizer: Tokenizer, turn: Turn) -> dict[str, Any] | None:
    """Return the pieces of a turn and its claims by pieces; nothing if a label does not fit into what is read."""
    before = tokenizer.encode(turn.previous or "", add_special_tokens=False).ids[-PREVIOUS:]
    own = tokenizer.encode(turn.text, add_special_tokens=False)
    head = [CLS, *before, SEP]

    def span(characters: tuple[int, int] | None) -> tuple[int, int]:
        if characters is None:
            return 0, 0
        inside = [n for n, (a, b) in enumerate(own.offsets[:TEXT]) if a < characters[1] and b > characters[0]]
        if not inside:
            raise ValueError
        return len(head) + inside[0], len(head) + inside[-1]

    def claim(label: Label) -> list[int]:
        numbers = (RELATIONS.index(label.relation), STATUSES.index(label.status))
        return [*numbers, *span(label.object), *span(label.subject), *span(label.time)]

    try:
        claims = [claim(label) for label in turn.claims]
    except ValueError:
        return None
    return {"ids": [*head, *own.ids[:TEXT], SEP], "head": len(head), "claims": claims, "writer": turn.writer}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    call = parser.parse_args()
    tokenizer, chance = open_tokenizer(), random.Random(5)
    turns = [turn for path in sorted(DATA.glob("*.jsonl")) for turn in read_turns(path)]
    trained = [turn for turn in turns if turn.writer not in TEST + DEVELOPMENT]
    objects: dict[str, list[str]] = defaultdict(list)
    for turn in trained:
        for claim in turn.claims:
            objects[claim.relation].append(turn.text[slice(*claim.object)])
    parts: dict[str, list[Any]] = {"train": [], "development": [], "test": []}
    for turn in trained:
        variants = [turn, careless(turn), swapped(turn, objects, chance), careless(swapped(turn, objects, chance))]
        parts["train"].extend(example(tokenizer, variant) for variant in variants)
    for name, writers in (("development", DEVELOPMENT), ("test", TEST)):
        parts[name].extend(example(tokenizer, turn) for turn in turns if turn.writer in writers)
    kept = {name: [e for e in examples if e is not None] for name, examples in parts.items()}
    data = {"relations": RELATIONS, "statuses": STATUSES, **kept}
    call.out.write_bytes(gzip.compress(json.dumps(data).encode()))
    sys.stdout.write(f"{ {name: len(examples) for name, examples in kept.items()} }\n")


if __name__ == "__main__":
    main()
