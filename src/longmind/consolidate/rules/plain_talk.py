"""Which turns plainly state nothing, so that the trained reader of statements need not read them.

Only two kinds count: words of greeting, thanks and assent alone, and questions in which the speaker does not occur. A
question with a first person in it may tell something ("What do I feed my dog Rex?"), and so may one that does not begin
like a question ("The account lapsed, is it worth the bother?"). Of 26,202 labelled turns in ``training/claims`` it
skips 1,463 and loses six statements, four of them kin in passing ("Does Mama know?").
"""

from __future__ import annotations

import re

from longmind.text.sentences import sentences

_WORD = re.compile(r"[^\W\d_][\w'’]*|\d+")
_ASSENT = frozenset(
    """yes yeah yep yup no nope nah ok okay k sure thanks thank you thx ty cheers great good nice cool perfect awesome
    fine alright right got it hi hello hey bye goodbye morning evening afternoon night please wow haha lol hmm oh ah
    well so a lot very much welcome exactly indeed agreed true correct makes sense noted done never mind""".split()
)
_FIRST_PERSON = re.compile(r"\b(?:i|im|ive|id|my|mine|me|myself|we|our|ours|us)\b", re.IGNORECASE)
_QUESTION = re.compile(
    r"(?:(?:and|so|but|ok|okay|hey|hi|oh|well|then|also|please|thanks)[,!. ]+)*"
    r"(?:what|who|whom|whose|which|when|where|why|how|is|are|was|were|do|does|did|can|could|would|will|shall|should|has"
    r"|have|had|may|might|any|anything|(?:is|are|do|does|did|can|could|wo|would)n['’]?t|(?:what|who|where|how|when)['’]?s)"
    r"\b",
    re.IGNORECASE,
)


def states_nothing(text: str) -> bool:
    """Whether all of a turn is assent, thanks or greeting, or a question that says nothing of the speaker."""
    if _is_assent(text):
        return True
    if "?" not in text or _FIRST_PERSON.search(text):
        return False
    parts = sentences(text)
    return bool(parts) and all(
        (part.asks and _QUESTION.match(part.text) is not None) or _is_assent(part.text) for part in parts
    )


def _is_assent(text: str) -> bool:
    words = _WORD.findall(text.lower())
    return bool(words) and all(word in _ASSENT for word in words)
