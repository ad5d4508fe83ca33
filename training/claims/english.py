"""Count which letters follow each other in English, for ``longmind.text.language``.

    python -m training.claims.english

Counts the turns of the writers that are trained on, writes the table, and prints how the turns of the development
writers and sentences in other languages score with it.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

from longmind.text import language
from training.claims.labels import DATA, DEVELOPMENT, TEST, read_turns

OTHERS = Path(__file__).with_name("other_languages.txt")


def count(texts: list[str]) -> bytes:
    """Return the table: for each three symbols the bits of the third after the other two, in steps."""
    base = len(language.LETTERS)
    counts = [0.3] * base**3
    for text in texts:
        numbers = language.symbols(text)
        for a, b, c in zip(numbers, numbers[1:], numbers[2:], strict=False):
            counts[(a * base + b) * base + c] += 1
    table = bytearray()
    for pair in range(base**2):
        row = counts[pair * base : (pair + 1) * base]
        table += bytes(min(255, round(-math.log2(value / sum(row)) * language.STEPS)) for value in row)
    return bytes(table)


def main() -> None:
    turns = [turn for path in sorted(DATA.glob("*.jsonl")) for turn in read_turns(path)]
    table = count([turn.text for turn in turns if turn.writer not in DEVELOPMENT + TEST])
    target = Path(language.__file__).with_name(language.TABLE)
    target.write_bytes(table)
    language._table.cache_clear()
    english = [turn.text for turn in turns if turn.writer in DEVELOPMENT]
    others = [line for line in OTHERS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    for name, texts in (("English", english), ("other", others)):
        bits = sorted(value for text in texts if (value := language.english_bits(text)) is not None)
        passed = sum(value >= language.LEAST for value in bits)
        marks = ", ".join(f"{bits[int(len(bits) * share)]:.2f}" for share in (0.01, 0.05, 0.5, 0.95, 0.99))
        sys.stdout.write(
            f"{name}: {len(texts)} texts, {len(bits)} long enough, {passed} taken for English; bits by rank {marks}\n"
        )


if __name__ == "__main__":
    main()
