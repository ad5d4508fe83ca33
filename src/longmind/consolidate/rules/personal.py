"""What speakers say of themselves and of those around them: likes, homes, work, family, possessions, plans, deeds.

What follows the verb is cut to a phrase and refused unless it stands for itself. Only plain
statements count: not questions, wishes, conditions, nor what somebody else is said to have said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from longmind.consolidate.rules import changes, phrases
from longmind.consolidate.rules.claims import Claim, Refused
from longmind.consolidate.rules.framing import doubted
from longmind.consolidate.rules.lexicon import SINGLE_KIN
from longmind.consolidate.rules.self_statements import BY_WORD, EXPRESSIONS, WAYS, Way, creature, possession, thing
from longmind.text.dates import TIME_PHRASE, NamedTime, resolve_phrase
from longmind.text.sentences import Sentence
from longmind.text.vocabulary import FAMILY, PETS

_WORD = re.compile(r"[a-z]+")
_RECENT = timedelta(days=365)
"""A move within this time replaces what was said before it; an earlier one takes its place in the past."""
_NAMES = re.compile(r"\s*[,:]\s*([A-Z]\w+(?:(?:,\s+|,?\s+and\s+|\s*&\s*)[A-Z]\w+)*)")
_MY = (
    r"(?:my|our)\s+(?:(?:own|little|big|older|younger|oldest|youngest|elder|eldest|twin|dear|best|"
    r"beloved|two|three|new|old)"
    r"\s+){0,2}"
)
_HINT = re.compile(r"\b(?:I|I'm|I've|my|our|we|We|My|Our)\b|^[A-Z][a-z]+(?:ed|nt|ng|de|an|ought|ot|on|st)\b")

_STATED_FIRST = re.compile(
    r"(?P<stated>(?:(?:hi|hello|hey|so|ok|well)\b[,!]?\s+){0,2}(?:I|we|my|our)\b[^?]{3,250}?)\s*"
    r"(?:,(?:\s+(?:so|and|but))?|;|\s[-–—]|\band\b|\bso\b)\s+"
    r"(?:how|what|which|where|when|why|who|can|could|is|are|do|does|did|should|would|will|any|may)\b[^?]*",
    re.IGNORECASE,
)
"""A statement before a question in one sentence: "my phone is a Nokia G22, how do I block a number?"."""
_TITLE = r"(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Doctor)\.?"
_KIN = re.compile(
    rf"\b{_MY}(?P<kin>{FAMILY}|{PETS})(?P<naming>'s name is|\s+is (?:called|named)|\s+(?:called|named)|"
    rf",)?\s+(?P<name>{_TITLE}\s+(?-i:[A-Z][a-z]+(?:[- ][A-Z][a-z]+)?)|[A-Z][a-z]+)\b(?!['’])",
    re.IGNORECASE,
)
_PHONED = re.compile(
    rf"\s*(?:[.!;]|$|{TIME_PHRASE.pattern}|"
    r"(?:about|to|back|again|because|for|from|when|while|and|but|so|twice|once|earlier)\b)",
    TIME_PHRASE.flags,
)
"""What follows a name that somebody called, rather than was called: "My sister called Marta yesterday"."""
_NOWADAYS = r"(?:these days|nowadays|right now|now|at the moment|currently)"
_FAVOURITE = re.compile(
    rf"\b{_MY}(?:all[- ]time )?fav(?:e|ou?rite)? (?P<what>[^\W\d_]+(?: (?!{_NOWADAYS}\b)[^\W\d_]+)?)"
    rf"(?:\s+{_NOWADAYS})?(?:\s+(?:is|are)|'s)(?:\s+(?:now|still))?\s+",
    re.IGNORECASE,
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

_THEIR_VERBS = {"love": "likes", "like": "likes", "enjoy": "likes", "hate": "dislikes", "play": "plays"}


def personal(sentence: Sentence, speaker: str, said_at: datetime) -> Iterator[Claim | Refused]:
    """Yield what a sentence states about its speaker and those around."""
    if sentence.asks and (match := _STATED_FIRST.match(sentence.text)) is not None:
        sentence = Sentence(match["stated"], sentence.start, asks=False)
    text = sentence.text.replace("’", "'")
    if not _HINT.search(text):
        return
    lower = text.lower()
    words = _WORD.findall(lower)
    if changes.may_end(words):
        affirmed = changes.affirm(text)
        yield from _ended(sentence, text, affirmed, speaker, said_at)
        if affirmed:
            return
    if own := "my" in lower or "our" in lower:
        yield from _kin(text, sentence, speaker)
    yield from _age(text, sentence, speaker)
    if own:
        yield from _theirs(text, sentence, speaker)
    yield from _statements(sentence, text, words, speaker, said_at)


def _ended(
    sentence: Sentence, text: str, affirmed: Sequence[str], speaker: str, said_at: datetime
) -> Iterator[Claim | Refused]:
    """Yield what a sentence says no longer holds; ``affirmed`` are the statements that it takes back."""
    if affirmed and (refused := _refused(affirmed[0], 0, sentence)):
        yield refused
        return
    span = (sentence.start, sentence.start + len(sentence.text))
    for statement in affirmed:
        words = _WORD.findall(statement.lower())
        for claim in _statements(sentence._replace(text=statement), statement, words, speaker, said_at):
            if isinstance(claim, Claim):
                yield replace(claim, span=span, ended=True)
    for start, end, predicate, object in changes.endings(text):
        if refused := _refused(text, start, sentence):
            yield refused
            continue
        where = (sentence.start + start, sentence.start + end)
        yield Claim(speaker, predicate, object, where, 0.8, "ending", start=_moment(text, start, said_at), ended=True)


def _statements(
    sentence: Sentence, text: str, words: Sequence[str], speaker: str, said_at: datetime
) -> Iterator[Claim | Refused]:
    """Yield what the ways of saying something find in a sentence of these lower-case words."""
    ways = sorted({number for word in words if word in BY_WORD for number in BY_WORD[word]})
    for way, match in ((WAYS[n], match) for n in ways for match in EXPRESSIONS[n].finditer(text)):
        if refused := _refused(text, match.start(), sentence):
            yield refused
            continue
        rest = text[match.end() :]
        for object, taken in _listed(way, rest) or [_one(way, rest)]:
            end = match.end() + taken
            span = (sentence.start + match.start(), sentence.start + end)
            if object is None:
                if not way.quiet:
                    yield Refused("unclear", text[match.start() : end], span)
                continue
            yield _claim(way, object, text, match, speaker, said_at, span)


def _listed(way: Way, rest: str) -> list[tuple[str | None, int]]:
    """Return the items of a list that follows a verb, each with where it ends; none if there is no list to take."""
    if not way.many or way.dated:
        return []
    objects: list[tuple[str | None, int]]
    counted = phrases.counted(rest) if way.predicate == "has" else []
    if way.object is creature and any(creature(rest[start:end].strip()) for start, end in counted):
        # beside relatives and animals stands what else one has; an item that is neither says something else
        objects = [(possession(rest[start:end].strip()), end) for start, end in counted]
        return [(object, end) for object, end in objects if object is not None]
    objects = [(way.object(rest[start:end].strip()), end) for start, end in counted or phrases.listed(rest)]
    return objects if all(object is not None for object, _ in objects) else []


def _one(way: Way, rest: str) -> tuple[str | None, int]:
    """Return the phrase that follows a verb, and where it ends; None if it does not fit."""
    phrase, taken = phrases.cut(rest)
    return None if phrase is None else _with_names(way, way.object(phrase), rest[taken:]), taken


def _with_names(way: Way, object: str | None, rest: str) -> str | None:
    """Return counted relatives or animals with the names that follow: "two sons, Tim and Tom"."""
    names = _NAMES.match(rest) if object is not None and way.object is creature else None
    return object if names is None else f"{object}, {names[1]}"


def _claim(
    way: Way, object: str, text: str, match: re.Match[str], speaker: str, said_at: datetime, span: tuple[int, int]
) -> Claim:
    time = _time(text, match.start(), said_at) if way.dated or way.move else None
    if way.form == "did" and time is not None and time.start is not None and time.start > said_at:
        time = None  # what was done cannot have been done then: the time is that of something else
    start = time.start if time is not None and time.start is not None and time.start <= said_at else None
    predicate, many = way.predicate, way.many
    if way.move and not changes.is_home(match.group().lower().startswith("we"), object, text[match.end() :]):
        predicate, many = "moved to", True
    if way.move and start is not None and said_at - start < _RECENT:
        start = None
    object = phrases.spoken(object, speaker)
    if way.dated and time is not None and time.text and predicate not in ("plans to", "considers"):
        object = f"{object} ({time.text})"
    relates = way.relates and predicate == way.predicate
    return Claim(speaker, predicate, object, span, way.confidence, way.predicate, many, relates, start)


def _refused(text: str, at: int, sentence: Sentence) -> Refused | None:
    before = text[:at]
    span = (sentence.start + at, sentence.start + len(sentence.text))
    if sentence.asks:
        return Refused("question", text[at:], span)
    reason = doubted(before)
    return None if reason is None else Refused(reason, text[at:], span)


def _time(text: str, at: int, said_at: datetime) -> NamedTime | None:
    """The time that the clause with a verb names: after the verb, or before it at the beginning."""
    stop = re.search(r"[;!]|\.\s|,\s*(?:and|but|so)\s+(?:I|we)\b", text[at:])
    after = TIME_PHRASE.search(text, at, at + stop.start() if stop else len(text))
    if after is not None and re.search(r"\b(?:that|who|which|when|where)\b", text[at : after.start()]):
        return None  # the time of the clause inside
    before = None if after else _last(TIME_PHRASE, text[max(0, at - 40) : at])
    match = after or before
    return None if match is None else resolve_phrase(match, said_at)


def _moment(text: str, at: int, said_at: datetime) -> datetime | None:
    """Return when something happened, if the clause says so and it is not later than the words."""
    time = _time(text, at, said_at)
    return time.start if time is not None and time.start is not None and time.start <= said_at else None


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The last place where a pattern matches, if only a comma or little words stand after it."""
    matches = list(pattern.finditer(text))
    last = matches[-1] if matches else None
    return (
        last if last is not None and re.fullmatch(r"[\s,-]*(?:and|was [a-z ]+)?[\s,-]*", text[last.end() :]) else None
    )


