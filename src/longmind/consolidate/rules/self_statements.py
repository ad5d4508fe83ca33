"""The ways in which people say something of themselves: the verb, what may stand before it, and what its object is.

A way is tried only where one of its verbs occurs, so that a text which says nothing costs little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from longmind.consolidate.rules import phrases
from longmind.consolidate.rules.lexicon import GOODS, JOBS
from longmind.text.vocabulary import FAMILY, PETS

ADVERBS = (
    r"(?:(?:really|also|just|absolutely|always|totally|still|especially|truly|definitely|actually|honestly|personally"
    r"|particularly|mostly|usually|often|currently|now|recently|finally|even|both|do|already|only|kinda|simply|sure"
    r"|genuinely|so|very|super)\s+){0,2}"
)
Form = Literal["do", "be", "did", "own", "my"]
_FORMS: dict[Form, str] = {
    "do": rf"(?:I|we)\s+{ADVERBS}",
    "be": rf"(?:I(?:'m|\s+am)|we(?:'re|\s+are))\s+{ADVERBS}",
    "did": rf"(?:(?:I|we)(?:'ve|\s+have)?\s+{ADVERBS}|^(?:(?:just|recently|finally|yesterday)\s+)?)",
    "own": r"(?:I|we)(?:'ve|\s+have)\s+",
    "my": r"(?:my|our)\s+(?:new\s+)?",
}
"""What stands before the verb. What was done is also told without a subject: "Just joined a gym"."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way of saying something: the verb in one of its forms, and the object."""

    predicate: str
    form: Form
    verbs: tuple[str, ...]
    """As they are written; a space stands for any white space. None where "I am" is all there is to it."""
    object: Callable[[str], str | None]
    confidence: float = 0.8
    then: str = ""
    """An expression for what must, or may, follow the verb."""
    many: bool = True
    relates: bool = False
    quiet: bool = False
    """Whether an object that does not fit means that something else was said, and nothing was refused."""
    move: bool = False
    """Whether it tells of a move, which is a new home only if nothing speaks against it."""
    dated: bool = False
    """Whether the time at which it happened belongs to what is said."""

    def expression(self) -> re.Pattern[str]:
        verbs = "|".join(verb.replace(" ", r"\s+") for verb in self.verbs)
        verb = rf"(?:{verbs})\s+" if verbs else ""
        return re.compile(rf"(?<![\w'])(?:{_FORMS[self.form]}{verb}{self.then})", re.IGNORECASE)


# -- what objects may be -------------------------------------------------------------------------------------------

_NO_DEED = re.compile(
    r"(?:to|being|rid|back|home|there|better|ready|used|a lot|lots|so many|tons|loads|my (?:hand|"
    r"best|luck|mind|way|temper"
    r"|cool|breath|time|heart|eye)|(?:an? )?(?:(?:few|some|many|amazing|great|awesome|new|lovely|"
    r"cool) )*(?:people|friends"
    r"|ones|folks|guys|things?|advice))\b"
)
_NOWHERE = re.compile(r"(?:bed|sleep|work|home|town|hell|waste|the next|the other|a few|a place)\b|[a-z]+ing\b")
_CREATURES = re.compile(
    rf"(?:(?:an?|one|two|three|four|five|\d+)\s+(?!few|lot|bit)(?:[a-z]+\s+){{0,2}}?(?:{PETS}|"
    rf"{FAMILY}))(?:\s+(?:called|named)\s+[A-Z]\w+)?\b(?=\s*(?:$|[,;&(]|(?:and|or|called|named|aged|with|of|for|since|by|on|as|plus)\b))"
)
"""A creature ends its phrase, or something is said of it: a bird table is no bird, and a family dinner no family."""
_OWNED = re.compile(rf"\b{GOODS}$")
_GOING = re.compile(r"(?:an?|the|my|our)\s")
_DIETS = r"vegan|vegetarian|[a-z]+tarian|omnivore"
_CONDITIONS = (
    r"diabetic|asthmatic|epileptic|coeliac|celiac|an(?:a)?emic|dyslexic|autistic|bipolar|colou?r[- ]?blind|deaf|"
    r"arthritic|h(?:a)?emophiliac"
)
_MACHINES = (
    "phone mobile smartphone laptop computer pc tablet car van truck motorbike motorcycle scooter bike bicycle camera "
    "printer router tv television oven stove fridge freezer dishwasher boiler guitar piano"
).split()


def thing(text: str) -> str | None:
    return phrases.thing(text)


def deed(text: str) -> str | None:
    """What was done, got or made."""
    phrase = phrases.thing(text, described=True)
    return None if phrase is None or _NO_DEED.match(phrase) else phrase


