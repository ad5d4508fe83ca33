"""Answers from facts: what is known to hold now of the person or thing that a question names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from longmind.answering.asked_about import MOST
from longmind.errors import NotFound
from longmind.systems.semantic import Fact, SemanticMemory
from longmind.text.analysis import STOP_WORDS, stem, words
from longmind.text.questions import QuestionForm, names_in

_ASKED_WITH = {
    "lives in": ("where which", "live home based reside residence city town address country"),
    "born in": ("where which", "born birthplace birth"),
    "from": ("where which", "from hometown origin grow grew"),
    "works as": ("what", "work job profession occupation living do career"),
    "works at": ("where which who what", "work employer company employed firm"),
    "works in": ("which what where", "work field team department industry"),
    "studies": ("what which", "study studying subject major degree"),
    "studies at": ("where which what", "study school university college"),
    "likes": ("what which who", "like love enjoy fond favourite favorite"),
    "dislikes": ("what which who", "dislike hate stand avoid"),
    "plays": ("what which", "play instrument sport"),
    "hobby": ("what which", "hobby play instrument sport practise practice"),
    "eats": ("what which", "eat drink food"),
    "works on": ("what which", "work project"),
    "has condition": ("what which", "condition illness disease suffer"),
    "speaks": ("what which", "speak language"),
    "owns": ("what which", "own have has car"),
    "has": ("what which", "own have has"),
    "drives": ("what which", "drive own have has car"),
    "uses": ("what which", "use have has"),
    "takes": ("what which", "take medicine medication"),
    "member of": ("what which where", "member belong club team band choir gym"),
    "allergic to": ("what which", "allergic allergy allergies"),
    "allergy": ("what which", "allergic allergy allergies"),
    "diet": ("what which how", "diet eat food"),
    "name": ("what who", "name called"),
    "age": ("how what", "old age"),
    "birthday": ("when what which", "birthday born"),
    "partner": ("who what", "partner wife husband spouse married girlfriend boyfriend"),
    "pet": ("what which who", "pet dog cat animal"),
    "located in": ("where which", "located located where"),
    "takes place": ("when what", "when time day"),
    "deadline": ("when what", "when due deadline"),
    "amounts to": ("how what", "much many cost price"),
}
"""For predicates whose own words a question seldom has: the question words, and what is asked for."""


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """The facts that answer a question."""

    text: str
    facts: tuple[Fact, ...]
    confidence: float

    @property
    def learnt(self) -> datetime:
        """When the newest of them was learnt."""
        return max(fact.recorded_at for fact in self.facts)


async def known_facts(
    semantic: SemanticMemory, question: str, form: QuestionForm, subjects: Sequence[str]
) -> KnownFacts | None:
    """Return the current facts that answer a question about some subjects (``asked_about``); None if there are none.

    Whether something holds is also answered by a fact of that which has ended: "Do I still use Jenkins?"
    """
    for subject in subjects:
        try:
            summary = await semantic.about(subject, limit=MOST)
        except NotFound:
            continue
        asked = _Asked.of(question, subject)
        fitting = [fact for fact in summary.facts if not fact.retracted and asked.fits(fact.predicate)]
        if form.kind == "yes or no":
            answer = await _whether(semantic, subject, asked, summary.facts)
            if answer is not None:
                return answer
        elif fitting:
            return _combined(fitting, form)
    return None


async def former_facts(semantic: SemanticMemory, question: str, subjects: Sequence[str]) -> KnownFacts | None:
    """Return the latest fact that has ended of what a question asks for; None if there is none."""
    for subject in subjects:
        asked = _Asked.of(question, subject)
        try:
            ended = await semantic.ended(subject)
        except NotFound:
            continue
        latest = next((fact for fact in ended if asked.fits(fact.predicate)), None)
        if latest is not None:
            return KnownFacts(str(latest.object), (latest,), latest.confidence)
    return None


async def _whether(semantic: SemanticMemory, subject: str, asked: _Asked, facts: Sequence[Fact]) -> KnownFacts | None:
    """Return whether what a question names holds; None if no fact, current or ended, tells it."""
    current = [fact for fact in facts if not fact.retracted]
    named = next((fact for fact in current if asked.means(fact)), None)
    if named is not None:
        return KnownFacts("Yes", (named,), named.confidence)
    over = next((fact for fact in await semantic.ended(subject) if asked.means(fact)), None)
    if over is None:
        return None
    instead = next((f for f in current if f.predicate == over.predicate and f.valid_from == over.valid_to), over)
    return KnownFacts("No", (instead,), instead.confidence)


@dataclass(frozen=True, slots=True)
class Ended:
    """What held once, and holds no more, of what a question asks for now."""

    memories: frozenset[str] = frozenset()
    """The ids of the memories that state it, and nothing of the kind that holds."""
    values: frozenset[frozenset[str]] = frozenset()
    """The stems of its values."""

    def is_meant(self, text: str) -> bool:
        """Whether some words are such a value."""
        return _content(text) in self.values


NOTHING_ENDED = Ended()


async def what_has_ended(semantic: SemanticMemory, question: str, subjects: Sequence[str]) -> Ended:
    """Return what has ended of what a question asks for about some subjects."""
    over, holding = set[str](), set[str]()
    gone, values = set[frozenset[str]](), set[frozenset[str]]()
    for subject in subjects:
        asked = _Asked.of(question, subject)
        try:
            ended, summary = await semantic.ended(subject), await semantic.about(subject, limit=MOST)
        except NotFound:
            continue
        for facts, ids, contents in ((ended, over, gone), (summary.facts, holding, values)):
            for fact in facts:
                if asked.fits(fact.predicate):
                    ids.update((fact.id, *(each.memory for each in fact.evidence)))
                    contents.add(_content(str(fact.object)))
    return Ended(frozenset(over - holding), frozenset(gone - values))


@dataclass(frozen=True, slots=True)
class _Asked:
    """The words of a question."""

    first: str
    """The question word; empty where whether something holds is asked."""
    stems: frozenset[str]
    """The stems of all words but those that name the subject."""
    others: tuple[str, ...]
    """The names in it of anybody or anything but the subject."""
    beside_work: str
    """The small word behind "work": "What do I work as?"."""

    @classmethod
    def of(cls, question: str, subject: str) -> _Asked:
        named = {stem(word) for word in words(subject)}
        first = next((word for word in words(question) if word in _QUESTION_WORDS), "")
        beside = _BESIDE_WORK.search(question)
        stems = frozenset({stem(word) for word in words(question)} - named)
        others = tuple(name for name in names_in(question) if name != subject)
        return cls(first, stems, others, beside[1].casefold() if beside else "")

    def fits(self, predicate: str) -> bool:
        """Whether a predicate is asked for: with its own words, or with those it is usually asked with."""
        if predicate in _WORK and self.beside_work not in ("", *_WORK[predicate]):
            return False
        if predicate in _ASKED_WITH:
            question_words, others = _ASKED_WITH[predicate]
            if self.first and self.first not in question_words.split():
                return False
            return bool(self.stems & {stem(word) for word in others.split()})
        content = _content(predicate)
        return bool(content) and content <= self.stems

    def means(self, fact: Fact) -> bool:
        """Whether it is asked whether a fact holds: it is asked for and named, or all that is said is its value."""
        return (self.fits(fact.predicate) and self.names(fact)) or self._is_value_of(fact)

    def _is_value_of(self, fact: Fact) -> bool:
        """Whether a question names nothing but the value of a fact: "Do I swim?", of a hobby."""
        content = self.stems - _SMALL
        return fact.predicate in _OF_THEMSELVES and bool(content) and content == _content(str(fact.object))

    def names(self, fact: Fact) -> bool:
        """Whether the question names a fact: its value, or of what somebody has the kind ("Do I have a dog?").

        Of a value that is a name a part will do: "Harlow" for "Harlow & Beck".
        """
        value = _content(str(fact.object))
        if value and value <= self.stems:
            return True
        named = frozenset[str]().union(*map(_content, self.others))
        kind = _content(fact.predicate.removeprefix("has ")) if fact.predicate.startswith("has ") else frozenset()
        return named <= value and (bool(named) or (bool(kind) and kind <= self.stems))


def _content(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS)


_BESIDE_WORK = re.compile(r"\bwork(?:s|ing)?\s+(as|at|for|in|on)\b", re.IGNORECASE)
_WORK = {"works as": ("as",), "works at": ("at", "for"), "works in": ("in", "on"), "works on": ("on", "in")}
"""The small words with which the predicates of work are asked for."""
_OF_THEMSELVES = frozenset({"hobby", "habit", "diet", "has condition", "relationship", "believes in", "works as"})
"""Predicates whose values say by themselves what somebody is or does."""
_SMALL = frozenset(stem(word) for word in (*STOP_WORDS, "still", "yet", "now", "any", "anymore"))
_QUESTION_WORDS = frozenset("what which who whom whose where when how why".split())


def _combined(facts: Sequence[Fact], form: QuestionForm) -> KnownFacts:
    """Return the best fact, or the values of all with the same predicate where several may hold."""
    best = max(facts, key=lambda fact: (fact.confidence, fact.recorded_at))
    alike = [best, *(fact for fact in facts if fact.predicate == best.predicate and fact.id != best.id)]
    if form.kind == "count":
        return KnownFacts(str(len(alike)), tuple(alike), best.confidence * 0.6)
    values = list(dict.fromkeys(str(fact.object) for fact in alike))
    return KnownFacts(", ".join(values), tuple(alike), best.confidence)
