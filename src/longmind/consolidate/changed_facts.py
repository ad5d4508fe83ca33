"""What has become of facts that were known, by what somebody says: the trained reader of changes applied to memory.

A claim tells what a text states. Often a text only lets know that something is over ("the ring is back in its box"),
or states what is new so briefly that nobody is sure of it who does not know the old. So each text is read together with
the facts it may be about: those whose value it names, and those of a kind of which it may tell a change.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from longmind.consolidate.model import content_terms
from longmind.consolidate.predicates import declare_learnt
from longmind.consolidate.rules.extraction import UNSURE, ReadText
from longmind.consolidate.rules.framing import framed
from longmind.consolidate.rules.naming import subject_of, value_of
from longmind.consolidate.rules.relations import CHANGEABLE, CHECKED, DENIALS, LASTING, OF_HEALTH
from longmind.consolidate.unsure_claims import KIND as CLAIM
from longmind.consolidate.unsure_claims import UnsureClaims, as_fact
from longmind.consolidate.work import Work
from longmind.errors import Conflict, Forbidden, InvalidInput
from longmind.models.changes import SPEAKER, Change, ChangeReader, KnownFact
from longmind.models.statements import Span, Status
from longmind.store.reads import all_links
from longmind.systems.semantic import Evidence, Fact, SemanticMemory, concept_key, fold_name
from longmind.text.analysis import STOP_WORDS, terms
from longmind.text.sentences import sentence_at
from longmind.types import Filter, Memory

_MOST = 6
"""Facts that are read with one text."""
_LIKELY = 0.5
"""How likely the reader of changes must hold that something is gone, for a claim to replace or end it."""
_STATED = 0.6
"""From which confidence on the status of a claim counts."""
_SUSPECTED = 0.1
"""From which confidence on a claim, too unsure to be learnt, speaks of a fact of its kind."""
_HAVING = frozenset({"owns", "uses", "partner", "pet", "knows"})
"""The relations of what somebody has."""
_MOST_OF_A_KIND = 3
"""Facts of one kind about somebody; where there are more, another value stands beside them."""
_MOST_OF_ONE = 4
"""Facts about somebody or something else that are read whenever it is mentioned; of whom more is known, none is."""
_WORD = re.compile(r"\w[\w'’-]*")
_POSSESSIVE = re.compile(r"['’]s$")
_LONGEST_NAME = 3
"""Words of a name that is looked up."""
_LATEST = 300
"""The latest facts of a user, which are loaded whatever a text names: of "my grant report" it may name a part only."""
_LOOKED_UP = 4_000
"""Characters of a text whose names are looked up: of a longer one its beginning, of the turn before its end."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    fact: Fact
    place: int
    """Where the text names the fact, or what may have taken its place."""
    claim: Memory | None = None
    """The record of the unsure claim that is no fact yet."""

    @classmethod
    def of(cls, record: Memory, place: int) -> _Candidate:
        return cls(as_fact(record), place, record) if record.kind == CLAIM else cls(Fact.of(record), place)


class _About:
    """Whom and what a text, or the one before it, speaks of."""

    def __init__(self, text: ReadText) -> None:
        said = text.said
        self._speaker = None if said.speaker is None else fold_name(said.speaker)
        self._whose = f"{said.speaker}'s "
        self._words = content_terms(f"{said.text} {said.previous or ''}")

    def speaks(self, record: Memory) -> bool:
        """Whether a fact is about whoever speaks."""
        return self._speaker is not None and fold_name(str(record.body["subject_name"])) == self._speaker

    def owns(self, record: Memory) -> bool:
        """Whether a fact is about what belongs to whoever speaks: "our team"."""
        return self._speaker is not None and str(record.body["subject_name"]).startswith(self._whose)

    def names(self, record: Memory) -> bool:
        """Whether a fact is about whoever speaks, or about somebody or something that is mentioned."""
        subject = str(record.body["subject_name"])
        return self.speaks(record) or not self._words.isdisjoint(content_terms(subject.removeprefix(self._whose)))