def event(text: str) -> str | None:
    """Somewhere one can go."""
    phrase = phrases.thing(text, definite=True)
    return None if phrase is None or _NOWHERE.match(phrase) else phrase


def job(text: str) -> str | None:
    """An occupation, without what is said of it."""
    phrase = phrases.thing(text)
    words = re.sub(r"^(?:an?|the)\s+", "", phrase or "").split()
    jobs = [n for n, word in enumerate(words[:4]) if JOBS.fullmatch(word.lower())]
    return " ".join(words[: jobs[-1] + 1]) if jobs else None


def diet(text: str) -> str | None:
    """A way of eating."""
    word = re.sub(r"^an?\s+", "", text.strip(" .!")).split(" ")[0].lower()
    return word if re.fullmatch(_DIETS, word) else None


def condition(text: str) -> str | None:
    """An illness, as the word for whoever has it."""
    match = re.match(rf"(?:{_CONDITIONS})\b", text, re.IGNORECASE)
    return None if match is None else match.group().lower()


def make(text: str) -> str | None:
    """What make a thing is of: a name or a number tells it from "a mess"."""
    phrase = phrases.thing(text)
    return re.sub(r"^an?\s+", "", phrase) if phrase is not None and re.search(r"[A-Z\d]", phrase) else None


def place(text: str) -> str | None:
    phrase = phrases.name(text)
    return None if phrase is None else re.split(r"\s+and\s+[A-Z]", phrase)[0]


def creature(text: str) -> str | None:
    """Relatives or animals, counted."""
    phrase = phrases.thing(text)
    match = _CREATURES.match(phrase or "")
    return match.group() if match else None


def possession(text: str) -> str | None:
    """Relatives or animals, counted, or what is usually owned: what may stand in one list with them."""
    phrase = phrases.thing(text)
    return creature(text) or (phrase if phrase is not None and _OWNED.search(phrase) else None)


def plan(text: str) -> str | None:
    """What is going to be done; "going to a conference" says where one is going to go."""
    return phrases.act(f"go to {text}") if _GOING.match(text) else phrases.act(text)


# -- the ways ------------------------------------------------------------------------------------------------------

_DOINGS = (
    "learning practicing practising studying volunteering training playing teaching writing reading running painting "
    "taking dancing researching collecting coaching attending building exploring cooking baking"
).split()
_DEEDS = (
    "painted baked cooked built wrote published designed organized organised hosted opened launched watched tried "
    "received passed created planted won joined visited adopted started"
).split()
_NEW_JOB = (
    "started a new job at",
    "started a job at",
    "got a new job at",
    "got a job at",
    "took a job at",
    "started working at",
    "started working for",
    "been hired by",
    "got hired by",
)
_A_THING = rf"(?=(?:an?|my|our|two|three|some)\s(?:[a-z]+\s){{0,2}}(?:{GOODS}|{PETS})\b)"

