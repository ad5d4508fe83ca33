"""Detection of personal content in a text. In doubt a text counts as personal, because a leak cannot be undone.

Refused are: known names (the user's, those of the speakers of the evidence), addresses and identifiers, long numbers
and dates, statements about oneself or one's family, and every capitalised word inside a sentence that is not allowed,
because the rules cannot tell Lisbon from Alice. A name at the beginning of a sentence is recognised only by its verb
("Alice likes"). The remaining cases rely on the number of independent supporters, whose own names are refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from longmind.text.analysis import fold, words
from longmind.text.vocabulary import CALENDAR_WORDS, RELATIVES

_SIGNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("an e-mail address", re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")),
    ("an account name", re.compile(r"(?:^|\s)@\w+")),
    ("a web address", re.compile(r"\b(?:https?://|www\.)\S+", re.IGNORECASE)),
    ("an IP address", re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")),
    ("an account number", re.compile(r"\b[A-Z]{2}\d{2}(?:\s?[A-Z0-9]{3,4}){3,8}\b")),
    ("a date", re.compile(r"\b\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b")),
    ("a long number", re.compile(r"\d(?:[\s().\-/]?\d){4,}")),
    ("a street address", re.compile(r"\b\d+\w?\s+\w+\s+(?:street|st|road|rd|avenue|ave|lane|drive|boulevard)\b", re.I)),
)
_SELF = frozenset("i i'm i've i'd i'll me my mine myself we we're we've us our ours ourselves".split())
_FAMILY = RELATIVES.union("fiance fiancee parents boss neighbour neighbor".split())
_PEOPLE_DO = frozenset(
    """likes loves hates lives works prefers wants owns enjoys feels thinks says said told lived worked moved bought
    married divorced studies studied plays felt asked wanted plans planned was has had went got died earns""".split()
)
_TITLES = re.compile(r"\b(?:mr|mrs|ms|miss|dr|prof|sir|madam)\b\.?", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_SENTENCE = re.compile(r"(?<=[.!?…:;])\s+|\n+")
_NEVER_NAMES = CALENDAR_WORDS.union("english french german spanish italian portuguese chinese japanese".split())


def find_personal(text: str, names: Iterable[str] = (), allowed: Collection[str] = ()) -> str | None:
    """Return what looks personal in a text, without repeating it; None if nothing does."""
    text_words = words(text)
    known = {part for name in names for part in words(name) if len(part) > 1}
    if known.intersection(text_words):
        return "the name of somebody here"
    for what, sign in _SIGNS:
        if sign.search(text):
            return what
    if _SELF.intersection(fold(text).replace("’", "'").split()) or _SELF.intersection(text_words):
        return "somebody speaking of themselves"
    if _FAMILY.intersection(text_words):
        return "somebody's family or circle"
    if _TITLES.search(text):
        return "a form of address"
    return _named(text, {fold(word) for word in allowed} | _NEVER_NAMES)


def _named(text: str, allowed: Collection[str]) -> str | None:
    """Return why a word looks like a name: capitalised inside a sentence, or at its beginning with a verb of people."""
    small = {fold(word) for word in _WORD.findall(text) if word[0].islower()}
    for sentence in _SENTENCE.split(text):
        sentence_words = _WORD.findall(sentence)
        for place, word in enumerate(sentence_words):
            plain = fold(re.sub(r"[’']s?$", "", word))
            if not _looks_like_name(word) or plain in allowed or plain in small:
                continue
            after = fold(sentence_words[place + 1]) if place + 1 < len(sentence_words) else ""
            if place > 0 or after in _PEOPLE_DO or word.endswith(("'s", "’s")):
                return "a word that looks like a name"
    return None


def _looks_like_name(word: str) -> bool:
    """Whether a word is capitalised, but neither an abbreviation (SQL) nor mixed case (PostgreSQL)."""
    core = re.sub(r"[’']s?$", "", word)
    tail = re.sub(r"^(?:Mc|Mac|O[’']|De|Di|La|Le|Van)(?=[A-Z])", "", core)
    return (
        bool(core) and core[0].isupper() and (len(core) == 1 or not any(c.isupper() for c in tail[1:])) and core != "I"
    )
