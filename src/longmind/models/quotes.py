"""Whether what a model claims to quote is really there.

A model's fact is accepted only with a span of the source that says so. Models tidy what they quote: they change
white space, the form of quotation marks and dashes, and capitals. That much is forgiven; other words are not.
"""

from __future__ import annotations

import re
import unicodedata

_SAME = str.maketrans(
    {**dict.fromkeys("‘’‚‛′`´", "'"), **dict.fromkeys("“”„‟″«»", '"'), **dict.fromkeys("‐‑‒–—−", "-")}
)
_UNSPACED = 0x0E00
"""From Thai on, scripts mostly do without spaces; a word's end cannot be told there."""


def quotes(source: str, span: str) -> tuple[int, int] | None:
    """Where the span is in the source, as ``source[start:end]``; None when it is not there or says nothing.

    A span has at least two letters or digits and does not begin or end within a word.
    """
    return _place(source, _folded(source), span)


def _place(source: str, folded: tuple[str, list[int]], span: str) -> tuple[int, int] | None:
    wanted = _folded(_bare(span))[0].strip()
    if sum(map(str.isalnum, wanted)) < 2:
        return None
    text, origins = folded
    at = text.find(wanted)
    while at >= 0:
        start, end = origins[at], origins[at + len(wanted) - 1] + 1
        if _whole(source, start, end):
            return start, end
        at = text.find(wanted, at + 1)
    return None


def _bare(span: str) -> str:
    """Without the quotation marks or dots of omission that a model puts around it."""
    return re.sub(r"^[\s\"'“”‘’«»…]+|[\s\"'“”‘’«»…]+$", "", span)


def _folded(text: str) -> tuple[str, list[int]]:
    """The text as it is compared, and for each of its characters the place it has in the text as it was."""
    letters: list[str] = []
    origins: list[int] = []
    for place, letter in enumerate(text):
        for plain in unicodedata.normalize("NFKC", letter).translate(_SAME).casefold():
            if plain.isspace():
                if letters and letters[-1] == " ":
                    continue
                plain = " "
            letters.append(plain)
            origins.append(place)
    return "".join(letters), origins


def _whole(source: str, start: int, end: int) -> bool:
    """Whether neither end is inside a word."""
    return not (_joined(source[start - 1 : start], source[start]) or _joined(source[end - 1], source[end : end + 1]))


def _joined(left: str, right: str) -> bool:
    return bool(left and right) and left.isalnum() and right.isalnum() and max(ord(left), ord(right)) < _UNSPACED
