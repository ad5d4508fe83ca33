"""One thing under several names: "our company" of one text is "the company" of another.

A text alone does not tell whether the company is the speaker's. So a claim has both names, and which of them counts is
decided by what is known when it is learnt.
"""

from __future__ import annotations

import re

_COMMON = re.compile(r"[^\W\d_A-Z][\w-]*(?: [^\W_A-Z][\w-]*){0,3}")
"""A noun phrase in lower case: no proper name."""
_BEFORE = re.compile(r"(?P<word>[\w'’-]*)(?P<gap>\W*)$")
_LEADS = frozenset("the my our and but so because since as that now while when though although if however".split())
"""What may stand right before a thing that both sides know."""
_LOOKED_BACK = 40
"""Characters before a thing in which the word right before it stands."""
_PLURAL = re.compile(r"(?<![siu'’])s$", re.IGNORECASE)


def other_name(subject: str, text: str, speaker: str | None) -> str | None:
    """Return another name by which the subject of a claim may be known; None if there is none.

    "The company" may be the speaker's own, and what is theirs may be known by its bare name. What belongs to somebody
    else, anything of a kind ("a company"), and a whole kind ("dogs are loyal") are neither.
    """
    if speaker is None:
        return None
    owner = f"{speaker}'s "
    if subject.startswith(owner):
        bare = subject[len(owner) :]
        return bare if _COMMON.fullmatch(bare) and not _PLURAL.search(bare) else None
    if not _COMMON.fullmatch(subject) or not _is_definite(subject, text):
        return None
    return f"{owner}{subject}"


def _is_definite(noun: str, text: str) -> bool:
    """Whether a text speaks of a thing as of one that is known, wherever it names it.

    Without an article that is so in short notes, "company has 22 people now", unless it is a plural.
    """
    places = [match.start() for match in re.finditer(rf"(?<![\w-]){re.escape(noun)}(?![\w-])", text, re.IGNORECASE)]
    leads = [lead for at in places if (lead := _BEFORE.search(text[max(0, at - _LOOKED_BACK) : at])) is not None]
    words = [lead["word"].lower() if lead["gap"].isspace() else "" for lead in leads]
    plural = _PLURAL.search(noun) is not None
    return bool(words) and all(
        word in _LEADS and (not plural or word in ("the", "my", "our")) if word else not plural for word in words
    )