@dataclass(slots=True)
class ChangedFacts:
    """The facts of one user that may stop to hold, and what the texts of new memories say of them.

    What was read too unsurely for a fact is asked about as well: that something has taken its place makes it likely.
    """

    work: Work
    semantic: SemanticMemory
    reader: ChangeReader
    unsure: UnsureClaims
    _by_term: dict[str, set[str]] = field(default_factory=dict)
    """Ids of facts by the words of their values."""
    _by_predicate: dict[str, set[str]] = field(default_factory=dict)
    """Ids of facts by predicate."""
    _by_subject: dict[str, set[str]] = field(default_factory=dict)
    """Ids of facts by the words for whom or what they are about."""
    _texts: dict[str, list[ReadText]] = field(default_factory=dict)
    """What was read of each memory, by its id."""
    _ended: dict[str, str] = field(default_factory=dict)
    """By the id of a fact or an unsure claim that is over, the memory that says so in plain words."""

    @property
    def user(self) -> str | None:
        return self.unsure.user

    async def load(self, texts: Iterable[tuple[Memory, ReadText]], claims: Iterable[Memory]) -> None:
        """Load the facts about the speakers of some texts and about whom and what these name, and the latest ones.

        ``claims`` are the unsure ones of the user.
        """
        draft, names = self.work.draft, set[str]()
        for memory, text in texts:
            self._texts.setdefault(memory.id, []).append(text)
            names.update(_names(text))
        keys = [concept_key(name) for name in sorted(names)]
        await draft.know_keys(keys)
        concepts = [id for key in keys for id in draft.holders(key)]
        await draft.know_links(concepts, leaving=False)
        links = await all_links(draft, self.work.scope, concepts, relation="about", direction="in")
        users = None if self.user is None else (self.user,)
        where = Filter(kinds=("fact",), states=("active",), users=users)
        latest = await self.work.store.scan(self.work.scope, where, descending=True, limit=_LATEST)
        ids = dict.fromkeys((*(link.source for link in links), *(fact.id for fact in latest.items)))
        for record in (*await draft.get(self.work.scope, list(ids)), *claims):
            self.add(record)

    def add(self, record: Memory) -> None:
        """Take a fact or an unsure claim into account, if it is of what may stop to hold."""
        body, kinds = record.body, ("fact", CLAIM)
        if record.kind not in kinds or record.user != self.user or not _is_of(body["predicate"], LASTING.keys()):
            return
        for term in content_terms(str(body["object"])):
            self._by_term.setdefault(term, set()).add(record.id)
        self._by_predicate.setdefault(body["predicate"], set()).add(record.id)
        for term in content_terms(str(body["subject_name"])):
            self._by_subject.setdefault(term, set()).add(record.id)

    def add_ended(self, ids: Iterable[str], memory: Memory) -> None:
        """Take into account what a memory says is over in plain words: something may have taken its place."""
        self._ended |= dict.fromkeys(ids, memory.id)

    async def any_goes_on(self, facts: Sequence[Fact], memory: Memory, place: int) -> bool:
        """Whether one of the facts goes on that a claim at a place of a memory would end: a second address, a joke.

        Of texts that the reader of statements has not read nothing is known. What somebody denied is not asked about:
        it ends when they say the contrary.
        """
        text = next((text for text in self._texts.get(memory.id, ()) if _reaches(text, place)), None)
        known = [f for f in facts if _is_asked_about(f.predicate) and f.predicate not in DENIALS]
        if text is None or not known:
            return False
        asked = [_as_read(_Candidate(fact, place - text.said.start), text) for fact in known]
        changes = await asyncio.to_thread(self.reader.read, asked)
        return any(change.gone < _LIKELY for change in changes)

    async def apply(self, memory: Memory) -> None:
        """End the facts that a memory surely says no longer hold, and learn what has taken their place."""
        for text in self._texts.get(memory.id, ()):
            candidates = self._candidates(memory, text)
            if not candidates:
                continue
            facts = [_as_read(candidate, text) for candidate in candidates]
            changes = await asyncio.to_thread(self.reader.read, facts)
            for candidate, change in zip(candidates, changes, strict=True):
                place = candidate.place if change.new is None else change.new[0]
                ended = self._ended.get(candidate.fact.id) == memory.id
                if not change.certain and not (ended and change.gone >= _LIKELY):
                    continue
                statuses = _statuses_of_new(text, candidate.fact, change)
                # what is planned, denied or holds for some time only has not taken the place of anything
                of_health = _is_of(candidate.fact.predicate, OF_HEALTH)
                if framed(text.said.text, place, of_health=of_health) is None and statuses <= {"current", "ended"}:
                    await self._change(memory, text, candidate, change, ended=ended)

    def _candidates(self, memory: Memory, text: ReadText) -> list[_Candidate]:
        """Return the facts that a text may be about; those that it names by most of their words come first."""
        places = _places(text.said.text)
        about = _About(text)
        relations = {claim.relation for claim in text.reading.claims if claim.confidence >= _SUSPECTED}
        relations |= {change.relation for change in text.reading.changes}
        ranked: dict[str, tuple[float, Memory, int]] = {}
        for record in self._held({id for term in places for id in self._by_term.get(term, ())}, memory):
            value = content_terms(str(record.body["object"]))
            told = value & places.keys()
            likely = _is_of(record.body["predicate"], relations)
            if likely and (about.owns(record) or about.names(record)):
                ranked[record.id] = len(told) / len(value), record, min(places[term] for term in told)
        for rank, (relation, place) in enumerate(_kinds(text)):
            for record in self._of_a_kind(relation, memory, about):
                ranked.setdefault(record.id, (0.5 / (1 + rank), record, place))
        for record in self._of_others(memory, about, places.keys()):
            ranked.setdefault(record.id, (0.0, record, 0))
        order = sorted(ranked.values(), key=lambda each: (each[1].kind != "fact", -each[0], each[1].id))
        return [_Candidate.of(record, place) for _, record, place in order[:_MOST]]

    def _of_a_kind(self, relation: str, memory: Memory, about: _About) -> Iterator[Memory]:
        """Yield the facts of a relation about the speaker, and about whom or what a text mentions."""
        predicates = [predicate for predicate in self._by_predicate if _is_of(predicate, {relation})]
        by_subject: dict[str, list[Memory]] = {}
        for record in self._held({id for predicate in predicates for id in self._by_predicate[predicate]}, memory):
            if record.kind == "fact":
                by_subject.setdefault(fold_name(record.body["subject_name"]), []).append(record)
        for records in by_subject.values():
            if len(records) <= _MOST_OF_A_KIND and about.names(records[0]):
                yield from records

    def _of_others(self, memory: Memory, about: _About, words: Set[str]) -> Iterator[Memory]:
        """Yield the facts about somebody or something else that a text mentions by some words, if there are few.

        What has changed of others is often told in passing: "Milo's new teacher at St Aidan's".
        """
        by_subject: dict[str, list[Memory]] = {}
        for record in self._held({id for term in words for id in self._by_subject.get(term, ())}, memory):
            subject = fold_name(record.body["subject_name"])
            told_by_others = record.source.name is None or fold_name(record.source.name) != subject
            if record.kind == "fact" and told_by_others and not about.speaks(record) and about.names(record):
                by_subject.setdefault(subject, []).append(record)
        for records in by_subject.values():
            if len(records) <= _MOST_OF_ONE:
                yield from records

    def _held(self, ids: Set[str], memory: Memory) -> Iterator[Memory]:
        """Yield the facts that were known when something was said, and hold then by all that was said before."""
        at = memory.occurred_at
        for id in sorted(ids):
            record = self.work.draft.now.get(id)
            if (
                record is not None
                and record.state == "active"
                and record.body.get("retracted_at") is None
                and (record.valid_from is None or record.valid_from < at)
                and (record.valid_to is None or record.valid_to > at or self._ended.get(id) == memory.id)
                and all(evidence["memory"] != memory.id for evidence in record.body.get("evidence", ()))
            ):
                yield record

    async def _change(
        self, memory: Memory, text: ReadText, candidate: _Candidate, change: Change, *, ended: bool
    ) -> None:
        """End a fact, unless a claim has ended it, and learn what has taken its place."""
        fact, notes, said = candidate.fact, self.work.notes, text.said
        new = change.new or _stated_instead(text, fact)
        value = None if new is None else value_of(said.text, new, said.speaker)
        if value is not None and not _is_other(value, fact):
            return  # what is said to be gone is named as what holds: nothing can be told from that
        try:
            if candidate.claim is not None:
                await self.unsure.drop(fact.id)
            elif not ended:
                await self.semantic.end(fact, memory.occurred_at, because_of=memory.id)
                sentence = sentence_at(said.text, candidate.place)
                quote = said.text if sentence is None else sentence.text
                notes.why[fact.id] = (memory.id, f"ended, as read: {quote[:200]!r}")
            if value is None or new is None or self._states_one(memory, fact):
                return
            if candidate.claim is not None:
                many, relates = candidate.claim.body["many"], candidate.claim.body["relates"]
                await declare_learnt(self.work, self.semantic, fact.predicate, many=many, relates=relates)
            start, end = new
            learned = await self.semantic.learn(
                fact.subject,
                fact.predicate,
                value,
                valid_from=memory.occurred_at,
                confidence=min(change.gone, memory.trust + 0.1),
                evidence=Evidence(memory=memory.id, span=(start + said.start, end + said.start)),
                source=memory.source.model_copy(update={"span": None}),
                importance=max(memory.importance, 0.5),
            )
        except (InvalidInput, Conflict, Forbidden) as error:
            notes.rejected["invalid" if isinstance(error, InvalidInput) else "conflict"] += 1
            return
        notes.why.setdefault(learned.fact.id, (memory.id, f"in place of {fact}: {said.text[start:end]!r}"))
        record = self.work.draft.now[learned.fact.id]
        assert record is not None
        self.add(record)

    def _states_one(self, memory: Memory, fact: Fact) -> bool:
        """Whether a memory itself states a value of the kind of a fact."""
        records = [self.work.draft.now.get(id) for id in self._by_predicate.get(fact.predicate, ())]
        return any(
            evidence["memory"] == memory.id
            for record in records
            if record is not None
            and record.kind == "fact"
            and fold_name(record.body["subject_name"]) == fold_name(fact.subject)
            for evidence in record.body.get("evidence", ())
        )


