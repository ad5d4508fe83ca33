"""Two texts side by side, line by line: what was removed, what was added, and what stayed."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from nicegui.element import Element

from longmind.console.parts.elements import attributes, box, text

_AROUND = 3
"""Unchanged lines that are shown around a change."""


def side_by_side(before: Sequence[str], after: Sequence[str], names: tuple[str, str]) -> Element:
    """Show two texts as a diff. Long parts that are the same are left out, with a line that says how long they are."""
    with box("div", "lm-lines") as shown:
        for sign, name in zip("-+", names, strict=True):
            text(f"{sign} {name}", "lm-lines-name")
        blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        for number, (kind, start, end, other, other_end) in enumerate(blocks):
            if kind == "equal":
                _same(before[start:end], first=number == 0, last=number == len(blocks) - 1)
                continue
            for old, new in zip_longest(before[start:end], after[other:other_end]):
                _cell(old, "removed")
                _cell(new, "added")
    return attributes(shown, role="group", aria_label=f"{names[0]} and {names[1]}")


def _same(lines: Sequence[str], *, first: bool, last: bool) -> None:
    head = 0 if first else _AROUND
    tail = 0 if last else _AROUND
    left_out = len(lines) - head - tail
    if left_out <= 1:
        head, tail, left_out = len(lines), 0, 0
    for line in lines[:head]:
        _both(line)
    if left_out:
        text(f"{left_out} lines the same", "lm-lines-gap")
    for line in lines[len(lines) - tail :] if tail else ():
        _both(line)


def _both(line: str) -> None:
    text(f"  {line}", "lm-lines-line")
    text(f"  {line}", "lm-lines-line lm-lines-again")


def _cell(line: str | None, meaning: str) -> None:
    if line is None:
        text("", "lm-lines-line lm-lines-none")
        return
    sign = "-" if meaning == "removed" else "+"
    text(f"{sign} {line}", f"lm-lines-line lm-lines-{meaning}")
