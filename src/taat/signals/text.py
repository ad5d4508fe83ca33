"""Preparing the text of a post for reading. Every step keeps the length, so positions stay those of the post."""

import re
import unicodedata

INSTRUMENT, LEVEL, QUANTITY, ACTION, IGNORED = "\x01", "\x02", "\x03", "\x04", "\x05"
"""What stands in the working text for a part that was already read."""

_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_SAME = {
    "’": "'", "‘": "'", "´": "'", "`": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "‑": "-", "→": ">",
    "➡": ">", "½": "½", "¼": "¼", "¾": "¾", "\u00a0": " ", "\u200b": " ", "\ufeff": " ", "\t": " ", "\r": " ",
}  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
"""Control characters but the end of a line: some stand for what was read, so none may come from a post."""
_RUN = re.compile(r"\s{40,}|\d{16,}")
"""White space and digits in such numbers that they are neither a separator nor a price."""
_KEPT = 20
_ENTITY = re.compile(r"&(amp|lt|gt|quot|#39|apos|nbsp);")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "#39": "'", "apos": "'", "nbsp": " "}
_LINK = re.compile(r"https?://\S+|www\.\S+|(?<!\w)@[A-Za-z_]\w*|\b\w+\.(?:com|net|io|co)/\S*|\bdiscord\.gg/\S*")
_QUOTE = re.compile(r'"[^"\n]{12,}"')
_SENTENCE_END = re.compile(r"[.!?]+(?=[\s\"')]|$)|\n+")


def _plain(char: str) -> str:
    """Return the usual form of a styled character, such as a mathematical bold letter."""
    same = _SAME.get(char)
    if same is not None:
        return same
    if char.isalnum():
        form = unicodedata.normalize("NFKC", char)
        return form if len(form) == 1 else char
    return char


class _Forms(dict[int, str]):
    """The usual form of each character, worked out when it first occurs."""

    def __missing__(self, code: int) -> str:
        form = self[code] = _plain(chr(code))
        return form


_FORMS = _Forms()


def normalise(text: str) -> str:
    """Return the text with usual quotes, dashes and letters, of the same length."""
    if not text.isascii():
        text = text.translate(_FORMS)
    text = _CONTROL.sub(" ", text)
    if "&" in text:
        text = _ENTITY.sub(lambda match: _ENTITIES[match[1]].ljust(len(match[0])), text)
    return _RUN.sub(_shortened, text)


def _shortened(found: re.Match[str]) -> str:
    """Return a long run of white space or digits with its middle marked: patterns would try every way to divide it."""
    run = found[0]
    kept = _KEPT if run[0].isspace() else 0
    return run[:kept] + IGNORED * (len(run) - kept - 1) + (run[-1] if kept else IGNORED)


def lower(text: str) -> str:
    """Return the text with its ASCII letters in lower case; unlike ``str.lower`` it never changes the length."""
    return text.translate(_LOWER)


def without_links(text: str) -> str:
    """Return the text with addresses, mentions and long quotations replaced by spaces."""
    if "/" in text or "@" in text or "." in text:
        text = _LINK.sub(lambda match: " " * len(match[0]), text)
    if '"' in text:
        text = _QUOTE.sub(lambda match: " " * len(match[0]), text)
    return text


def masked(text: str, start: int, end: int, mark: str) -> str:
    """Return the text with a part replaced by a mark, repeated to the same length."""
    return text[:start] + mark * (end - start) + text[end:]


def sentence_around(text: str, position: int) -> tuple[int, int]:
    """Return where the sentence at a position starts and ends; its closing mark belongs to it."""
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if match.end() > position:
            return start, match.end()
        start = match.end()
    return start, len(text)
