"""Rendering stored data for a prompt: the one place where text from memory becomes part of what a model reads.

The invariant: whatever a field holds, it stays inside its quotation marks, on its line, and shows all of its
characters. A quotation is a JSON string, so it is closed by the first quotation mark without a backslash and
``json.loads`` gives the text back. ``<`` is escaped where it could open a tag or a control token of a chat template
(``</memory>``, ``<|im_end|>``). Characters that no reader sees (bidirectional controls, tag characters, zero-width
spaces, variation selectors, control codes) are removed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

LONGEST = 600
"""Characters that are shown of a text, unless the caller says otherwise."""

_JOINERS = "\u200c\u200d"
_EMOJI_STYLE = "\ufe0e\ufe0f"
_INVISIBLE = (
    r"\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
"""Characters that show nothing: controls, default-ignorable code points, surrogates, noncharacters, private planes."""
_HIDDEN = re.compile(rf"(?P<shown>(?<=[^\s{_INVISIBLE}])(?:[{_EMOJI_STYLE}]?[{_JOINERS}](?=[^\s{_INVISIBLE}])|"
                     rf"[{_EMOJI_STYLE}]))|[{_INVISIBLE}]")  # fmt: skip
_ONE_INVISIBLE = re.compile(f"[{_INVISIBLE}]")
_TAG = re.compile(r"<(?=[/|!?\[A-Za-z])")
_LINE_ENDS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\x85\u2028\u2029"}
_BARE = re.compile(r"\w[\w.'’@:/?#&=%+~!-]*(?:(?<![:!?]) \w[\w.'’@:/?#&=%+~!-]*)*")


def strip_invisible(text: str) -> str:
    """Return a text without the characters that show nothing; white space and line breaks stay.

    A joiner inside a word or an emoji stays, and so does the style of an emoji; a row of them does not.
    """
    return _HIDDEN.sub(lambda match: match["shown"] or "", text)


def is_invisible(character: str) -> bool:
    """Whether a character shows nothing."""
    return _ONE_INVISIBLE.match(character) is not None


def flatten(text: str, limit: int = LONGEST) -> str:
    """Return a text on one line without invisible characters, cut to ``limit`` characters. It is not quoted."""
    read = 16 * limit  # a long text is read only as far as it is shown, further if much of it is invisible
    flat = _flat(text[:read])
    while len(flat) <= limit + 1 and read < len(text):
        read *= 4
        flat = _flat(text[:read])
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def _flat(text: str) -> str:
    return " ".join(strip_invisible(" ".join(text.split())).split())


def quote(text: str, limit: int = LONGEST) -> str:
    """Return a text in quotation marks on one line, cut to ``limit`` characters."""
    return _encode(flatten(text, limit))


def label(text: str, limit: int = 200, *, reserved: Collection[str] = (), words: int = 4) -> str:
    """Return a short field, such as a name or an address: bare if it is plain, else in quotation marks.

    A plain one has at most ``words`` words, and no comma, bracket, quotation mark, or colon before a space. Those in
    ``reserved``, words of the line itself, are quoted.
    """
    flat = flatten(text, limit)
    plain = flat.count(" ") < words and flat.casefold() not in reserved and _BARE.fullmatch(flat)
    return flat if plain else _encode(flat)


def quote_json(value: Any, limit: int | None = None) -> str:
    """Return data as JSON on one line, every text in it without invisible characters.

    Line breaks inside a text stay, as escapes. JSON longer than ``limit`` is cut and quoted as a text.
    """
    rendered = _encode(_cleaned(value))
    return rendered if limit is None or len(rendered) <= limit else quote(rendered, limit)


def _encode(value: Any) -> str:
    return _TAG.sub(r"\\u003c", json.dumps(value, ensure_ascii=False, default=str)).translate(_LINE_ENDS)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return strip_invisible(value)
    if isinstance(value, Mapping):
        return {strip_invisible(str(name)): _cleaned(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    return value
