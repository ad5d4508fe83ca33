"""Check that a quote of a model really occurs in its source.

A model's fact is accepted only with a span of the source that states it. Models often change white space, capitals and
the style of quotation marks and dashes when they quote. These differences are ignored; different words are not.
"""

from __future__ import annotations

import re
import unicodedata

from longmind.text.quoting import is_invisible

_SAME = str.maketrans(
    {**dict.fromkeys("‘’‚‛′`´", "'"), **dict.fromkeys("“”„‟″«»", '"'), **dict.fromkeys("‐‑‒–—−", "-")}
)
_UNSPACED = 0x0E00
"""From Thai on, most scripts have no spaces, so word boundaries are unknown there."""


def find_quote(source: str, span: str) -> tuple[int, int] | None:
    """Return where the span is in the source, as ``source[start:end]``; None if it is not there or is empty.

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
    """Strip the quotation marks and ellipses that a model puts around a quote."""
    return re.sub(r"^[\s\"'“”‘’«»…]+|[\s\"'“”‘’«»…]+$", "", span)


def _folded(text: str) -> tuple[str, list[int]]:
    """Return the normalised text, and for each of its characters the index in the original text."""
    letters: list[str] = []
    origins: list[int] = []
    for place, letter in enumerate(text):
        if is_invisible(letter):
            continue  # a model is not shown these
        for plain in unicodedata.normalize("NFKC", letter).translate(_SAME).casefold():
            if plain.isspace():
                if letters and letters[-1] == " ":
                    continue
                plain = " "
            letters.append(plain)
            origins.append(place)
    return "".join(letters), origins


def _whole(source: str, start: int, end: int) -> bool:
    """Return whether neither end is inside a word."""
    return not (_joined(source[start - 1 : start], source[start]) or _joined(source[end - 1], source[end : end + 1]))


def _joined(left: str, right: str) -> bool:
    return bool(left and right) and left.isalnum() and right.isalnum() and max(ord(left), ord(right)) < _UNSPACED
