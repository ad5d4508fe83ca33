"""What speakers say of themselves and of those around them: likes, homes, work, family, possessions, plans, deeds.

What follows the verb is cut to a phrase and refused unless it stands for itself. Only plain
statements count: not questions, wishes, conditions, nor what somebody else is said to have said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from longmind.consolidate.rules import phrases
from longmind.consolidate.rules.claims import Claim, Refused
from longmind.consolidate.rules.lexicon import FAMILY, PETS, SINGLE_KIN
from longmind.consolidate.rules.self_statements import BY_WORD, EXPRESSIONS, WAYS, thing
from longmind.text.dates import TIME_PHRASE, NamedTime, resolve_phrase
from longmind.text.sentences import Sentence

_WORD = re.compile(r"[a-z]+")
_MY = (
    r"(?:my|our)\s+(?:(?:own|little|big|older|younger|oldest|youngest|elder|eldest|twin|dear|best|"
    r"beloved|two|three|new|old)"
    r"\s+){0,2}"
)
_HINT = re.compile(r"\b(?:I|I'm|I've|my|our|we|We|My|Our)\b|^[A-Z][a-z]+(?:ed|nt|ng|de|an|ought|ot|on|st)\b")

_KIN = re.compile(
    rf"\b{_MY}(?P<kin>{FAMILY}|{PETS})(?:'s name is|\s+is (?:called|named)|\s+(?:called|named)|"
    rf",)?\s+(?P<name>[A-Z][a-z]+)\b(?!['’])",
    re.IGNORECASE,
)
_FAVOURITE = re.compile(
    rf"\b{_MY}(?:all[- ]time )?favou?rite (?P<what>[a-z]+(?: [a-z]+)?)(?:\s+(?:is|are)|'s)\s+", re.IGNORECASE
)
_THEIRS = re.compile(
    rf"\b{_MY}(?P<kin>{FAMILY}|{PETS})\s+(?:(?:both|all|really|also|just|absolutely|"
    rf"always)\s+){{0,2}}(?P<verb>loves?|likes?|enjoys?|hates?|lives? in|works? (?:at|for|as)|"
    rf"plays?)\s+",
    re.IGNORECASE,
)
_AGE = re.compile(
    r"\bI(?:'m| am)\s+(?:now\s+)?(?P<age>\d{1,3})\s+years?\s+old\b|"
    r"\bI(?:'ve)?\s+(?:just\s+)?turned\s+(?P<turned>\d{1,3})\b"
)

_CONDITION = re.compile(
    r"\b(?:if|unless|wish|imagine|suppose|pretend|whether|would|could|should|might|maybe|perhaps|"
    r"dreamed|dreamt|dreaming"
    r"|hope|hoped|as though|when i was|used to|almost|nearly|never|not|n't|can't|until|before|why|how|what)\b[^,;.]*$",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:said|says|saying|asked|asks|told|tells|claims?|claimed|thinks?|thought|heard|reads?)\b[^,;.]*$",
    re.IGNORECASE,
)
_THEIR_VERBS = {"love": "likes", "like": "likes", "enjoy": "likes", "hate": "dislikes", "play": "plays"}


def personal(sentence: Sentence, speaker: str, said_at: datetime) -> Iterator[Claim | Refused]:
    """What a sentence states about its speaker and those around."""
    text = sentence.text.replace("’", "'")
    if not _HINT.search(text):
        return
    lower = text.lower()
    if own := "my" in lower or "our" in lower:
        yield from _kin(text, sentence, speaker)
    yield from _age(text, sentence, speaker)
    if own:
        yield from _theirs(text, sentence, speaker)
    words = _WORD.findall(lower)
    ways = sorted({number for word in words if word in BY_WORD for number in BY_WORD[word]})
    for way, found in ((WAYS[n], found) for n in ways for found in EXPRESSIONS[n].finditer(text)):
        if refused := _refused(text, found.start(), sentence):
            yield refused
            continue
        rest = text[found.end() :]
        phrase, taken = phrases.cut(rest)
        told = None if phrase is None else way.object(phrase)
        end = found.end() + taken
        span = (sentence.start + found.start(), sentence.start + end)
        if told is None and way.quiet:
            continue
        if told is None:
            yield Refused("unclear", text[found.start() : end], span)
            continue
        time = _time(text, found.start(), said_at) if way.dated else None
        if way.form == "did" and time is not None and time.start is not None and time.start > said_at:
            time = None  # what was done cannot have been done then: the time is that of something else
        told = phrases.spoken(told, speaker)
        if way.dated and time is not None and time.text and way.predicate not in ("plans to", "considers"):
            told = f"{told} ({time.text})"
        yield Claim(
            speaker, way.predicate, told, span, way.confidence, way.predicate, way.many, way.relates,
            time.start if time is not None and time.start is not None and time.start <= said_at else None,
        )  # fmt: skip


def _refused(text: str, at: int, sentence: Sentence) -> Refused | None:
    before = text[:at]
    span = (sentence.start + at, sentence.start + len(sentence.text))
    if sentence.asks:
        return Refused("question", text[at:], span)
    if _CONDITION.search(before):
        return Refused("hypothetical", text[at:], span)
    if _REPORTED.search(before):
        return Refused("reported", text[at:], span)
    if before.count('"') % 2 or before.count("“") > before.count("”"):
        return Refused("reported", text[at:], span)
    return None


def _time(text: str, at: int, said_at: datetime) -> NamedTime | None:
    """The time that the clause with a verb names: after the verb, or before it at the beginning."""
    stop = re.search(r"[;!]|\.\s|,\s*(?:and|but|so)\s+(?:I|we)\b", text[at:])
    after = TIME_PHRASE.search(text, at, at + stop.start() if stop else len(text))
    if after is not None and re.search(r"\b(?:that|who|which|when|where)\b", text[at : after.start()]):
        return None  # the time of the clause inside
    before = None if after else _last(TIME_PHRASE, text[max(0, at - 40) : at])
    found = after or before
    return None if found is None else resolve_phrase(found, said_at)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The last place where a pattern is found, if only a comma or little words stand after it."""
    found = list(pattern.finditer(text))
    last = found[-1] if found else None
    return (
        last if last is not None and re.fullmatch(r"[\s,-]*(?:and|was [a-z ]+)?[\s,-]*", text[last.end() :]) else None
    )


