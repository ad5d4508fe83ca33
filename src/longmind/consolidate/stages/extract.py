"""The stage ``extract``: from what was said to facts with evidence, learnt by semantic memory as any others are.

A claim whose evidence is recorded already is passed over, so the same text can be read any number of times, and a fact
that somebody retracted does not come back from the words it came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from longmind.consolidate.model import Answered, ModelPart, Reading, Text, Triple, Unusable, place_of, terms_of
from longmind.consolidate.rules.claims import Claim
from longmind.consolidate.rules.extraction import MAX_TEXT, extract_memory, is_source, speaker_of
from longmind.consolidate.work import Work
from longmind.errors import Conflict, Forbidden, InvalidInput
from longmind.store.base import Batch, Update
from longmind.systems.semantic import (
    COMMON_PREDICATES,
    INVERSE_PREDICATES,
    Evidence,
    SemanticMemory,
    concept_key,
    fold_name,
    predicate_key,
    predicate_name,
    slot_key,
    value_identity,
)
from longmind.types import Memory

_AT_ONCE = 20
"""Passages that one request is about, at most."""
_CHARS_AT_ONCE = 16_000
_PASSAGE = 4_000
"""Characters of one passage; a longer text is several."""
_SPEAKER = frozenset({"i", "me", "my", "speaker", "the speaker", "user", "the user"})
Found = tuple[Memory, Claim]
Known = set[tuple[str, int, int, str, str]]
"""Evidence that a fact rests on: memory, span, subject and predicate."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The stage."""

    name: str = "extract"

    async def propose(self, work: Work) -> None:
        found = [(memory, claim) for memory in work.sources for claim in _claims(work, memory)]
        found += await ask(work)
        known = await _known(work, [memory.id for memory, _ in found])
        fresh = [(memory, claim) for memory, claim in found if _identity(memory, claim) not in known]
        fresh.sort(key=lambda one: one[0].occurred_at)  # stable: of one moment, in the order in which they were told
        for user in work.users():
            own = [one for one in fresh if one[0].user == user]
            if own:
                await _learn(work, user, own)


def _claims(work: Work, memory: Memory) -> list[Claim]:
    if not is_source(memory):
        return []
    found = extract_memory(memory)
    work.notes.rejected.update(refused.reason for refused in found.refused)
    return found.claims


async def _known(work: Work, ids: Iterable[str]) -> Known:
    """What facts there are already that rest on these memories."""
    links = await work.draft.links(
        work.scope, list(dict.fromkeys(ids)), relation="derived_from", direction="in", limit=10_000_000
    )
    facts = await work.draft.get(work.scope, [link.source for link in links])
    known: Known = set()
    for fact in facts:
        for evidence in fact.body.get("evidence", ()) if fact.kind == "fact" else ():
            start, end = evidence["span"] or (-1, -1)
            names = fold_name(fact.body["subject_name"]), fact.body["predicate"]
            known.add((evidence["memory"], start, end, *names))
    return known


def _identity(memory: Memory, claim: Claim) -> tuple[str, int, int, str, str]:
    return (memory.id, *claim.span, fold_name(claim.subject), predicate_name(claim.predicate))


async def _learn(work: Work, user: str | None, found: Sequence[Found]) -> None:
    """Learn the claims of one user, in the order of their time."""
    scoped = work.scoped(user)
    semantic = SemanticMemory(scoped)
    await _foresee(work, found)
    declared: set[str] = set()
    for memory, claim in found:
        try:
            await _declare(work, semantic, claim, declared)
            learned = await semantic.learn(
                claim.subject,
                claim.predicate,
                claim.object,
                valid_from=claim.start or memory.occurred_at,
                confidence=min(claim.confidence, memory.trust + 0.1),
                evidence=Evidence(memory=memory.id, span=claim.span),
                source=memory.source.model_copy(update={"span": None}),
                importance=max(memory.importance, 0.5),
            )
        except (
            InvalidInput,
            Conflict,
            Forbidden,
        ) as error:  # a name too long, or a predicate that means otherwise here
            work.notes.rejected["invalid" if isinstance(error, InvalidInput) else "conflict"] += 1
            continue
        if isinstance(claim, ModelClaim) and learned.outcome == "new":
            await _record_model(work, learned.fact.id, claim)
        quote = memory.content[claim.span[0] : claim.span[1]]
        work.notes.why.setdefault(learned.fact.id, (memory.id, f"{claim.rule}: {quote!r}"))
        for old in (old for old in learned.superseded if old.id in work.draft.read):
            work.notes.why[old.id] = (learned.fact.id, f"replaced by {learned.fact}")
        for id in learned.stale:
            work.notes.why[id] = (learned.fact.id, f"rested on what {learned.fact} replaced")


