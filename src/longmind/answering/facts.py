"""Answers from facts: what is known to hold now of the person or thing that a question names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from longmind.errors import NotFound
from longmind.systems.semantic import Fact, SemanticMemory
from longmind.text.analysis import STOP_WORDS, stem, words
from longmind.text.questions import QuestionForm

MOST = 100
"""The most facts about one subject that are looked at."""
_PAST = re.compile(r"\b(?:did|was|were|had|used to|before|previously|formerly|former|ago|last)\b", re.IGNORECASE)
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
    "speaks": ("what which", "speak language"),
    "owns": ("what which", "own have has car"),
    "allergic to": ("what which", "allergic allergy allergies"),
    "allergy": ("what which", "allergic allergy allergies"),
    "diet": ("what which how", "diet eat food"),
    "name": ("what who", "name called"),
    "age": ("how what", "old age"),
    "birthday": ("when what which", "birthday born"),
    "partner": ("who what", "partner wife husband spouse married girlfriend boyfriend"),
    "pet": ("what which who", "pet dog cat animal"),
    "located in": ("where which", "located located where"),
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


async def known_facts(semantic: SemanticMemory, question: str, form: QuestionForm, asker: str) -> KnownFacts | None:
    """Return the current facts that answer a question; None if there are none, or it asks for the past."""
    for subject in _asked_about(question, form, asker):
        try:
            summary = await semantic.about(subject, limit=MOST)
        except NotFound:
            continue
        asked = _asked_words(question, subject)
        fitting = [fact for fact in summary.facts if not fact.retracted and _fits(fact.predicate, question, asked)]
        if fitting:
            return _combined(fitting, form)
    return None


async def ended_evidence(
    semantic: SemanticMemory, question: str, form: QuestionForm, asker: str, now: datetime
) -> frozenset[str]:
    """Return the ids of memories that state what held once, and holds no more, of what a question asks for now."""
    over, holding = set[str](), set[str]()
    for subject in _asked_about(question, form, asker):
        asked = _asked_words(question, subject)
        for predicate in _ASKED_WITH:
            if _fits(predicate, question, asked):
                for fact in await semantic.history(subject, predicate):
                    ended = fact.valid_to is not None and fact.valid_to <= now and not fact.retracted
                    (over if ended else holding).update((fact.id, *(each.memory for each in fact.evidence)))
    return frozenset(over - holding)


def _asked_about(question: str, form: QuestionForm, asker: str) -> list[str]:
    """Return whom or what a question asks for something that holds now; none if it asks for anything else."""
    if form.kind not in ("one", "list", "time", "count") or _PAST.search(question):
        return []
    return [*form.names, *([asker] if form.of_asker else [])]


def _asked_words(question: str, subject: str) -> set[str]:
    named = {stem(word) for word in words(subject)}
    return {stem(word) for word in words(question)} - named


def _fits(predicate: str, question: str, asked: set[str]) -> bool:
    """Return whether a question asks for a predicate: with its own words, or with those it is usually asked with."""
    first = next((word for word in words(question) if word in _QUESTION_WORDS), "")
    if predicate in _ASKED_WITH:
        question_words, others = _ASKED_WITH[predicate]
        if first not in question_words.split():
            return False
        return bool(asked & {stem(word) for word in others.split()})
    content = {stem(word) for word in words(predicate) if word not in STOP_WORDS}
    return bool(content) and content <= asked


_QUESTION_WORDS = frozenset("what which who whom whose where when how why".split())


def _combined(facts: Sequence[Fact], form: QuestionForm) -> KnownFacts:
    """Return the best fact, or the values of all with the same predicate where several may hold."""
    best = max(facts, key=lambda fact: (fact.confidence, fact.recorded_at))
    alike = [best, *(fact for fact in facts if fact.predicate == best.predicate and fact.id != best.id)]
    if form.kind == "count":
        return KnownFacts(str(len(alike)), tuple(alike), best.confidence * 0.6)
    values = list(dict.fromkeys(str(fact.object) for fact in alike))
    return KnownFacts(", ".join(values), tuple(alike), best.confidence)