WAYS: tuple[Way, ...] = (
    Way("likes", "do", ("love", "like", "enjoy", "adore", "cherish"), thing, 0.85),
    Way("likes", "did", ("always loved", "always liked", "always enjoyed", "always adored"), thing, 0.85),
    Way("likes", "be", ("a", "such a"), thing, 0.85, then=r"(?:(?:big|huge|massive|real|total|major)\s+)?fan\s+of\s+"),
    Way(
        "interested in",
        "be",
        ("into", "interested in", "passionate about", "keen on", "obsessed with", "fascinated by"),
        thing,
    ),
    Way("enjoyed", "do", ("loved", "liked", "enjoyed", "adored"), thing, 0.75),
    Way("dislikes", "do", ("hate", "dislike", "can't stand", "cannot stand", "don't like", "do not like"), thing),
    Way("lives in", "do", ("live in",), place, 0.85, many=False, relates=True),
    Way("lives in", "did", ("moved to", "moved back to"), place, many=False, relates=True, move=True),
    Way(
        "lives in",
        "my",
        ("address is in", "address is now in", "home is in", "home is now in"),
        place,
        0.85,
        many=False,
        relates=True,
    ),
    Way("comes from", "be", ("from", "originally from"), place, relates=True),
    Way("grew up in", "do", ("grew up in",), place, 0.85, relates=True),
    Way("born in", "do", ("was born in", "was born and raised in"), place, 0.9, many=False, relates=True),
    Way("works as", "do", ("work as",), job, 0.85, then=r"(?=an?\s)"),
    Way("worked as", "did", ("worked as",), job, 0.85, then=r"(?=an?\s)"),
    Way("diet", "be", ("a", "an"), diet, 0.85, many=False, quiet=True),
    Way("diet", "be", (), diet, 0.85, then=rf"(?=(?:{_DIETS})\b)", many=False, quiet=True),
    Way("has condition", "be", (), condition, 0.85, then=rf"(?=(?:{_CONDITIONS})\b)", quiet=True),
    Way("works as", "be", ("a", "an"), job, 0.75, quiet=True),
    Way("works at", "do", ("work at", "work for"), phrases.name, 0.85, many=False, relates=True),
    Way("works at", "did", _NEW_JOB, phrases.name, 0.85, many=False, relates=True, quiet=True),
    Way("studies", "do", ("study",), thing),
    Way("studies", "be", ("studying", "majoring in"), thing),
    Way("speaks", "do", ("speak",), phrases.name, 0.85, then=r"(?:fluent\s+|some\s+|a\s+little\s+)?"),
    Way("plays", "do", ("play",), thing),
    Way("allergic to", "be", ("allergic to", "severely allergic to"), thing, 0.9),
    Way("has", "do", ("have",), creature, 0.85, quiet=True),
    Way("has", "own", ("got",), creature, 0.85, quiet=True),
    Way("has", "do", ("own",), thing, 0.85, then=r"(?=an?\s)"),
    Way("owns", "my", tuple(f"{machine} is" for machine in _MACHINES), make, 0.85, then=r"(?=an?\s)", quiet=True),
    Way("drives", "do", ("drive",), thing, 0.8, then=r"(?=an?\s)"),
    Way("plans to", "be", ("planning to", "going to", "gonna", "hoping to"), plan, 0.75, dated=True),
    Way("plans to", "do", ("plan to", "hope to", "intend to"), phrases.act, 0.75, dated=True),
    Way(
        "considers",
        "be",
        ("planning on", "thinking about", "thinking of", "considering", "looking into"),
        phrases.act,
        0.75,
        then=r"(?=[a-z]+ing\b)",
        dated=True,
    ),
    Way("wants to", "do", ("want to",), phrases.act, 0.75),
    Way("wants to", "my", ("dream is to", "goal is to", "plan is to", "aim is to"), phrases.act, 0.75),
    Way("looks forward to", "be", ("looking forward to",), thing, 0.75),
    Way("has been", "did", ("been",), phrases.act, 0.75, then=rf"(?=(?:{'|'.join(_DOINGS)})\s)"),
    Way("works on", "be", ("working on",), thing, 0.75),
    Way("is learning", "be", ("learning", "learning about"), thing, 0.75, then=r"(?!how\b|to\b)"),
    Way("is learning to", "be", ("learning to", "learning how to"), phrases.act, 0.75),
    Way("is reading", "be", ("reading",), thing, 0.75),
    Way("used to", "do", ("used to",), phrases.act, 0.75),
    Way("went to", "did", ("went to", "been to"), event, dated=True),
    Way("attended", "did", ("attended", "took part in", "participated in"), deed, dated=True),
    Way("signed up for", "did", ("signed up for",), deed, dated=True),
    Way("bought", "did", ("bought", "purchased"), deed, dated=True),
    Way("ran", "did", ("ran",), deed, 0.75, then=r"(?=(?:an?|my|our|the)\s)", dated=True),
    Way("met", "did", ("met", "met up with"), deed, 0.75, dated=True),
    Way("got", "did", ("got",), deed, 0.75, then=_A_THING, dated=True),
    Way("lost", "did", ("lost",), deed, 0.75, then=r"(?=my\s)", dated=True),
    *(Way(verb, "did", (verb,), deed, 0.75, dated=True) for verb in _DEEDS),
    Way("finished", "did", ("finished", "completed"), deed, 0.75, dated=True),
    Way("graduated from", "did", ("graduated from",), deed, 0.85, dated=True),
    Way("volunteers at", "did", ("volunteer at", "volunteered at", "been volunteering at"), event, dated=True),
    Way("name", "my", ("name is", "name's"), phrases.name, 0.9, many=False),
)


def _keys(way: Way) -> Iterable[str]:
    """Words of which one must be in a text for the way to be tried."""
    if not way.verbs or way.verbs[0] in ("a", "an", "such a"):
        return ("am", "are", "m", "re")
    return {re.findall(r"[a-z]+", verb)[0] for verb in way.verbs}


BY_WORD: dict[str, tuple[int, ...]] = {}
"""For each word that can announce a way of saying something, the numbers of these ways."""
EXPRESSIONS = tuple(way.expression() for way in WAYS)
for _number, _way in enumerate(WAYS):
    for _key in _keys(_way):
        BY_WORD[_key] = (*BY_WORD.get(_key, ()), _number)
