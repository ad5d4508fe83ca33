"""Which sentences of a conversation state something general, and are not talk between those who speak.

"Keep up the good work" is about nobody, and no knowledge either. A sentence of a conversation is general only if it
points at nothing outside itself, praises or blames nothing, tells no event, and, if it is an instruction, names what it
is done to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(r"[^\W\d_][\w-]*|\d+")
_POINTING = frozenset(
    """this that these those here there ones thing things stuff something everything anything nothing somewhere everyone
    everybody anyone nobody yourself yourselves ourselves themselves let""".split()
)
_POINTING_BACK = frozenset("it they its their them".split())
"""Words that may stand for something that an instruction named before: "Compress images before uploading them"."""
_NAMED_BEFORE = 3
_TALK = frozenset(
    """amazing awesome great good best bad worst wonderful fantastic incredible beautiful lovely nice cool fun happy sad
    glad proud perfect exciting excited inspiring impressive important vital key essential crucial powerful joy joyful
    love loves loved loving peaceful cute adorable delicious yummy tasty gorgeous stunning epic super so such really
    very totally definitely absolutely truly just quite indeed thanks thank congrats congratulations kudos luck wow yay
    oh haha lol hey hi hello bye yeah yes yep nope ok okay sure sorry appreciate hope hopefully wish guess maybe perhaps
    seems sounds feels feel feeling felt looks look looking blast vibe vibes dream dreams journey passion heart soul
    pics pic photo photos picture pictures selfie too lots tons ton bit tough stressful relaxing refreshing rewarding
    worth helpful interesting curious unforgettable memorable fabulous brilliant crazy weird funny silly scary terrible
    awful horrible enjoy enjoying enjoyed enjoyable welcome cheers honestly actually basically literally anyway though
    challenge challenging overwhelming easy difference blessing unreal""".split()
)
"""Words of praise, blame, thanks and feeling, of which talk is made."""
_TOLD = re.compile(
    r"\b(?:has|have|had|'ve)\s+(?:\w+\s+)?(?:\w+ed|been|made|done|gone|come|got|gotten|taken|given|seen|found|had|"
    r"become|grown|brought|kept|left|lost|won|begun|written|known)\b|\b(?:must|might|could|would) (?:have|be|still)\b",
    re.IGNORECASE,
)
_ARTICLES = frozenset("the a an every each all any no".split())
_NOT_FIRST = frozenset("what how such have has be not and but or because since well like as with for at".split())
_BROKEN = re.compile(r"!|…|\.\.\.| - ")


def general_words(sentence: str) -> list[str] | None:
    """Return the words of a sentence that may state knowledge; None if it is talk."""
    words = _WORD.findall(sentence.lower())
    if not words or words[0] in _NOT_FIRST or words[0].endswith("ing") or words[0] in _POINTING_BACK:
        return None
    if not (_TALK.isdisjoint(words) and _POINTING.isdisjoint(words)):
        return None
    return None if _BROKEN.search(sentence) or _TOLD.search(sentence) else words


def is_complete(words: Sequence[str], *, instructs: bool) -> bool:
    """Return whether a general sentence can be understood alone: it names what it speaks of."""
    if not instructs:
        return _POINTING_BACK.isdisjoint(words)
    return _POINTING_BACK.isdisjoint(words[:_NAMED_BEFORE]) and _names_something(words)


def _names_something(words: Sequence[str]) -> bool:
    """Return whether there is an article, a number or a plural, as in "Soak beans", and not in "Keep in touch"."""
    if not _ARTICLES.isdisjoint(words[:-1]):
        return True
    return any(w.isdigit() or (len(w) > 3 and w[-1] == "s" and not w.endswith(("ss", "us", "is"))) for w in words)
