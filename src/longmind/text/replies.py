"""Recognise what is no knowledge: questions, requests of the moment, and replies that tell nothing."""

from __future__ import annotations

from longmind.text.analysis import STOP_WORDS, stem, words
from longmind.text.sentences import sentences
from longmind.text.standing_patterns import ASKS

_ABOUT_KNOWING = frozenset(
    stem(word)
    for word in (
        "know known knowledge remember recall memory memories forget forgot find found search look see hear "
        "note noted record recorded information info detail data fact mention say said tell told talk speak "
        "discuss share shared come came up bring brought ask asked answer reply question conversation chat "
        "history message previous previously earlier before past last far yet still already currently moment "
        "today nothing anything something everything none thing topic subject matter specific particular sure "
        "certain certainly clear exactly able unable unfortunately afraid sorry apologise apologize apology "
        "regret help let please thank thanks welcome glad happy great good nice fine lovely perfect course "
        "understand understood got okay ok yes no yeah right correct indeed absolutely here there want like "
        "would could may might can cannot cant dont doesnt didnt havent hasnt isnt arent wont im ive ill "
        "youve youre id need give provide provided get make do done have keep mind idea really seem think "
        "believe guess more much many any available access stored store saved save"
    ).split()
)
"""Words of courtesy, and of knowing, telling and asking, which say nothing about anything else."""

_OPENINGS = frozenset("please ok okay so and hey hi hello now well um also just can could would will you then".split())
_REQUESTS = frozenset(
    """give tell write make suggest explain draft translate name find list show help convert sum summarise summarize
    recommend turn rewrite rephrase describe compare count sort shorten proofread compose create generate define
    calculate pick choose plan prepare play read sing spell check""".split()
)
"""Verbs with which people ask an assistant for something at once."""


def tells_nothing(reply: str, before: str) -> bool:
    """Return whether a reply has no content of its own: every word is about knowing, or was said just before it."""
    said = {stem(word) for word in words(before)}
    return all(
        word in STOP_WORDS or stem(word) in _ABOUT_KNOWING or stem(word) in said for word in words(reply[:2_000])
    )


def only_asks(text: str) -> bool:
    """Return whether a message asks a question or for something to be done, and tells nothing beside it."""
    parts = sentences(text[:2_000])
    return bool(parts) and all(part.asks or _asks(part.text) for part in parts)


def _asks(sentence: str) -> bool:
    lowered = sentence.lower().replace("’", "'")
    if ASKS.match(lowered):
        return True
    first = next((word for word in words(lowered) if word not in _OPENINGS), "")
    return first in _REQUESTS