def _kin(text: str, sentence: Sentence, speaker: str) -> Iterator[Claim]:
    """Who somebody's relatives and animals are, when they are named."""
    for match in _KIN.finditer(text):
        name = match["name"]
        if not name[0].isupper() or phrases.name(name) is None or sentence.asks:
            continue
        if _is_phone_call(text, match):
            continue
        if "," in match.group() and re.match(r"\s*(?:,|and\b|&)", text[match.end() :]):
            continue  # a list: "my girlfriend, Toby and I"
        kin = re.sub(r"(?<=friend)s$|(?<=neighbor)s$|(?<=neighbour)s$", "", match["kin"].lower())
        span = (sentence.start + match.start(), sentence.start + match.end())
        lost = changes.LOSS_BEFORE.search(text[: match.start()]) or changes.LOSS_AFTER.match(text, match.end())
        many = kin not in SINGLE_KIN
        yield Claim(speaker, f"has {kin}", name, span, 0.85, "kin", many=many, relates=True, ended=lost is not None)
    for match in _FAVOURITE.finditer(text):
        if _refused(text, match.start(), sentence):
            continue
        phrase, taken = phrases.cut(text[match.end() :])
        object = None if phrase is None else phrases.thing(phrase, definite=True)
        if re.match(r"(?:thing|one|part|time|moment|way)s?$", match["what"]):
            continue
        if object is not None and not re.match(r"(?:when|definitely|probably|by far|a|an)\b", object):
            span = (sentence.start + match.start(), sentence.start + match.end() + taken)
            what = " ".join(match["what"].lower().split())
            yield Claim(
                speaker, f"favorite {what}", phrases.spoken(object, speaker), span, 0.85, "favourite", many=False,
                also=("likes",),
            )  # fmt: skip


