"""The judgement of what a statement is about: a person, the world, or how to do something.

A statement about a person is never shared, because a leak cannot be undone. So the burden of proof is on the other
side. A statement is about the world if its subject is a thing, a kind of thing, a place or an organisation. It is about
how to do something if it is an instruction. It holds no address or identifier, nobody who speaks or is spoken to, and
nobody in somebody's life. Every capitalised word in it is explained: as a known place, product or language, by the noun
beside it, or by a role that only things have ("the capital of"). What is left counts as being about a person.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from longmind.systems.shared import lexicon as lex
from longmind.systems.shared.claims import ROLE_OF
from longmind.systems.shared.given_names import GIVEN_NAMES
from longmind.systems.shared.models import About, ClaimParts, KnowledgeCandidate
from longmind.text.analysis import fold, words
from longmind.text.vocabulary import CALENDAR_WORDS

_SIGNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("an e-mail address", re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")),
    ("an account name", re.compile(r"(?:^|\s)@\w+")),
    ("a web address", re.compile(r"\b(?:https?://|www\.)\S+", re.IGNORECASE)),
    ("an IP address", re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")),
    ("an account number", re.compile(r"\b[A-Z]{2}\d{2}(?:\s?[A-Z0-9]{3,4}){3,8}\b")),
    ("a date", re.compile(r"\b\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b")),
    ("a long number", re.compile(r"\d(?:[\s().\-/]?\d){4,}")),
    ("a street address", re.compile(r"\b\d+\w?\s+\w+\s+(?:street|st|road|rd|avenue|ave|lane|drive|boulevard)\b", re.I)),
)
_TITLES = re.compile(r"\b(?:mr|mrs|ms|miss|dr|prof|sir|madam)\b\.?", re.IGNORECASE)
_MOMENT = re.compile(
    r"\b(?:last|next|this) (?:night|week|weekend|month|year|time|morning|afternoon|evening|monday|tuesday|wednesday|"
    r"thursday|friday|saturday|sunday|spring|summer|autumn|fall|winter)\b|\bon the way\b|(?<!the )(?<!a )\bhome$",
    re.IGNORECASE,
)
_SHORTENED = re.compile(r"\b(?:we're|i'd|i'll)\b")
_TOKEN = re.compile(r"[^\W_][\w’'./+#-]*[\w+#]|[^\W_]|[,;:]")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
_DETERMINED = frozenset(("the", "this", "that", "his", "her", "their", "a", "an", "one", "another", "some"))
_ARTICLES = frozenset(("the", "a", "an", "all", "every", "each", "any"))
_BEFORE_VERB = frozenset(("always", "never", "please", "first", "then", "dont", "do", "not", "only"))
_OPENERS = frozenset(("if", "when", "before", "after", "to", "once", "while", "until", "unless", "whenever"))
_GENERIC = frozenset(("children", "people"))
_AFTER_PLURAL = lex.PREPOSITIONS | lex.PLURAL_AUXILIARIES | lex.BASE_VERBS
"""Words before which a word that may be a verb is a noun in the plural: "orders after noon", "trains are"."""
_MAX_SUBJECT = 8
_UNCLEAR = "nothing that says what it is about"
_NAME = "a word that looks like a name"


class Judgement(NamedTuple):
    """What a statement is about, and, if that is a person, by what it is known, without repeating it."""

    about: About
    personal: str | None = None


class _Word(NamedTuple):
    """A word of a sentence as it is written, and without case, accents and possessive."""

    text: str
    plain: str


def judge(candidate: KnowledgeCandidate, allowed: Collection[str] = ()) -> Judgement:
    """Judge what a statement is about. ``allowed`` are names that are not of people."""
    text, known = candidate.text, {fold(word) for word in allowed}
    if personal := _found_anywhere(text, candidate.names):
        return Judgement("person", personal)
    if candidate.claim is not None:
        personal = _of_claim(candidate.claim, known)
        return Judgement("person", personal) if personal else Judgement("world")
    about: About = "how-to" if candidate.practical else "world"
    for number, sentence in enumerate(filter(None, (part.strip() for part in _SENTENCE.split(text)))):
        spoken = _words(sentence)
        instructs = _is_instruction(spoken)
        personal = _of_people(spoken, instructs or candidate.practical) or _of_names(sentence, spoken, known)
        if personal is None and not (instructs or candidate.practical):
            personal = _of_subject(spoken, known)
        if personal:
            return Judgement("person", personal)
        if instructs and number == 0:
            about = "how-to"
    return Judgement(about)


def about_of(text: str, names: Sequence[str] = ()) -> About:
    """Return what a text is about."""
    return judge(KnowledgeCandidate(text=text, names=tuple(names))).about


def _found_anywhere(text: str, names: Sequence[str]) -> str | None:
    """Return what makes any text personal: addresses, known names, somebody speaking."""
    text_words = set(words(text))
    if {part for name in names for part in words(name) if len(part) > 1} & text_words:
        return "the name of somebody here"
    for what, sign in _SIGNS:
        if sign.search(text):
            return what
    if lex.SELF - {"were", "id", "ill"} & text_words or re.search(
        r"\b(?:we're|i'd|i'll)\b", fold(text).replace("’", "'")
    ):
        return "somebody speaking of themselves"
    if lex.OTHERS & text_words:
        return "somebody who is not named"
    if _TITLES.search(text):
        return "a form of address"
    if GIVEN_NAMES & text_words:
        return "a name of people"
    if lex.NOW & text_words or _MOMENT.search(text.rstrip(" .!")):
        return "a moment of somebody's life"
    return None


def _words(sentence: str) -> list[_Word]:
    texts = _TOKEN.findall(sentence)
    return [_Word(text, fold(re.sub(r"[’']s?$", "", text)).replace("’", "").replace("'", "")) for text in texts]


# -- sentences -----------------------------------------------------------------------------------------------------


def _is_instruction(spoken: Sequence[_Word]) -> bool:
    """Return whether a sentence says what to do: it begins with a verb, or with a condition and has one after it."""
    plain = [word.plain for word in spoken]
    start = 0
    while start < len(plain) and plain[start] in (
        "always",
        "never",
        "please",
        "first",
        "then",
        "dont",
        "do",
        "not",
        "only",
    ):
        start += 1
    if start < len(plain) and plain[start] in lex.BASE_VERBS:
        after = plain[start + 1] if start + 1 < len(plain) else ""
        if after in lex.THIRD_VERBS and plain[start] in lex.COMMON:
            return False  # "water boils", but "check logs"
        return after not in lex.PLURAL_AUXILIARIES and after not in lex.SINGULAR_AUXILIARIES
    if plain and plain[0] in _OPENERS:
        commas = [place for place, word in enumerate(plain) if word == ","]
        return any(_is_instruction(spoken[place + 1 :]) for place in commas)
    if start + 1 < len(plain) and plain[start + 1] in _ARTICLES and not _lacks_subject(plain[start:]):
        return _main_verb(plain[start + 1 :]) is None  # names have no article behind them: "Preheat the oven"
    return False


def _of_people(spoken: Sequence[_Word], instructs: bool) -> str | None:
    """Return which word of a sentence speaks of a person, other than by name."""
    plain = [word.plain for word in spoken]
    if not instructs and lex.ADDRESSED.intersection(plain):
        return "somebody who is spoken to"
    for place, word in enumerate(plain):
        before = plain[max(0, place - 3) : place]
        definite = bool(_DETERMINED.intersection(before)) or spoken[place].text.endswith(("'s", "’s"))
        if word in lex.CIRCLE and (
            definite or place == 0 or (not word.endswith("s") and word not in ("children", "people"))
        ):
            return "somebody's family or circle"
        if word in lex.ROLES and not instructs and (definite or not word.endswith("s")):
            return "a certain person"
        if word in lex.PRIVATE_THINGS and _DETERMINED.intersection(before[-2:]):
            return "something of a private life"
        if word in lex.SECRETS and "is" in plain[place:]:
            return "a secret"
        if instructs and word in ("your", "you") and lex.CIRCLE.intersection(plain[place : place + 3]):
            return "somebody who is spoken to"
    return None


def _of_names(sentence: str, spoken: Sequence[_Word], known: Collection[str]) -> str | None:
    """Return why a sentence holds a name that nothing explains as that of a place or a thing."""
    explained = _explained_by_role(sentence).union(known)
    small = {word.plain for word in spoken if word.text[0].islower()}
    for place, word in enumerate(spoken):
        if place == 0 or not _looks_like_name(word.text):
            continue
        if word.plain in small or word.plain in explained:
            continue
        if not _is_thing(spoken, place):
            return _NAME
    first = spoken[0] if spoken else None
    if first is not None and first.text.endswith(("'s", "’s")) and not _explained(first.plain, explained):
        return _NAME
    return None


def _is_thing(spoken: Sequence[_Word], place: int) -> bool:
    """Return whether a capitalised word is the name of a place, an organisation or a thing."""
    word = spoken[place]
    if word.text.endswith(("'s", "’s")) and word.plain not in lex.CAPITALISED:
        return False
    if _explained(word.plain, ()):
        return True
    after = spoken[place + 1].plain if place + 1 < len(spoken) else ""
    if after in lex.PLACE_NOUNS:
        return True
    before = spoken[place - 1].plain if place else ""
    if before in ("mount", "lake", "port", "cape", "fort"):
        return True
    # people have no article, but an article may belong to what follows their name: "the Miller case"
    alone = not after or after in lex.PREPOSITIONS or after in lex.SINGULAR_AUXILIARIES or after in lex.THIRD_VERBS
    return before == "the" and alone and not word.plain.endswith("s")


def _explained(plain: str, known: Collection[str]) -> bool:
    return plain in lex.CAPITALISED or plain in known or plain.removesuffix("s") in CALENDAR_WORDS


def _explained_by_role(sentence: str) -> set[str]:
    """Return the words of names that stand in a role which only places and things have: "the capital of X is Y"."""
    match = ROLE_OF.match(sentence.rstrip(" .!"))
    if match is None or not _is_thing_role(match["role"]):
        return set()
    explained = set(words(match["x"]))
    if not _is_place_role(match["role"]):
        return explained
    return explained | set(words(match["y"])) if match["y"][0].isupper() else set()


def _is_thing_role(role: str) -> bool:
    typed = lex.THING_ROLES | lex.OFFICIAL
    return bool(typed.intersection(words(role))) and not lex.PERSON_PREDICATES.intersection(words(role))


def _is_place_role(role: str) -> bool:
    return bool(lex.PLACE_ROLES.intersection(words(role))) and _is_thing_role(role)


def _of_subject(spoken: Sequence[_Word], known: Collection[str]) -> str | None:
    """Return why the subject of a statement is not known to be a thing; None if it is."""
    plain = ["abbreviation" if word.text.isupper() and len(word.text) > 1 else word.plain for word in spoken]
    if not plain:
        return _UNCLEAR
    if plain[0] in lex.POINTING and plain[:2] != ["it", "rains"] and plain[:2] != ["it", "snows"]:
        return "something that is not named"
    if plain[0] == "it":
        return None
    if _lacks_subject(plain):
        return "somebody who is not named"
    found = _main_verb(plain)
    if found is None:
        return _UNCLEAR
    place, plural = found
    if plain[place] in lex.PAST:
        return "something that happened once"
    if plain[place] in lex.PEOPLE_DO and plain[0] in _DETERMINED:
        return "somebody's likes or doings"
    subject = spoken[:place]
    head = [word for word in _head(subject) if word.plain not in lex.ADVERBS]
    if not head:
        return _UNCLEAR
    if plain[0] in lex.DETERMINERS:
        return None if len(subject) > 1 else _UNCLEAR
    last = head[-1]
    if plural and last.plain.endswith("s") and not last.plain.endswith(("ss", "us", "is")):
        return None
    if len(head) > 1 and head[1].text[0].islower() and not last.plain.endswith("ly"):
        return None
    if all(_is_common(word, known) for word in head):
        return None
    return _NAME


def _lacks_subject(plain: Sequence[str]) -> bool:
    """Return whether a sentence begins with its verb and so leaves out who does it: "Likes jazz", "Is afraid"."""
    first, second = plain[0], plain[1] if len(plain) > 1 else ""
    if first in lex.PEOPLE_DO or first in lex.SINGULAR_AUXILIARIES or first in lex.PAST or first.endswith("ed"):
        return True
    return first in lex.THIRD_VERBS and second not in _AFTER_PLURAL


def _head(subject: Sequence[_Word]) -> Sequence[_Word]:
    """Return the subject without what is attached to it by a preposition: "parcels" of "parcels above 30 kilos"."""
    ends = [place for place, word in enumerate(subject) if place and word.plain in lex.PREPOSITIONS]
    return subject[: ends[0]] if ends else subject


def _main_verb(plain: Sequence[str]) -> tuple[int, bool] | None:
    """Return where the verb of a statement stands, and whether it is one of a plural subject.

    The subject stands before it, so the first word is none: "Likes jazz" has no subject.
    """
    for place in range(1, min(len(plain), _MAX_SUBJECT)):
        word = plain[place]
        if word in lex.PAST:
            return place, False
        if word in lex.SINGULAR_AUXILIARIES or word in lex.PLURAL_AUXILIARIES:
            return place, word in lex.PLURAL_AUXILIARIES
        if word in lex.THIRD_VERBS and not _is_plural_noun(plain, place):
            return place, False
        if word in lex.BASE_VERBS and plain[place - 1].endswith("s") and plain[place - 1] not in lex.DETERMINERS:
            return place, True
        if (
            word in lex.BASE_VERBS
            and any(w.endswith("s") for w in plain[:1])
            and plain[place - 1] not in lex.PREPOSITIONS
        ):
            return place, True
    return None


def _is_plural_noun(plain: Sequence[str], place: int) -> bool:
    """Return whether what may be a verb is a noun, since a verb of plural subjects follows: "heat pumps work"."""
    after = plain[place + 1] if place + 1 < len(plain) else ""
    return after in lex.PLURAL_AUXILIARIES or after in lex.BASE_VERBS


def _is_common(word: _Word, known: Collection[str]) -> bool:
    """Return whether a word without an article is known not to be a name of people."""
    if not _looks_like_name(word.text) and not word.text[0].islower():
        return True  # an abbreviation, or mixed case: HTTP, PostgreSQL
    plain = word.plain
    return plain in lex.COMMON or _explained(plain, known) or plain.endswith(lex.THING_ENDINGS) or plain.isdigit()


def _looks_like_name(word: str) -> bool:
    """Whether a word is capitalised, but neither an abbreviation (SQL) nor mixed case (PostgreSQL)."""
    if not word[:1].isupper():
        return False
    core = re.sub(r"[’']s?$", "", word)
    tail = re.sub(r"^(?:Mc|Mac|O[’']|De|Di|La|Le|Van)(?=[A-Z])", "", core)
    return (
        bool(core) and core[0].isupper() and (len(core) == 1 or not any(c.isupper() for c in tail[1:])) and core != "I"
    )


# -- facts -----------------------------------------------------------------------------------------------------------


def _of_claim(claim: ClaimParts, known: Collection[str]) -> str | None:
    """Return why a fact is about a person; None if its subject is a thing and no name in it is unexplained."""
    predicate = words(claim.predicate)
    if lex.PERSON_PREDICATES.intersection(predicate) or lex.PEOPLE_DO.intersection(predicate):
        return "somebody's likes or doings"
    subject, object = _words(claim.subject), _words(claim.object)
    of_thing, of_place = _is_thing_role(claim.predicate), _is_place_role(claim.predicate)
    for part in (subject, object):
        if personal := _of_people([_Word("the", "the"), *part], False):
            return personal
    if not subject or subject[0].plain in lex.POINTING:
        return "something that is not named"
    for place, word in enumerate(subject):
        if _looks_like_name(word.text) and not (of_thing or _is_common(word, known) or _is_thing(subject, place)):
            return _NAME
    for place, word in enumerate(object):
        if _looks_like_name(word.text) and not (of_place or _is_common(word, known) or _is_thing(object, place)):
            return _NAME
    return None
