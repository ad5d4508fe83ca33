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
_THEIRS = re.compile(rf"\b(?:my|our)\s+(?:[a-z]+\s+)??(?P<kin>{FAMILY}|{PETS})\b", re.IGNORECASE)
"""Somebody of who asks: "my dad", "our old dog"."""
_OWN = re.compile(r"\b(?:I|we|me|us)\b|\b(?:I|we)['’]", re.IGNORECASE)
"""Who asks is asked about, whoever else is named: "What do I call my dad?"."""
_NAMING = re.compile(r"\b(?:who|whom|whose|called|names?|named)\b", re.IGNORECASE)
"""Whoever asks who somebody is asks about whom they have: "Who is my boss?"."""


async def asked_about(semantic: SemanticMemory, question: str, form: QuestionForm, asker: str) -> list[str]:
    """Return the names under which whoever a question asks about may be known; none if it asks for the past.

    "Where does my sister live?" asks about Ana, if she is known as the sister, and never about who asks.
    """
    if form.kind not in ("one", "list", "time", "count", "yes or no") or _PAST.search(question):
        return []
    names = list(dict.fromkeys(each for name in form.names for each in _names(name)))
    if not form.of_asker:
        return names
    relative = _THEIRS.search(question)
    if relative is None or _OWN.search(question) or _NAMING.search(question):
        return [*names, asker]
    kin = relative["kin"].lower()
    return [*names, *await _known_as(semantic, asker, kin), f"{asker}'s {kin}"]


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