def _is_phone_call(text: str, match: re.Match[str]) -> bool:
    """Whether "my sister called Marta" tells of a call: it begins the clause, and nothing is said of her after it."""
    if (match["naming"] or "").strip() != "called":
        return False
    return not re.search(r"\w\s*$", text[: match.start()]) and _PHONED.match(text, match.end()) is not None


def _age(text: str, sentence: Sentence, speaker: str) -> Iterator[Claim]:
    """How old a speaker is."""
    for match in _AGE.finditer(text):
        if not _refused(text, match.start(), sentence):
            span = (sentence.start + match.start(), sentence.start + match.end())
            yield Claim(speaker, "age", match["age"] or match["turned"], span, 0.9, "age", many=False)


def _theirs(text: str, sentence: Sentence, speaker: str) -> Iterator[Claim]:
    """What a speaker says of relatives and animals."""
    for match in _THEIRS.finditer(text):
        if _refused(text, match.start(), sentence):
            continue
        verb = re.sub(r"s$", "", match["verb"].split()[0].lower())
        if verb not in _THEIR_VERBS:
            continue
        predicate = _THEIR_VERBS[verb]
        phrase, taken = phrases.cut(text[match.end() :])
        object = None if phrase is None else thing(phrase)
        if object is None:
            continue
        span = (sentence.start + match.start(), sentence.start + match.end() + taken)
        who = f"{speaker}'s {match['kin'].lower()}"
        yield Claim(who, predicate, phrases.spoken(object, speaker), span, 0.8, "theirs")
