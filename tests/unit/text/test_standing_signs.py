"""The signs of statements: what they rule out, the cues would not find either."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longmind.text import standing_cues as cues
from longmind.text import standing_patterns as patterns
from longmind.text import standing_signs as signs
from longmind.text import standing_words as lists
from longmind.text.sentences import MAX_SENTENCE, sentences

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
PIECES = (
    "I I'm im I’m we're my our a an the in in a the you please don't dont don’t myself hurt kill and so but live This"
    " is Anna Bob she/her name from 12 43 [ ] ( ) “ ” … - '"
).split()
ENDS = (" ", " ", " ", " ", ". ", "! ", "? ", "\n", "-", ", ", "'", "")


def texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts_of(part)


def said() -> list[str]:
    """The texts of the benchmarks' own data."""
    texts: list[str] = []
    for path in sorted(BENCHMARKS.rglob("*.json")):
        texts += texts_of(json.loads(path.read_text()))
    for path in sorted(BENCHMARKS.rglob("*.jsonl")):
        texts += texts_of([json.loads(line) for line in path.read_text().splitlines() if line.strip()])
    for path in sorted(BENCHMARKS.rglob("*.txt")):
        texts += path.read_text().splitlines()
    return sorted(set(texts))


def shuffled(count: int) -> Iterator[str]:
    """Words and phrases of all lists in any order, joined in any way."""
    pieces = [*PIECES, *patterns.CONTRACTED]
    for name in filter(str.isupper, dir(lists)):
        value = getattr(lists, name)
        pieces += [p for ps in value.by_first_word.values() for p in ps] if isinstance(value, lists.Phrases) else value
    chosen = random.Random(7)
    for _ in range(count):
        parts = chosen.choices(sorted(pieces), k=chosen.choice((3, 6, 12, 30)))
        yield "".join(part + chosen.choice(ENDS) for part in parts)


def found(text: str) -> int:
    """The types that the cues find in a sentence, whatever its signs."""
    sentence = cues.parse(text, cues.tokenise(text))
    points = (
        (signs.IDENTITY, cues.identity(sentence)[0]),
        (signs.HEALTH, cues.health(sentence, True)),
        (signs.SAFETY, cues.safety(sentence)),
        (signs.INSTRUCTION, cues.instruction(sentence)),
    )
    return sum(type for type, number in points if number >= 2)


def assert_sound(text: str) -> None:
    whole = signs.possible_types(text, cues.tokenise(text))
    assert found(text) & ~whole == 0, text
    for part in sentences(text):
        types = signs.possible_types(part.text, cues.tokenise(part.text))
        assert found(part.text) & ~types == 0, part.text
        if len(text) <= MAX_SENTENCE:  # a longer sentence is cut, maybe within a word
            assert types & ~whole == 0, text


def test_signs_rule_out_nothing_that_the_cues_find_in_the_data_of_the_benchmarks() -> None:
    texts = said()
    assert len(texts) > 1_000
    for text in texts:
        assert_sound(text)
    assert sum(map(bool, map(found, texts))) > 100


def test_signs_rule_out_nothing_that_the_cues_find_in_shuffled_words() -> None:
    for text in shuffled(5_000):
        assert_sound(text)


def test_an_ordinary_text_has_no_signs() -> None:
    for text in ("The weather was lovely, and then it rained.", "Thanks, that sounds great!"):
        assert signs.possible_types(text, cues.tokenise(text)) == 0