def _is_asked_about(predicate: str) -> bool:
    """Whether the reader of changes is asked before a claim ends a fact with a predicate."""
    return predicate in CHECKED or _is_of(predicate, LASTING.keys())


def _is_of(predicate: str, relations: Set[str]) -> bool:
    """Whether a fact with a predicate may be one of some relations of what may stop to hold."""
    if predicate.startswith("favorite "):
        return "likes" in relations
    if predicate.startswith("has ") and predicate not in CHANGEABLE:
        return not relations.isdisjoint(_HAVING)
    return any(predicate in LASTING[relation] for relation in relations if relation in LASTING)


def _kinds(text: ReadText) -> list[tuple[str, int]]:
    """Return the relations of which a text may tell a change, and where, the likeliest first."""
    claims = sorted(text.reading.claims, key=lambda claim: -claim.confidence)
    stated = {
        claim.relation: claim.object[0]
        for claim in reversed(claims)
        if claim.status == "current" and claim.confidence >= _SUSPECTED
    }
    changes = [change for change in text.reading.changes if change.likely]
    places = {change.relation: change.place for change in reversed(changes)} | stated
    order = dict.fromkeys((*(claim.relation for claim in claims), *(change.relation for change in changes)))
    return [(relation, places[relation]) for relation in order if relation in places and relation in LASTING]