async def _record_model(work: Work, id: str, claim: ModelClaim) -> None:
    """Note with a new fact which model told it, asked with which prompts."""
    fact = work.draft.now[id]
    assert fact is not None
    metadata = {**fact.metadata, "model": claim.model, "prompts": ", ".join(claim.prompts)}
    change = Update(id, {"metadata": metadata}, fact.version)
    await work.draft.apply(Batch(work.scope, work.operation, work.clock.now(), (change,)))


async def _declare(work: Work, semantic: SemanticMemory, claim: Claim, declared: set[str]) -> None:
    """Say what a predicate means before its first use, which would otherwise decide."""
    name = predicate_name(claim.predicate)
    if name in declared or name in COMMON_PREDICATES or name in INVERSE_PREDICATES:
        return
    declared.add(name)
    await work.draft.know_keys([predicate_key(name)])
    if not work.draft.holders(predicate_key(name)):
        await semantic.declare(name, many=claim.many, relates=claim.relates)


async def _foresee(work: Work, found: Sequence[Found]) -> None:
    """Read in a few goes what learning one claim after the other would read one by one."""
    names = {claim.subject for _, claim in found} | {claim.object for _, claim in found if claim.relates}
    keys = [concept_key(name) for name in names if name.strip() and len(name) <= 200]
    predicates = {predicate_name(claim.predicate) for _, claim in found}
    await work.draft.know_keys([*keys, *map(predicate_key, sorted(predicates))])
    await work.draft.get(work.scope, [memory.id for memory, _ in found])
    await work.draft.know_keys(_slots(work, found))
    concepts = [id for key in keys for id in work.draft.holders(key)]
    await work.draft.know_links(concepts, leaving=False)
    facts = await work.draft.links(work.scope, concepts, relation="about", direction="in", limit=10_000_000)
    await work.draft.get(work.scope, [link.source for link in facts])


def _slots(work: Work, found: Sequence[Found]) -> Iterable[str]:
    """The keys of the timelines that the claims about known concepts may belong to."""
    for _, claim in found:
        if not claim.subject.strip() or len(claim.subject) > 200:
            continue
        name = predicate_name(claim.predicate)
        objects: list[str | None] = [None]
        if claim.relates and len(claim.object) <= 200:
            objects += work.draft.holders(concept_key(claim.object))
        for subject in work.draft.holders(concept_key(claim.subject)):
            yield slot_key(subject, name, None)
            for object in objects:
                yield slot_key(subject, name, value_identity(claim.object, object))


