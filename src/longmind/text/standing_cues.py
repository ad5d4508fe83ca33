"""Cues of a sentence: who it is about, and how much speaks for each type of statement that matters in every context.

Each function counts the cues of one type; two make a statement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from longmind.text import standing_patterns as patterns
from longmind.text import standing_words as lists
from longmind.text.analysis import has_digit, stem

Subject = Literal["self", "kin", "other", "unknown"]
_OWN = frozenset(("my", "our"))
NEGATIONS = frozenset("no nobody nothing none no-one not never don't do mustn't must stay stays without".split())
"""A sentence without one of these denies and forbids nothing."""
NAMING = frozenset("name name's call calls address addressed go goes known nickname".split())
WORKING = frozenset(
    """work working teach teaching study studying run own manage freelance retired train drive started hired
    living trade
    profession self-employed""".split()
)
LIVING = frozenset("live living based from moved moving relocated settled grew born staying in".split())
_ARTICLES = frozenset(("a", "an"))
AGES = frozenset(("old", "birthday"))
_FIRST_OR_SECOND = frozenset("i we i'm i've i'd i'll we're we've you".split())
TELLING = frozenset(
    """tell telling know knows share sharing shared mention reveal disclose publish published post posted
    forward give gives
    pass read reads gets see sees hear hears find finds internet online public social leaves leak out""".split()
)
"""A sentence without one of these says nothing of what may be told."""
_PEOPLE = lists.KIN | lists.OTHERS
_CONTRACTED = frozenset(patterns.CONTRACTED)
_MOST_TOKENS = 50_000
WHOSE_KIN = frozenset(("my", "our", "have", "with"))
"""Words before a relative that make it the user's own."""
_SHORTEST_INSTRUCTION = 4
"""Words of an instruction; what is shorter is a phrase such as "never mind"."""
_WHOSE = frozenset("my his her the our their left right bad both weak".split())
NAMED_HEALTH = lists.CONDITIONS | lists.DIETS


class ParsedSentence(NamedTuple):
    """A sentence as the rules read it."""

    text: str
    plain: str
    """In lower case, with straight apostrophes, a space at both ends."""
    tokens: tuple[str, ...]
    words: frozenset[str]
    """The tokens as a set."""
    word_stems: tuple[str, ...]
    """The stem of each token."""
    stems: frozenset[str]
    subject: Subject


Tokens = tuple[str, list[str]]
"""A text in lower case, with straight apostrophes and contractions that have one; and its words."""


def tokenise(text: str) -> Tokens:
    """Return the words of a text. Contractions without an apostrophe get one."""
    lowered = text.lower().replace("’", "'")
    words = patterns.TOKEN.findall(lowered)
    if not _CONTRACTED.isdisjoint(words):
        lowered = patterns.TOKEN.sub(lambda match: patterns.CONTRACTED.get(match[0], match[0]), lowered)
        words = patterns.TOKEN.findall(lowered)
    return lowered, words


def parse(text: str, tokenised: Tokens) -> ParsedSentence:
    """Read a sentence: the stems of its words, and who it is about."""
    lowered, tokens = tokenised[0], tuple(tokenised[1])
    word_stems = tuple(map(stem_of, tokens))
    return ParsedSentence(
        text, f" {lowered} ", tokens, frozenset(tokens), word_stems, frozenset(word_stems), _subject(tokens, word_stems)
    )


class _Stems(dict[str, str]):
    """A cache of the stems of tokens, cleared when it is full."""

    def __missing__(self, token: str) -> str:
        if len(self) >= _MOST_TOKENS:
            self.clear()
        found = self[token] = stem(token.removesuffix("'s"))
        return found


stem_of = _Stems().__getitem__


def _subject(tokens: Sequence[str], stems: Sequence[str]) -> Subject:
    """Return who a sentence is about: the first person that it names."""
    for number, (token, word) in enumerate(zip(tokens, stems, strict=True)):
        if token in _OWN:
            if _PEOPLE.isdisjoint(stems[number + 1 : number + 3]):
                return "self"
        elif token in lists.SELF:
            return "self"
        elif word in _PEOPLE:
            return "kin" if word in lists.CLOSE_KIN else "other"
    return "unknown"


def health(sentence: ParsedSentence, household: bool) -> int:
    """Count the cues of a lasting matter of the body, of the user or the family."""
    stems, plain = sentence.stems, sentence.plain
    named = not NAMED_HEALTH.isdisjoint(stems)
    body = not lists.MOBILITY.isdisjoint(stems) or (not lists.BODY.isdisjoint(stems) and _names_body(sentence))
    symptom = not lists.SYMPTOMS.isdisjoint(stems) or _has(sentence, lists.MEDICAL_PHRASES)
    severe = not lists.SEVERE.isdisjoint(stems) or _has(sentence, lists.SEVERE_PHRASES)
    medical = min(2, len(lists.MEDICAL & stems))
    substance = not lists.SUBSTANCES.isdisjoint(stems)
    points = 3 * named + body + max(symptom, 2 * severe) + medical
    if not points and not substance:
        return 0
    active = not lists.ACTIVITIES.isdisjoint(stems)
    if (active and patterns.UNABLE.search(plain)) or (substance and patterns.ABSTAINS.search(plain)):
        points += 1
    if substance and (points or patterns.NO_FOOD.search(plain)):
        points += 1
    if patterns.AFFECTS.search(plain):
        points += 1
    if points and _has(sentence, lists.LASTING):
        points += 1
    if points and not lists.PASSING.isdisjoint(sentence.words):
        points -= 1
    return points - (sentence.subject == "kin" or (sentence.subject == "unknown" and not household))


