"""Turns labelled with their claims, as turns that do something to a known fact.

A label says what a turn states, so it says what becomes of a fact that was known before: of the same thing, of another
value, or of somebody else. Where labels do not tell, nothing is made: of what was, or is planned, of the same thing.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from longmind.consolidate.rules.relations import LASTING
from training.changes.turns import KnownTurn
from training.claims.labels import Label, Turn

ONE = frozenset("lives_in works_as works_at studied_at located_in deadline".split())
"""Relations of which a new value takes the place of the old one."""
BESIDE = frozenset("knows pet hobby habit owns uses member_of likes dislikes condition allergy language".split())
"""Relations of which a new value stands beside the old one."""
_SPEAKER = re.compile(r"(?:i|me|my|we|us|our|i'm|i've|we're|we've)", re.IGNORECASE)
_POINTS = re.compile(
    r"(?:he|she|they|it|her|him|them|his|hers|their|its|this|that|these|those|you|your)", re.IGNORECASE
)
_NAME = re.compile(r"[A-Z][a-z]+")
ADDRESS = ("{name}, ", "Hi {name}! ", "Hey {name}, ", "Thanks, {name}! ", "Wow, {name}! ", "{name}! ", "ok {name}. ")
"""How somebody is spoken to at the beginning of a turn."""
_WORD = re.compile(r"[A-Za-z][\w'-]{3,}")


class Derived:
    """Makes turns about known facts of labelled turns, with objects of other turns."""

    def __init__(self, turns: Iterable[Turn], chance: random.Random) -> None:
        self._chance = chance
        self._words: set[str] = set()
        """Words that name things: those of objects."""
        self._names: list[str] = []
        self._objects: dict[str, list[str]] = defaultdict(list)
        for turn in turns:
            for claim in turn.claims:
                subject = _subject(turn, claim)
                if subject is not None and _NAME.fullmatch(subject):
                    self._names.append(subject)
                if claim.status in ("current", "ended", "past"):
                    words = turn.text[slice(*claim.object)]
                    self._objects[claim.relation].append(words)
                    if claim.relation in LASTING and len(words.split()) == 1:
                        self._words.add(words.casefold())

    def of(self, turn: Turn) -> Iterator[KnownTurn]:
        """Yield what a turn says of facts that might have been known."""
        for claim in turn.claims:
            subject = _subject(turn, claim)
            if claim.relation in LASTING and subject is not None:
                yield from self._of_claim(turn, claim, subject)
        if self._chance.random() < 0.6:
            yield from self._of_words(turn)
        if self._names and self._chance.random() < 0.3:
            yield from self._of_addressed(turn)

    def _of_claim(self, turn: Turn, claim: Label, subject: str) -> Iterator[KnownTurn]:
        words, relation = turn.text[slice(*claim.object)], claim.relation
        alike = [c for c in turn.claims if c.relation == relation and _subject(turn, c) == subject]
        now = [c for c in alike if c.status == "current" and c is not claim]
        other = self._other(relation, turn.text)
        if claim.status in ("ended", "negated"):
            new = now[0].object if len(now) == 1 and claim.status == "ended" else None
            yield _made(turn, subject, relation, words, "told", new)
            if subject != "I":
                yield _made(turn, "I", relation, words, "other")
            elif other is not None and now == []:
                yield _made(turn, subject, relation, other, "nothing")
        elif claim.status == "current":
            if self._chance.random() < 0.4:
                yield _made(turn, subject, relation, words, "still")
            if subject != "I" and self._chance.random() < 0.4:
                yield _made(turn, "I", relation, self._chance.choice([words, other or words]), "other")
            elif other is None or len(alike) > 1 or self._chance.random() < 0.4:
                return
            elif relation in ONE:
                yield _made(turn, subject, relation, other, "unnamed", claim.object)
            elif relation in BESIDE:
                yield _made(turn, subject, relation, other, "beside")
        elif claim.status in ("hypothetical", "reported", "asked"):
            yield _made(turn, subject, relation, words, "imagined")
            if other is not None and not now:
                yield _made(turn, subject, relation, other, "imagined")
        elif claim.status in ("planned", "temporary", "past") and other is not None and not now:
            yield _made(turn, subject, relation, other, "planned")

    def _of_addressed(self, turn: Turn) -> Iterator[KnownTurn]:
        """Yield that a fact about somebody holds who is only spoken to: "Hi Jon! I sold my car"."""
        own = [c for c in turn.claims if c.relation in LASTING and _subject(turn, c) == "I"]
        if own:
            claim, name = self._chance.choice(own), self._chance.choice(self._names)
            words = self._chance.choice([turn.text[slice(*claim.object)], self._other(claim.relation, turn.text)])
            said = replace(turn, text=self._chance.choice(ADDRESS).format(name=name) + turn.text)
            if words is not None:
                yield _made(said, name, claim.relation, words, "other")

    def _of_words(self, turn: Turn) -> Iterator[KnownTurn]:
        """Yield that a fact holds of which a word stands in a turn without being what it states."""
        stated = [span for claim in turn.claims for span in (claim.object, claim.subject) if span is not None]
        free = [
            match[0]
            for match in _WORD.finditer(turn.text)
            if match[0].casefold() in self._words
            and all(match.end() <= start or match.start() >= end for start, end in stated)
        ]
        relation = self._chance.choice(sorted(LASTING))
        if any(claim.relation == relation for claim in turn.claims):
            return
        if free:
            yield _made(turn, "I", relation, self._chance.choice(free), "nothing")
        elif self._chance.random() < 0.15 and (words := self._other(relation, turn.text)) is not None:
            yield _made(turn, "I", relation, words, "nothing")

    def _other(self, relation: str, text: str) -> str | None:
        """Return an object of another turn, no word of which stands in the text."""
        inside = set(text.casefold().split())
        for _ in range(5 if self._objects[relation] else 0):
            words = self._chance.choice(self._objects[relation])
            if not inside & set(words.casefold().split()):
                return words
        return None


def _made(
    turn: Turn, subject: str, relation: str, object: str, kind: str, new: tuple[int, int] | None = None
) -> KnownTurn:
    gone = kind in ("told", "unnamed")
    return KnownTurn(turn.writer, subject, relation, object, turn.previous, turn.text, gone, new, kind)


def _subject(turn: Turn, claim: Label) -> str | None:
    """Return whom a claim is about by a name that a memory might have; None if only a pronoun names it."""
    if claim.subject is None:
        return "I"
    words = turn.text[slice(*claim.subject)]
    if _SPEAKER.fullmatch(words):
        return "I"
    return None if _POINTS.fullmatch(words) else words


def derive(turns: Sequence[Turn], chance: random.Random) -> list[KnownTurn]:
    """Return what labelled turns say of facts that might have been known."""
    makes = Derived(turns, chance)
    return [made for turn in turns for made in makes.of(turn)]