def _kin(text: str, sentence: Sentence, speaker: str) -> Iterator[Claim]:
    """Who somebody's relatives and animals are, when they are named."""
    for found in _KIN.finditer(text):
        name = found["name"]
        if not name[0].isupper() or phrases.name(name) is None or sentence.asks:
            continue
        if "," in found.group() and re.match(r"\s*(?:,|and\b|&)", text[found.end() :]):
            continue  # a list: "my girlfriend, Toby and I"
        kin = re.sub(r"(?<=friend)s$|(?<=neighbor)s$|(?<=neighbour)s$", "", found["kin"].lower())
        span = (sentence.start + found.start(), sentence.start + found.end())
        yield Claim(
            speaker, f"has {kin}", name, span, 0.85, "kin", many=kin not in SINGLE_KIN, relates=True
        )  # fmt: skip
    for found in _FAVOURITE.finditer(text):
        if _refused(text, found.start(), sentence):
            continue
        phrase, taken = phrases.cut(text[found.end() :])
        told = None if phrase is None else phrases.thing(phrase, definite=True)
        if re.match(r"(?:thing|one|part|time|moment|way)s?$", found["what"]):
            continue
        if told is not None and not re.match(r"(?:when|definitely|probably|by far|a|an)\b", told):
            span = (sentence.start + found.start(), sentence.start + found.end() + taken)
            what = " ".join(found["what"].lower().split())
            yield Claim(speaker, f"favorite {what}", phrases.spoken(told, speaker), span, 0.85, "favourite", many=False)


def _age(text: str, sentence: Sentence, speaker: str) -> Iterator[Claim]:
    """How old a speaker is."""
    for found in _AGE.finditer(text):
        if not _refused(text, found.start(), sentence):
            span = (sentence.start + found.start(), sentence.start + found.end())
            yield Claim(speaker, "age", found["age"] or found["turned"], span, 0.9, "age", many=False)


def _theirs(text: str, sentence: Sentence, speaker: str) -> Iterator[Claim]:
    """What a speaker says of relatives and animals."""
    for found in _THEIRS.finditer(text):
        if _refused(text, found.start(), sentence):
            continue
        verb = re.sub(r"s$", "", found["verb"].split()[0].lower())
        if verb not in _THEIR_VERBS:
            continue
        predicate = _THEIR_VERBS[verb]
        phrase, taken = phrases.cut(text[found.end() :])
        told = None if phrase is None else thing(phrase)
        if told is None:
            continue
        span = (sentence.start + found.start(), sentence.start + found.end() + taken)
        who = f"{speaker}'s {found['kin'].lower()}"
        yield Claim(who, predicate, phrases.spoken(told, speaker), span, 0.8, "theirs")