def _names(text: ReadText) -> Iterator[str]:
    """Yield whom and what a text may be about: who speaks, and up to three of its words, alone and as the speaker's."""
    said = text.said
    whose = ("",) if said.speaker is None else ("", f"{said.speaker}'s ")
    if said.speaker is not None and said.speaker.strip():
        yield said.speaker
    for part in (said.text[:_LOOKED_UP], (said.previous or "")[-_LOOKED_UP:]):
        words = [_POSSESSIVE.sub("", match[0]) for match in _WORD.finditer(part)]
        for size in range(1, _LONGEST_NAME + 1):
            for start in range(len(words) - size + 1):
                first, last = words[start].casefold(), words[start + size - 1].casefold()
                if first not in STOP_WORDS and last not in STOP_WORDS:
                    yield from (owner + " ".join(words[start : start + size]) for owner in whose)


def _stated_instead(text: ReadText, fact: Fact) -> Span | None:
    """Return the words that a text states of the kind of a fact that is gone; they need less certainty than others."""
    said = text.said
    for claim in sorted(text.reading.claims, key=lambda claim: -claim.confidence):
        if claim.status != "current" or claim.confidence < UNSURE or not _is_of(fact.predicate, {claim.relation}):
            continue
        value = value_of(said.text, claim.object, said.speaker)
        subject = subject_of(claim, said.text, said.speaker, None)
        about = subject is not None and fold_name(subject) == fold_name(fact.subject)
        if about and value is not None and _is_other(value, fact):
            return claim.object
    return None


def _statuses_of_new(text: ReadText, fact: Fact, change: Change) -> set[Status]:
    """Return the statuses with which the reader of statements reads what has taken the place of a fact."""
    return {
        claim.status
        for claim in text.reading.claims
        if change.new is not None
        and claim.confidence >= _STATED
        and claim.object[0] < change.new[1]
        and change.new[0] < claim.object[1]
        and _is_of(fact.predicate, {claim.relation})
    }


def _reaches(text: ReadText, place: int) -> bool:
    """Whether a text has a place of its memory."""
    return text.said.start <= place < text.said.start + len(text.said.text)


def _is_speaker(fact: Fact, text: ReadText) -> bool:
    return text.said.speaker is not None and fold_name(fact.subject) == fold_name(text.said.speaker)


def _as_read(candidate: _Candidate, text: ReadText) -> KnownFact:
    """Return a fact in the words of whoever speaks."""
    fact, said = candidate.fact, text.said
    subject = SPEAKER if _is_speaker(fact, text) else fact.subject.replace(f"{said.speaker}'s ", "my ")
    return KnownFact(subject, fact.predicate, str(fact.object), said.text, candidate.place, said.previous)


def _places(text: str) -> dict[str, int]:
    """Return where each word of a text is said first, by its stem."""
    places: dict[str, int] = {}
    for match in _WORD.finditer(text):
        for term in terms(match[0]):
            places.setdefault(term, match.start())
    return places


def _is_other(value: str, fact: Fact) -> bool:
    """Whether a value says something else than a fact does."""
    return bool(content_terms(value) - content_terms(str(fact.object)))