# -- the language model ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelClaim(Claim):
    """A claim of a model, with what has to be recorded of how it came about."""

    model: str = ""
    prompts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a memory that one speaker said, and where in the memory it begins."""

    memory: Memory
    start: int
    text: str
    speaker: str | None

    def shown(self, number: int) -> Text:
        return Text(number=number, speaker=self.speaker, date=f"{self.memory.occurred_at:%Y-%m-%d}", content=self.text)


async def ask(work: Work) -> list[tuple[Memory, Claim]]:
    """The claims that the model finds in what it should read, as far as it comes in this run."""
    part = work.model
    if part is None or part.extractor is None:
        return []
    sources = [memory for memory in work.sources if memory.id in part.wanted and is_source(memory)]
    await _read(part, [memory for memory in sources if memory.id not in part.read])
    answers = [part.read[memory.id] for memory in sources if memory.id in part.read]
    for answer in answers:
        work.notes.rejected.update(answer.rejected)
    if part.stopped is not None and len(answers) < len(sources):
        work.notes.failed = part.stopped.why
    return [one for answer in answers for one in answer.found]


async def _read(part: ModelPart, sources: Sequence[Memory]) -> None:
    """Let the model read these memories; each is in ``part.read`` once all of it was read."""
    assert part.extractor is not None
    extractor = part.extractor
    todo = [passage for memory in sources for passage in passages(memory)]
    answers = {memory.id: Answered() for memory in sources}
    place, size = 0, _AT_ONCE
    while place < len(todo):
        some = _fitting(todo[place : place + size])
        texts = [passage.shown(number) for number, passage in enumerate(some)]
        try:
            reading = await part.ask(partial(extractor.extract, texts))
        except Unusable as error:
            if error.smaller and len(some) > 1:
                size = len(some) // 2
                continue
            answers[some[0].memory.id].rejected["answer"] += 1
        else:
            if reading is None:
                break
            _take(reading, some, answers)
        place += len(some)
    unread = {passage.memory.id for passage in todo[place:]}
    part.read.update({id: answer for id, answer in answers.items() if id not in unread})


def _take(reading: Reading, some: Sequence[Passage], answers: dict[str, Answered]) -> None:
    mentioned = terms_of(" ".join((*(p.text for p in some), *(p.speaker or "" for p in some))))
    for triple in reading.facts:
        place = place_of(triple.quote, triple.text, [passage.text for passage in some])
        if place is None:
            answers[some[0].memory.id].rejected["quote"] += 1
            continue
        passage = some[place[0]]
        claim = _claim(triple, passage, place[1], reading)
        if _supported(claim, passage, mentioned):
            answers[passage.memory.id].found.append((passage.memory, claim))
        else:
            answers[passage.memory.id].rejected["unsupported"] += 1


def _claim(triple: Triple, passage: Passage, span: tuple[int, int], reading: Reading) -> ModelClaim:
    speaks = passage.speaker is not None and triple.subject.strip().casefold() in _SPEAKER
    return ModelClaim(
        passage.speaker or triple.subject if speaks else triple.subject,
        triple.predicate,
        triple.object,
        (span[0] + passage.start, span[1] + passage.start),
        min(triple.confidence, 0.9),
        f"model {reading.model}",
        many=not triple.single,
        model=reading.model,
        prompts=reading.prompts,
    )


def _supported(claim: Claim, passage: Passage, mentioned: frozenset[str]) -> bool:
    """Whether the object is named in the text, and the subject in it or near it: a real quote proves neither."""
    own = terms_of(passage.text)
    return bool(terms_of(claim.object) & own) and bool(terms_of(claim.subject) & mentioned)


def passages(memory: Memory) -> list[Passage]:
    """The pieces of a memory that may be evidence, each of its own speaker; an unnamed assistant's are left out."""
    if memory.kind != "page":
        return list(_pieces(memory, 0, memory.content[:MAX_TEXT], speaker_of(memory)))
    found: list[Passage] = []
    at = 0
    for turn in memory.body.get("turns", ()):
        text = turn.get("text", "")
        place = memory.content.find(text, at) if text else -1
        if place < 0:
            continue
        at = place + len(text)
        if turn.get("role") != "assistant" or turn.get("name"):
            found += _pieces(memory, place, text, turn.get("name") or speaker_of(memory))
    return found


def _pieces(memory: Memory, start: int, text: str, speaker: str | None) -> Iterable[Passage]:
    """A text in pieces that end between two words."""
    at = 0
    while at < len(text):
        end = at + _PASSAGE
        if end < len(text):
            end = max(text.rfind(" ", at + _PASSAGE // 2, end), text.rfind("\n", at + _PASSAGE // 2, end)) + 1 or end
        yield Passage(memory, start + at, text[at:end], speaker)
        at = end


def _fitting(some: Sequence[Passage]) -> Sequence[Passage]:
    """As many of these as fit into one request, one at least."""
    chars = 0
    for number, passage in enumerate(some):
        chars += len(passage.text)
        if number and chars > _CHARS_AT_ONCE:
            return some[:number]
    return some
