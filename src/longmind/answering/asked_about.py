"""Whom or what a question asks for something that holds now."""

from __future__ import annotations

import re
from collections.abc import Iterator

from longmind.errors import NotFound
from longmind.systems.semantic import SemanticMemory
from longmind.text.questions import QuestionForm
from longmind.text.vocabulary import FAMILY, PARTNER_WORDS, PETS, RELATIVES

MOST = 100
"""The most facts about one subject that are looked at."""
_PAST = re.compile(r"\b(?:did|was|were|had|used to|before|previously|formerly|former|ago|last)\b", re.IGNORECASE)
_FORMER = re.compile(r"\b(?:used\s+to|previously|formerly)\b|\bbefore\s*\??\s*$", re.IGNORECASE)
"""What is asked for is what held before that which holds now."""
_THEIRS = re.compile(rf"\b(?:my|our)\s+(?:[a-z]+\s+)??(?P<kin>{FAMILY}|{PETS})\b", re.IGNORECASE)
"""Somebody of who asks: "my dad", "our old dog"."""
_THING = re.compile(
    rf"^\W*(?:when|where|how\s+much|how\s+many|what)\s+(?:is|are|does|do|time\s+is|day\s+is)\s+(?:my|our|the)\s+"
    rf"(?!(?:{FAMILY}|{PETS})\b)(?P<thing>[\w-]+(?:\s+[\w-]+){{0,2}})",
    re.IGNORECASE,
)
"""What is asked about: "When is our team meeting?"."""
_OWN = re.compile(r"\b(?:I|we|me|us)\b|\b(?:I|we)['’]", re.IGNORECASE)
"""Who asks is asked about, whoever else is named: "What do I call my dad?"."""
_NAMING = re.compile(r"\b(?:who|whom|whose|called|names?|named)\b", re.IGNORECASE)
"""Whoever asks who somebody is asks about whom they have: "Who is my boss?"."""


def asks_for_now(question: str, form: QuestionForm) -> bool:
    """Whether a question asks for something that holds now."""
    return form.kind in ("one", "list", "time", "count", "yes or no") and _PAST.search(question) is None


def asks_for_former(question: str) -> bool:
    """Whether a question asks for what held before: "Where did I live before?"."""
    return _FORMER.search(question) is not None


async def asked_about(semantic: SemanticMemory, question: str, form: QuestionForm, asker: str) -> list[str]:
    """Return the names under which whoever a question asks about may be known; none if it asks for what happened once.

    "Where does my sister live?" asks about Ana, if she is known as the sister, and never about who asks.
    """
    if not asks_for_now(question, form) and not asks_for_former(question):
        return []
    names = list(dict.fromkeys(each for name in form.names for each in _names(name)))
    names += _things(question, asker)
    if not form.of_asker:
        return names
    relative = _THEIRS.search(question)
    if relative is None or _OWN.search(question) or _NAMING.search(question):
        return [*names, asker]
    kin = relative["kin"].lower()
    return [*names, *await _known_as(semantic, asker, kin), f"{asker}'s {kin}"]


def _things(question: str, asker: str) -> list[str]:
    """Return the names of what a question asks about: of "the grant report" and "our team meeting", longest first."""
    match = _THING.search(question)
    parts = [] if match is None else match["thing"].split()
    things = [" ".join(parts[:size]) for size in range(len(parts), 0, -1)]
    return [name for thing in things for name in (f"{asker}'s {thing}", thing)]


def _names(name: str) -> Iterator[str]:
    """Yield a name, and for "Uncle Reg" also Reg."""
    yield name
    first, _, rest = name.partition(" ")
    if rest and first.casefold() in RELATIVES:
        yield rest


async def _known_as(semantic: SemanticMemory, asker: str, kin: str) -> list[str]:
    """Return the names of whom somebody has by a word: of their sister, or of all their sisters."""
    try:
        summary = await semantic.about(asker, limit=MOST)
    except NotFound:
        return []
    words = PARTNER_WORDS if kin in PARTNER_WORDS else (kin, kin.removesuffix("s"))
    predicates = {f"has {word}" for word in words}
    return [str(fact.object) for fact in summary.facts if not fact.retracted and fact.predicate in predicates]
