"""Answering a question from the graph of facts: which chain of facts, from something it names, does it describe?

The question names a concept, and describes the way from there to the answer: "the capital of the country where the
author of <concept> was born". All chains of at most four facts from the concept are compared with the words of the
question. The chain wins whose steps it asks for, each in its own words and in this order, with the least left over, and
that leads to the kind of thing that is asked for. Nothing is guessed: an answer is the end of a chain of facts that the
agent holds, and the chain is its reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from longmind.consolidate.relations import RELATIONS, TYPES, Relation, relation_of
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic.models import Fact
from longmind.systems.semantic.names import concept_key
from longmind.systems.semantic.timelines import held_at
from longmind.systems.semantic.vocabulary import COMMON
from longmind.types import Filter, Memory, Model

MAX_HOPS = 4
_MOST_WORDS = 14
"""Words of the longest name that is looked for."""
_WIDEST = 400
"""Concepts that are looked at in one step."""
_INVERSES = {p.inverse: p.name for p in COMMON.values() if p.inverse}
"""Predicates that are told from the other side, and how they are stored."""
_TOKEN = re.compile(r"[^\s\"“”]+")
_EDGES = " ,.;:?!\"'“”‘’()"


class Answer(Model):
    """What the graph says to a question: the end of a chain of facts."""

    text: str
    facts: tuple[Fact, ...]
    """The chain, from what the question names to the answer."""
    score: float

    def __str__(self) -> str:
        return f"{self.text} ({'; '.join(map(str, self.facts))})"


@dataclass(frozen=True, slots=True)
class _Mention:
    """A concept that a question names, and where."""

    concept: Memory
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Cue:
    """A place of the question that asks for a relation."""

    start: int
    end: int
    relation: Relation


async def answer(scoped: ScopedStore, question: str, *, hops: int = MAX_HOPS) -> Answer | None:
    """The best answer that the facts of a scope give to a question, or None if it names nothing that is known."""
    best: Answer | None = None
    for mention in await _mentions(scoped, question):
        asked = _Question.of(question, mention)
        for chain in await _chains(scoped, asked, mention.concept.id, hops):
            score = asked.fits(chain)
            if score > 0 and (best is None or (score, -len(chain)) > (best.score, -len(best.facts))):
                best = Answer(text=str(chain[-1].object), facts=tuple(chain), score=score)
    return best


# -- what the question names ---------------------------------------------------------------------------------------


async def _mentions(scoped: ScopedStore, question: str) -> list[_Mention]:
    """The concepts that a question names: of names within names only the longest."""
    tokens = [(m.start(), m.end()) for m in _TOKEN.finditer(question)]
    spans: dict[str, list[tuple[int, int]]] = {}
    for first in range(len(tokens)):
        for last in range(first, min(first + _MOST_WORDS, len(tokens))):
            start, end = tokens[first][0], tokens[last][1]
            for name in _names(question[start:end]):
                spans.setdefault(concept_key(name), []).append((start, end))
    found: list[_Mention] = []
    keys = list(spans)
    for at in range(0, len(keys), 500):
        where = Filter(keys=tuple(keys[at : at + 500]), kinds=("concept",))
        async for concept in scoped.store.scan_all(scoped.scope, where):
            found += [_Mention(concept, *span) for span in spans[str(concept.key)]]
    found.sort(key=lambda m: (m.start - m.end, m.start))
    kept: list[_Mention] = []
    for mention in found:
        if not any(k.start <= mention.start and mention.end <= k.end for k in kept):
            kept.append(mention)
    return kept


def _names(text: str) -> list[str]:
    """The ways in which words of a question can be a name."""
    plain = text.strip(_EDGES)
    names = [plain, re.sub(r"['’]s?$", "", plain), f"{plain}."]
    if text.endswith((".", ".?")):
        names.append(plain + ".")
    return list(dict.fromkeys(name for name in names if name))


# -- the chains that begin there -----------------------------------------------------------------------------------


async def _chains(scoped: ScopedStore, asked: _Question, start: str, hops: int) -> list[list[Fact]]:
    """The chains of facts that hold now, each step from the object of the one before, at most one of them unasked."""
    by_subject: dict[str, list[Fact]] = {}
    chains: list[list[Fact]] = []
    ends: list[tuple[list[Fact], str]] = [([], start)]
    for _ in range(hops):
        wanted = [id for id in dict.fromkeys(end for _, end in ends) if id not in by_subject][:_WIDEST]
        by_subject.update({id: [] for id in wanted})
        for fact in await _facts(scoped, wanted, asked) if wanted else ():
            by_subject[fact.subject_id].append(fact)
        grown: list[tuple[list[Fact], str]] = []
        for so_far, end in ends:
            for fact in by_subject.get(end, ()):
                chain = [*so_far, fact]
                if sum(not asked.asks_for(step.predicate) for step in chain) > 1:
                    continue
                chains.append(chain)
                back = {start, *(step.object_id for step in so_far)}
                if fact.object_id is not None and fact.object_id not in back:
                    grown.append((chain, fact.object_id))
        ends = grown
    return chains


async def _facts(scoped: ScopedStore, subjects: Sequence[str], asked: _Question) -> list[Fact]:
    """The facts about these concepts that hold now; of several values only the newest.

    A fact that is told from its other side ("created" for "created by") is turned, where the question asks for that.
    """
    scope, store = scoped.scope, scoped.store
    links = await store.links(scope, subjects, relation="about", direction="in", limit=1_000_000)
    told = {link.source: "" for link in links}
    for inverse, predicate in _INVERSES.items():
        if asked.asks_for(inverse):
            other = await store.links(scope, subjects, relation=predicate, direction="in", limit=1_000_000)
            told.update({link.source: inverse for link in other})
    ids = list(told)
    records: list[Memory] = []
    for at in range(0, len(ids), 500):
        records += await store.get_all(scope, ids[at : at + 500])
    newest: dict[tuple[str, str], Fact] = {}
    facts = [Fact.of(r) for r in held_at((r for r in records if r.kind == "fact"), scoped.now())]
    facts = [fact.turned(told[fact.id]) if told[fact.id] else fact for fact in facts]
    for fact in sorted(facts, key=lambda f: (f.valid_from or f.recorded_at, f.recorded_at, f.id)):
        newest[fact.subject_id, fact.predicate] = fact
    return list(newest.values())


# -- what the question asks for ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Question:
    """A question around one of the concepts that it names."""

    text: str
    at: int
    """Where the concept stood."""
    cues: tuple[_Cue, ...]
    wanted: frozenset[str]
    """What kinds of thing may be the answer; empty if anything."""

    @classmethod
    def of(cls, question: str, mention: _Mention) -> _Question:
        text = question[: mention.start] + " " * (mention.end - mention.start) + question[mention.end :]
        cues = [_Cue(m.start(), m.end(), r) for r in RELATIONS for m in r.asked.finditer(text)]
        return cls(text, mention.start, tuple(cues), _wanted(text))

    def asks_for(self, predicate: str) -> bool:
        """Whether any words of the question ask for a predicate."""
        return relation_of(predicate).asked.search(self.text) is not None

    def fits(self, chain: Sequence[Fact]) -> float:
        """How well a chain is what the question describes; 0 if it is not at all."""
        relations = [relation_of(fact.predicate) for fact in chain]
        taken: list[_Cue] = []
        total = 0.0
        for relation in relations:
            cue = self._cue(relation, taken)
            if cue is None:
                total -= 1.0
                continue
            taken.append(cue)
            total += 1.0 + min(cue.end - cue.start, 20) / 20
        if not taken:
            return 0.0
        total -= 0.7 * self._left_over(taken)
        total += 0.3 * self._in_order(taken)
        if self.wanted:
            total += 1.0 if relations[-1].leads_to in self.wanted else -1.5
        return total

    def _cue(self, relation: Relation, taken: Sequence[_Cue]) -> _Cue | None:
        """The longest place, not taken yet, that asks for a relation; of equal ones the nearest to the concept."""
        free = [
            _Cue(m.start(), m.end(), relation)
            for m in relation.asked.finditer(self.text)
            if all(m.end() <= t.start or m.start() >= t.end for t in taken)
        ]
        return max(free, key=lambda c: (c.end - c.start, -abs(c.start - self.at)), default=None)

    def _left_over(self, taken: Sequence[_Cue]) -> int:
        """Places that ask for something and are not taken: the question describes more than the chain."""
        left = 0
        covered = [(t.start, t.end) for t in taken]
        for cue in sorted(self.cues, key=lambda c: c.start - c.end):
            if all(cue.end <= start or cue.start >= end for start, end in covered):
                covered.append((cue.start, cue.end))
                left += 1
        return left

    def _in_order(self, taken: Sequence[_Cue]) -> int:
        """How many steps are asked for further from the concept than the step before: a question ends at it."""
        far = [abs(cue.start - self.at) for cue in taken]
        return sum(1 if later > earlier else -1 for earlier, later in pairwise(far))


def _wanted(text: str) -> frozenset[str]:
    """What kind of thing a question asks for, by its first words."""
    found = re.match(
        r"\W*(?:(?:in|on|at|from|to|of|by|for) )?(?:which|what|whose|the)?\s*"
        r"(?:is |was |are |were )?(?:the )?(?:name of the |current )*(?P<noun>\w+)",
        text,
        re.IGNORECASE,
    )
    first = text.split(maxsplit=1)[0].lower() if text.split() else ""
    if first in ("who", "whom", "where"):
        return TYPES["who" if first != "where" else "where"]
    return TYPES.get(found["noun"].lower(), frozenset()) if found else frozenset()