def _names_body(sentence: ParsedSentence) -> bool:
    """Return whether a part of the body is named with whose it is, or which: "my back", not "back at work"."""
    return any(
        word in lists.BODY and not _WHOSE.isdisjoint(sentence.tokens[max(0, number - 3) : number])
        for number, word in enumerate(sentence.word_stems)
    )


def identity(sentence: ParsedSentence) -> tuple[int, str | None]:
    """Count the cues of who the user is; with what the sentence says if a person has only one of these."""
    stems, plain = sentence.stems, sentence.plain
    if ("/" in plain or "pronoun" in stems) and patterns.PRONOUNS.search(plain):
        return 4, "pronouns" if sentence.subject != "kin" else None
    if not NAMING.isdisjoint(sentence.words) and patterns.NAMED.search(plain):
        return 4, "name"
    if patterns.CALLED.search(sentence.text):
        return 3, "name"
    points, slot = 0, None
    own = not lists.SELF.isdisjoint(sentence.words)
    if sentence.subject == "other" or (sentence.subject == "kin" and patterns.SAYS.search(plain)):
        return 0, None
    if own and sentence.subject in ("self", "unknown"):
        if not WORKING.isdisjoint(sentence.words) and patterns.WORKS.search(plain):
            points, slot = points + 2, "work"
        if not LIVING.isdisjoint(sentence.words) and patterns.LIVES.search(plain):
            points, slot = points + 2, slot or "home"
        if not _ARTICLES.isdisjoint(sentence.words):
            points += 2 * (patterns.IS_A.search(plain) is not None)
        if not AGES.isdisjoint(sentence.words) or has_digit(plain):
            points += 2 * (patterns.AGE.search(plain) is not None)
    if own:
        points += min(2, len(lists.WORK & stems)) + (not lists.HOME.isdisjoint(stems))
        points += 2 * (not lists.FAITHS.isdisjoint(stems)) + 2 * (not lists.MARRIAGE.isdisjoint(stems))
        if not lists.LANGUAGES.isdisjoint(stems) and patterns.LANGUAGE.search(plain):
            points += 2
    if not lists.KIN.isdisjoint(stems) and _has_kin(sentence):
        points += 1 + (patterns.KIN_DETAIL.search(plain) is not None)
    if points and own and sentence.subject in ("self", "unknown"):
        points += _habit(plain)
    if points and not lists.PASSING.isdisjoint(sentence.words):
        points -= 1
    return points, slot


def _has_kin(sentence: ParsedSentence) -> bool:
    """Return whether a relative is named after a word that makes it the user's own."""
    return any(
        token in WHOSE_KIN and not lists.KIN.isdisjoint(sentence.word_stems[n + 1 : n + 4])
        for n, token in enumerate(sentence.tokens)
    )


def _habit(plain: str) -> int:
    """Return 1 for a sentence that tells in the simple present what the user does."""
    return int(
        any(
            verb not in lists.NOT_HABITS and not verb.endswith(("ed", "ly", "ing"))
            for verb in patterns.HABIT.findall(plain.strip())
        )
    )


def safety(sentence: ParsedSentence) -> int:
    """Count the cues of danger, and of what must not be told."""
    stems, plain = sentence.stems, sentence.plain
    points = 3 * (not lists.DANGERS.isdisjoint(stems) or patterns.SELF_HARM.search(plain) is not None)
    points += 3 * _has(sentence, lists.DANGER_PHRASES)
    points += not lists.GUARDED.isdisjoint(stems)
    points += 2 * (not lists.SECRETS.isdisjoint(stems))
    if not NEGATIONS.isdisjoint(sentence.words) and not TELLING.isdisjoint(sentence.words):
        points += 2 * (patterns.TELLS.search(plain.strip()) is not None)
    return points


def instruction(sentence: ParsedSentence) -> int:
    """Count the cues of a request that is meant for every time."""
    if len(sentence.tokens) < _SHORTEST_INSTRUCTION:
        return 0
    standing = 2 * _has(sentence, lists.EVERY_TIME) or int(_has(sentence, lists.SOMETIMES))
    directed = _directed(sentence) if standing else 0
    if not directed:
        return 0
    return standing + directed + (not lists.COMMUNICATION.isdisjoint(sentence.stems)) - 1


def _directed(sentence: ParsedSentence) -> int:
    """Return how plainly a sentence asks something of the assistant: 0, 1 or 2."""
    plain = sentence.plain
    if _has(sentence, lists.WISHES) or ("you" in sentence.words and patterns.YOU_MUST.search(plain)):
        return 2
    if not lists.IMPERATIVES.isdisjoint(sentence.words):
        for clause in patterns.CLAUSE.split(plain):
            words = clause.split()
            if words and words[0] in lists.IMPERATIVES and not _tells(words):
                return 2 if words[0] in ("don't", "never", "always") or "please" in sentence.words else 1
    if "please" in sentence.words:
        return 2
    return int(next((token for token in sentence.tokens if token in _FIRST_OR_SECOND), "") == "you")


def _tells(words: Sequence[str]) -> bool:
    """Return whether a clause with "always" or "never" says what happens: "never had one", "always gets me"."""
    if words[0] not in ("never", "always"):
        return False
    following = words[1] if len(words) > 1 else ""
    return not following or following in lists.PARTICIPLES or following.endswith(("ed", "ing", "s"))


def _has(sentence: ParsedSentence, phrases: lists.Phrases) -> bool:
    """Return whether a sentence has any of some phrases."""
    if phrases.first_words.isdisjoint(sentence.words):
        return False
    plain = sentence.plain
    for first in phrases.first_words & sentence.words:
        for phrase in phrases.by_first_word[first]:
            if phrase in plain and re.search(rf"\b{re.escape(phrase)}\b", plain):
                return True
    return False
