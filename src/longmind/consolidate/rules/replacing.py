"""Which known values a claim takes the place of, where a predicate may have several values at once.

Most such values stand beside each other. But a weight of now takes the place of one of before and not of a height, and
an instruction about the language of answers only of another such. Nothing here reads or writes a store.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from longmind.consolidate.model import content_terms
from longmind.text.analysis import STOP_WORDS, stem, words
from longmind.text.vocabulary import LANGUAGE_NAMES

APART = re.compile(
    r"(?:(?:still|now|newly|recently|currently)\s+)*"
    r"(?:single|divorced|separated|widow(?:ed|er)?|alone|on my own|on (?:his|her|their) own)(?:\s+(?:again|now))?",
    re.IGNORECASE,
)
"""Being this means that there is no partner."""
_AMOUNT = re.compile(r"(?P<number>\d[\d.,]*)\s*(?P<unit>[^\W\d_]+|[%°'\"′″]\s*[^\W\d_]?)")
_SAME_UNITS = {
    name: names[0]
    for names in (
        ("kg", "kgs", "kilo", "kilos", "kilogram", "kilograms"),
        ("g", "gram", "grams"),
        ("lb", "lbs", "pound", "pounds"),
        ("st", "stone", "stones"),
        ("m", "metre", "metres", "meter", "meters"),
        ("cm", "centimetre", "centimetres", "centimeter", "centimeters"),
        ("ft", "foot", "feet", "'", "′"),
        ("in", "inch", "inches", '"', "″"),
    )
    for name in names
}
_FAR_OFF = 1.6
"""How many times more than before a measure of the same thing is not."""
_OF_ANY_MEASURE = frozenset(
    "about around roughly almost nearly exactly just now down up weigh weight heavy tall high height body".split()
)
"""Words beside an amount that tell no more than its unit does."""
_ANY_PLAN = content_terms("appointment meeting date visit call lesson class session exam booking reservation event it")
"""Words for something planned that do not tell what it is."""
_NEW = re.compile(r"\b(?:new|changed|from\s+(?:now|today)\s+on)\b", re.IGNORECASE)
_ANOTHER = re.compile(
    r"\b(?:second|another|extra|additional|other|spare|also|as\s+well|too|(?:only|just)\s+for|besides|backup)\b",
    re.IGNORECASE,
)
_DATED = re.compile(r"\s*\((?P<time>[^()]*)\)$")
_ANSWERING = re.compile(
    r"\b(?:answers?|reply|replies|respond|responses|write|speak|talk|chat|explain|communicate|correspond|switch|stick|"
    rf"use)\b.*?\b(?:{'|'.join(LANGUAGE_NAMES)})\b",
    re.IGNORECASE,
)
_MANNERS = content_terms(
    "answer answers reply replies respond response write speak talk chat explain communicate correspond switch stick "
    "use please always only just now again instead everything all anything questions simple plain easy short brief "
    "formal informal proper british american european brazilian swiss no not any more longer back over user "
    + " ".join(LANGUAGE_NAMES)
)
"""What says of an instruction about a language no more than that."""


def says_another(sentence: str) -> bool:
    """Whether a sentence says that what it states stands beside what was known: "a second address, for newsletters"."""
    return _ANOTHER.search(sentence) is not None


def says_new(sentence: str) -> bool:
    """Whether a sentence says itself that what it states is new, and no second one: "my new boss is called Mia"."""
    return _NEW.search(sentence) is not None and not says_another(sentence)


def takes_place(subject: str, stated: str, predicate: str, known: str, sentence: str = "") -> bool:
    """Whether what is stated of a subject takes the place of a value that is known under a predicate.

    ``subject`` is whom both are about, whose name may be a part of an instruction: "answer ann in English".
    ``sentence`` is the one that states it.
    """
    match predicate:
        case "measures":
            return _is_of_the_same(_measure(stated), _measure(known))
        case "instruction":
            both = (stated, known)
            return all(_is_about_language(each, subject) for each in both) or _have_other_amounts(stated, known)
        case "relationship":
            return APART.fullmatch(known.strip()) is not None
        case "plans":
            return is_another_date(stated, known, sentence)
        case _:
            return True


class _Measure(NamedTuple):
    amount: float | None
    unit: str
    words: frozenset[str]
    """The other words that tell what is measured."""


def _is_of_the_same(new: _Measure | None, old: _Measure | None) -> bool:
    """Whether two measures are of the same thing: their unit and words are, and none is far off the other.

    "88 cm" and "178 cm" of one person are two measures, whatever else is said.
    """
    if new is None or old is None or (new.unit, new.words) != (old.unit, old.words):
        return False
    if not new.amount or not old.amount:
        return True
    return max(new.amount, old.amount) / min(new.amount, old.amount) < _FAR_OFF


def _measure(value: str) -> _Measure | None:
    """Return what a value measures; None without a unit, as it then stands by itself."""
    match = _AMOUNT.search(value)
    if match is None:
        return None
    rest = f"{value[: match.start()]} {value[match.end() :]}"
    others = {stem(word) for word in words(re.sub(r"\d[\d.,]*", " ", rest)) if word not in STOP_WORDS}
    number = match["number"].rstrip(".,").replace(",", ".")
    amount = float(number) if number.count(".") <= 1 else None
    return _Measure(amount, _unit(match["unit"]), frozenset(others - _OF_ANY_MEASURE))


def _have_other_amounts(stated: str, known: str) -> bool:
    """Whether two instructions name one amount each, of the same unit: "for 4 people"."""
    new, old = _AMOUNT.findall(stated), _AMOUNT.findall(known)
    if len(new) != 1 or len(old) != 1:
        return False
    (amount, unit), (before, unit_before) = new[0], old[0]
    return amount != before and _unit(unit) == _unit(unit_before)


def _unit(name: str) -> str:
    """Return one name for a unit that has several."""
    name = name.casefold().replace(" ", "")
    return _SAME_UNITS.get(name, name)


def _is_about_language(instruction: str, subject: str) -> bool:
    """Whether an instruction is about the language of answers, and nothing else."""
    terms = content_terms(instruction) - content_terms(subject)
    return _ANSWERING.search(instruction) is not None and terms <= _MANNERS


def is_another_date(stated: str, known: str, sentence: str = "") -> bool:
    """Whether a plan is a known one with another date: one says no more of what it is than the other.

    An "appointment" is also the one that its sentence names: "the dentist called, my appointment is moved".
    """
    new, old = content_terms(_DATED.sub("", stated)), content_terms(_DATED.sub("", known))
    when, before = _DATED.search(stated), _DATED.search(known)
    if not new or not old or when is None or (before is not None and before["time"] == when["time"]):
        return False
    named = old - _ANY_PLAN
    return new <= old or old <= new or (new <= _ANY_PLAN and bool(named) and named <= content_terms(sentence))


def most_alike(stated: str, known: Sequence[str]) -> list[bool]:
    """Return for each known plan whether it is the one that is meant: the same thing, or the only one like it."""
    wanted = content_terms(_DATED.sub("", stated))
    same = [content_terms(_DATED.sub("", value)) == wanted for value in known]
    return same if any(same) else [len(known) == 1] * len(known)
