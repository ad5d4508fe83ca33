"""The stage ``extract``: turns what was said into facts with evidence, which semantic memory learns like any others.

Rules and, where there is one, a language model make claims about a text. A claim whose evidence is recorded already is
passed over. So a text can be read any number of times, and a retracted fact does not come back from the words it came
from. What was recalled is no source, nor whose words the agent's setting ``facts_from`` leaves out; neither is shown to
the model.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from longmind.consolidate.changed_facts import ChangedFacts
from longmind.consolidate.model import content_terms, is_meant
from longmind.consolidate.model_claims import ModelClaim, SourcedClaim, model_claims
from longmind.consolidate.predicates import declare_learnt
from longmind.consolidate.rules.claims import Claim
from longmind.consolidate.rules.extraction import (
    UNSURE,
    ReadText,
    extract_memories,
    is_source,
)
from longmind.consolidate.rules.relations import LATEST_MEANT, OF_A_PARTNER
from longmind.consolidate.rules.replacing import most_alike, says_another, says_new, takes_place
from longmind.consolidate.unsure_claims import UnsureClaims, together
from longmind.consolidate.work import Work
from longmind.errors import Conflict, Forbidden, InvalidInput
from longmind.pacing import BATCH, batches
from longmind.store.base import Update
from longmind.store.reads import all_links
from longmind.systems.semantic import (
    Evidence,
    Fact,
    SemanticMemory,
    concept_key,
    fold_name,
    predicate_key,
    predicate_name,
    slot_key,
    value_identity,
)
from longmind.text.sentences import sentence_at
from longmind.types import Filter, Memory

_MAX_NAME = 200
"""Characters of a name that can be looked up; a longer one is refused when it is learnt."""
_CHARS_READ_AT_ONCE = 8_000
"""Characters that the trained reader reads in one go of a thread: about a second."""
SourcedText = tuple[Memory, ReadText]
EvidenceKey = tuple[str, int, int, str, str]
"""Evidence of a fact: memory, span, subject and predicate."""


@dataclass(frozen=True, slots=True)
class ExtractStage:
    """The stage."""

    name: str = "extract"

    async def propose(self, work: Work) -> None:
        said = await _said(work)
        said.claims += await model_claims(work)
        recorded = await _recorded_evidence(work, [memory.id for memory, _ in said.claims])
        said.claims = [each for each in said.claims if recorded.isdisjoint(_evidence_keys(*each))]
        for user in work.users():
            own = said.of(user)
            if own.claims or own.read:
                await _learn(work, user, own)


@dataclass(slots=True)
class _Said:
    """What the new memories say: claims, claims too unsure for a fact, and the texts that the reader has read."""

    claims: list[SourcedClaim] = field(default_factory=list)
    unsure: list[SourcedClaim] = field(default_factory=list)
    read: list[SourcedText] = field(default_factory=list)

    def of(self, user: str | None) -> _Said:
        """Return what one user's memories say."""
        return _Said(
            [each for each in self.claims if each[0].user == user],
            [each for each in self.unsure if each[0].user == user],
            [each for each in self.read if each[0].user == user],
        )


async def _said(work: Work) -> _Said:
    """Return what rules and the reader find in the new memories.

    Reading runs in a thread, one batch after the other.
    """
    said = _Said()
    facts_from = work.settings.facts_from
    sources = [m for m in work.sources if m.id not in work.unanswered and is_source(m, facts_from)]
    reader = work.reader
    previous = {} if reader is None else await _previous_texts(work, sources)
    most = BATCH if reader is None else _CHARS_READ_AT_ONCE
    for batch in batches(sources, lambda memory: len(memory.content), most):
        results = await asyncio.to_thread(extract_memories, batch, facts_from, reader, previous)
        for memory, extracted in zip(batch, results, strict=True):
            work.notes.rejected.update(refused.reason for refused in extracted.refused)
            said.claims += [(memory, claim) for claim in extracted.claims]
            said.unsure += [(memory, claim) for claim in extracted.unsure]
            said.read += [(memory, text) for text in extracted.read]
    return said


async def _previous_texts(work: Work, sources: Sequence[Memory]) -> dict[str, str]:
    """Return by the id of each message the text of the one before it in its conversation."""
    previous: dict[str, str] = {}
    last: dict[tuple[str | None, str], Memory] = {}
    wanted = {memory.id for memory in sources}
    for memory in work.sources:
        if memory.kind != "message" or memory.session is None:
            continue
        conversation = (memory.user, memory.session)
        if memory.id in wanted:
            before = last.get(conversation) or await _last_before(work, memory)
            if before is not None:
                previous[memory.id] = before.content
        last[conversation] = memory
    return previous


async def _last_before(work: Work, memory: Memory) -> Memory | None:
    """Return the last message of a conversation before one, from an earlier run."""
    assert memory.session is not None
    where = Filter(kinds=("message",), sessions=(memory.session,), until=memory.occurred_at)
    page = await work.store.scan(work.scope, where, order="occurred", descending=True, limit=1)
    return next(iter(page.items), None)


async def _recorded_evidence(work: Work, ids: Iterable[str]) -> set[EvidenceKey]:
    """Return the evidence of the facts that rest on these memories already."""
    links = await all_links(work.draft, work.scope, list(dict.fromkeys(ids)), relation="derived_from", direction="in")
    facts = await work.draft.get(work.scope, [link.source for link in links])
    recorded: set[EvidenceKey] = set()
    for fact in facts:
        for evidence in fact.body.get("evidence", ()) if fact.kind == "fact" else ():
            start, end = evidence["span"] or (-1, -1)
            names = fold_name(fact.body["subject_name"]), fact.body["predicate"]
            recorded.add((evidence["memory"], start, end, *names))
    return recorded


def _evidence_keys(memory: Memory, claim: Claim) -> Iterator[EvidenceKey]:
    """Yield the evidence that a claim may be recorded as, one for each name of its subject."""
    for name in (claim.subject, claim.otherwise):
        if name is not None:
            yield (memory.id, *claim.span, fold_name(name), predicate_name(claim.predicate))


# -- learning ----------------------------------------------------------------------------------------------------------


async def _learn(work: Work, user: str | None, said: _Said) -> None:
    """Learn what the memories of one user say, in the order of their time: its claims, then what they change."""
    semantic = SemanticMemory(work.scoped(user))
    await _prefetch(work, [*said.claims, *said.unsure])
    unsure = changed = None
    if said.read:
        unsure = UnsureClaims(work, user)
        known = await unsure.load()
        if work.changes is not None:
            changed = ChangedFacts(work, semantic, work.changes, unsure)
            await changed.load(said.read, known)
    stated, doubtful = _by_memory(said.claims), _by_memory(said.unsure)
    read = {memory.id for memory, _ in said.read}
    told = [memory for memory in work.sources if memory.id in stated or memory.id in read]
    for memory in sorted(told, key=lambda memory: memory.occurred_at):  # stable: those of one moment stay in order
        await _learn_claims(work, semantic, memory, stated[memory.id], changed, unsure)
        for claim in doubtful[memory.id]:
            assert unsure is not None
            await _weigh(work, semantic, memory, claim, changed, unsure)
        if changed is not None:
            await changed.apply(memory)
        if unsure is not None:
            await unsure.drop_ended()


def _by_memory(claims: Iterable[SourcedClaim]) -> defaultdict[str, list[Claim]]:
    by_memory: defaultdict[str, list[Claim]] = defaultdict(list)
    for memory, claim in claims:
        by_memory[memory.id].append(claim)
    return by_memory


async def _learn_claims(
    work: Work,
    semantic: SemanticMemory,
    memory: Memory,
    claims: Sequence[Claim],
    changed: ChangedFacts | None,
    unsure: UnsureClaims | None,
) -> None:
    """Learn the claims of a memory."""
    for said in claims:
        claim = await _about_known(work, memory.user, said)
        checked_by = None if isinstance(claim, ModelClaim) else changed
        if claim.ended:
            ended = [fact.id for fact in await _end(work, semantic, memory, claim, checked_by)]
            if unsure is not None and claim.certain:
                ended += [record.id for record in await unsure.end(claim)]
            if changed is not None:
                changed.add_ended(ended, memory)
            continue
        try:
            await declare_learnt(work, semantic, claim.predicate, many=claim.many, relates=claim.relates)
            start = await _start(semantic, memory, claim, checked_by)
            if start is None:
                work.notes.rejected["unsure"] += 1
                if unsure is not None and claim.rest is not None and claim.confidence >= UNSURE:
                    await _weigh(work, semantic, memory, claim, changed, unsure)
                continue
            learned = await semantic.learn(
                claim.subject,
                claim.predicate,
                claim.object,
                valid_from=start,
                valid_to=claim.until,
                confidence=min(claim.confidence, memory.trust + 0.1),
                evidence=Evidence(memory=memory.id, span=claim.span),
                source=memory.source.model_copy(update={"span": None}),
                importance=max(memory.importance, 0.5),
            )
        except (InvalidInput, Conflict, Forbidden) as error:  # such as a name too long, or a predicate used otherwise
            work.notes.rejected["invalid" if isinstance(error, InvalidInput) else "conflict"] += 1
            continue
        if claim.certain:
            await _end_others(work, semantic, memory, claim, start, checked_by)
        if isinstance(claim, ModelClaim) and learned.outcome == "new":
            await _record_model(work, learned.fact.id, claim)
        quote = memory.content[claim.span[0] : claim.span[1]]
        work.notes.why.setdefault(learned.fact.id, (memory.id, f"{claim.rule}: {quote!r}"))
        for old in (old for old in learned.superseded if old.id in work.draft.read):
            work.notes.why[old.id] = (learned.fact.id, f"replaced by {learned.fact}")
        for id in learned.stale:
            work.notes.why[id] = (learned.fact.id, f"rested on what {learned.fact} replaced")
        if unsure is not None:
            await unsure.drop_alike(claim)
        if changed is not None and (record := work.draft.now[learned.fact.id]) is not None:
            changed.add(record)


async def _weigh(
    work: Work,
    semantic: SemanticMemory,
    memory: Memory,
    said: Claim,
    changed: ChangedFacts | None,
    unsure: UnsureClaims,
) -> None:
    """Learn an unsure claim that was told before, or else keep it. What is known already says more than it does."""
    claim = await _about_known(work, memory.user, said)
    known = await semantic.know(claim.subject, claim.predicate, as_of=memory.occurred_at)
    value = content_terms(claim.object)
    if any(not claim.many or is_meant(value, content_terms(str(fact.object))) for fact in known):
        return
    before = unsure.told_before(memory, claim)
    if before is None:
        noted = await unsure.note(memory, claim)
        if noted is not None and changed is not None:
            changed.add(noted)
        return
    evidence = [Evidence(memory=memory.id, span=claim.span)]
    is_same = is_meant(value, content_terms(before.body["object"]))
    if is_same:
        evidence = [*await unsure.evidence_of(before), *evidence]
    try:
        await declare_learnt(work, semantic, claim.predicate, many=claim.many, relates=claim.relates)
        learned = await semantic.learn(
            claim.subject,
            claim.predicate,
            claim.object,
            valid_from=before.valid_from if is_same else memory.occurred_at,
            confidence=min(together(before.body["confidence"], claim.confidence), memory.trust + 0.1),
            evidence=evidence,
            source=memory.source.model_copy(update={"span": None}),
            importance=max(memory.importance, 0.5),
        )
    except (InvalidInput, Conflict, Forbidden) as error:
        work.notes.rejected["invalid" if isinstance(error, InvalidInput) else "conflict"] += 1
        return
    await unsure.drop(before.id)
    quote = memory.content[claim.span[0] : claim.span[1]]
    work.notes.why.setdefault(learned.fact.id, (memory.id, f"told before, and again: {quote!r}"))
    if changed is not None and (record := work.draft.now[learned.fact.id]) is not None:
        changed.add(record)


async def _about_known(work: Work, user: str | None, claim: Claim) -> Claim:
    """Return a claim about what is known by the other name of its subject: "the company" is "ann's company".

    What is the speaker's own counts more than what has the bare name.
    """
    other = claim.otherwise
    if other is None or len(other) > _MAX_NAME:
        return claim
    own, bare = (claim.subject, other) if claim.subject.endswith(f" {other}") else (other, claim.subject)
    for name in (own, bare):
        if await _has_facts(work, user, name):
            return claim if name == claim.subject else replace(claim, subject=name, otherwise=None)
    return claim


async def _has_facts(work: Work, user: str | None, name: str) -> bool:
    """Whether facts are known about what somebody calls by a name; the user's own, not those of all users."""
    draft = work.draft
    await draft.know_keys([concept_key(name)])
    links = await all_links(draft, work.scope, draft.holders(concept_key(name)), relation="about", direction="in")
    facts = await draft.get(work.scope, [link.source for link in links])
    return any(fact.user == user for fact in facts)


async def _start(
    semantic: SemanticMemory, memory: Memory, claim: Claim, changed: ChangedFacts | None
) -> datetime | None:
    """Return since when a claim holds; None if it would replace another value and is not sure enough for that.

    Nor does it replace what the same text says still holds: a second job. If the reader of changes, who knows the other
    value, thinks that it goes on, the claim is not sure enough either.
    """
    start = claim.start or memory.occurred_at
    plain = claim.certain and claim.rest is None and claim.since is None and not claim.beside
    if claim.many or (plain and changed is None):
        return start
    known = await semantic.know(claim.subject, claim.predicate, as_of=memory.occurred_at)
    others = [fact for fact in known if fold_name(str(fact.object)) != fold_name(claim.object)]
    beside = [content_terms(value) for value in claim.beside]
    still = any(value and is_meant(value, content_terms(str(fact.object))) for fact in others for value in beside)
    sure = claim.certain if claim.rest is None else _names_one(claim.rest, claim.object, others)
    if (others or claim.rest is not None) and (not sure or still):
        return None
    sentence = _sentence(memory, claim)
    is_plain = says_new(sentence) or (claim.predicate in LATEST_MEANT and not says_another(sentence))
    if changed is not None and not is_plain and await changed.any_goes_on(others, memory, claim.span[0]):
        return None
    if claim.since is None or any(fact.valid_from is None or fact.valid_from >= claim.since for fact in others):
        return start
    return claim.since


def _names_one(rest: str, object: str, others: Sequence[Fact]) -> bool:
    """Whether the rest of a text names a known value by a word that the new one has not."""
    told = content_terms(rest) - content_terms(object)
    return any(told & content_terms(str(fact.object)) for fact in others)


async def _end(
    work: Work, semantic: SemanticMemory, memory: Memory, claim: Claim, changed: ChangedFacts | None
) -> list[Fact]:
    """End the facts that a claim says no longer hold, and return them; it adds none.

    A claim that is less than certain ends only what it names and is known: that it is known speaks for it. None ends
    what goes on, as the reader of changes thinks.
    """
    if not claim.certain and not (claim.by_name and claim.object):
        work.notes.rejected["unsure"] += 1
        return []
    at = claim.start or memory.occurred_at
    wanted = content_terms(claim.object) if claim.object else frozenset[str]()
    predicates = (claim.predicate, *claim.also) if claim.certain else claim.by_name
    await work.draft.know_keys(map(predicate_key, (*predicates, *claim.by_name)))
    named = await _known_as(semantic, claim, predicates, wanted, at)
    if not named and wanted:
        named = await _known_as(semantic, claim, claim.by_name, wanted, at)
    any_is_meant = not claim.object and (not claim.many or len(named) == 1)  # "our dog died", and there is one
    if not wanted and not any_is_meant:
        work.notes.rejected["unclear"] += 1
        return []
    if changed is not None and await changed.any_goes_on(named, memory, claim.span[0]):
        work.notes.rejected["unsure"] += 1
        return []
    return [fact for fact in named if await _end_fact(work, semantic, fact, at, memory, claim)]


async def _known_as(
    semantic: SemanticMemory, claim: Claim, predicates: Iterable[str], wanted: frozenset[str], at: datetime
) -> list[Fact]:
    """Return the facts about the subject of a claim that some words mean, under any of these predicates."""
    facts = {
        fact.id: fact
        for predicate in dict.fromkeys(predicates)
        for fact in await semantic.know(claim.subject, predicate, as_of=at)
        if is_meant(wanted, content_terms(str(fact.object)))
    }
    return list(facts.values())


async def _end_others(
    work: Work, semantic: SemanticMemory, memory: Memory, claim: Claim, at: datetime, changed: ChangedFacts | None
) -> None:
    """End the values of other predicates that cannot hold beside a claim: a former partner."""
    await work.draft.know_keys(map(predicate_key, claim.instead_of))
    for predicate in claim.instead_of:
        # that whoever has a partner is not single follows from the words alone, and the reader of changes misses it
        is_plain = predicate in OF_A_PARTNER or says_new(_sentence(memory, claim))
        checked_by = None if is_plain else changed
        known = await semantic.know(claim.subject, predicate, as_of=memory.occurred_at)
        for fact in _displaced(claim, predicate, known, memory):
            # what it takes the place of held at least until it began, and at most until it was said
            over = at if fact.valid_from is None or fact.valid_from < at else memory.occurred_at
            if checked_by is None or not await checked_by.any_goes_on([fact], memory, claim.span[0]):
                await _end_fact(work, semantic, fact, over, memory, claim)


def _displaced(claim: Claim, predicate: str, known: Sequence[Fact], memory: Memory) -> list[Fact]:
    """Return the known values under a predicate that a claim of a memory takes the place of.

    What its own text still holds for true stands beside it.
    """
    kept = [content_terms(value) for value in (claim.object, *claim.beside)]
    said = _sentence(memory, claim)
    others = [
        fact
        for fact in known
        if not any(is_meant(value, content_terms(str(fact.object))) for value in kept)
        and takes_place(claim.subject, claim.object, predicate, str(fact.object), said)
    ]
    if predicate != "plans":
        return others
    alike = most_alike(claim.object, [str(fact.object) for fact in others])
    return [fact for fact, is_meant in zip(others, alike, strict=True) if is_meant]


def _sentence(memory: Memory, claim: Claim) -> str:
    """Return the sentence that states a claim of a memory."""
    sentence = sentence_at(memory.content, claim.span[0])
    return "" if sentence is None else sentence.text


async def _end_fact(
    work: Work, semantic: SemanticMemory, fact: Fact, at: datetime, memory: Memory, claim: Claim
) -> bool:
    """End a fact; return whether it was known before."""
    if fact.valid_from is not None and fact.valid_from >= at:
        return False  # the same message states it, so it has not ended there
    ended = await semantic.end(fact, at, because_of=memory.id)
    quote = memory.content[claim.span[0] : claim.span[1]]
    work.notes.why[ended.id] = (memory.id, f"ended: {quote!r}")
    return True


async def _record_model(work: Work, id: str, claim: ModelClaim) -> None:
    """Record with a new fact which model stated it, asked with which prompts."""
    fact = work.draft.now[id]
    assert fact is not None
    metadata = {**fact.metadata, "model": claim.model, "prompts": ", ".join(claim.prompts)}
    await work.apply([Update(id, {"metadata": metadata}, fact.version)])


async def _prefetch(work: Work, claims: Sequence[SourcedClaim]) -> None:
    """Read in a few queries what learning one claim after the other would read one by one."""
    names = {claim.subject for _, claim in claims} | {claim.object for _, claim in claims if claim.relates}
    names |= {claim.otherwise for _, claim in claims if claim.otherwise is not None}
    keys = [concept_key(name) for name in names if name.strip() and len(name) <= _MAX_NAME]
    predicates = {predicate_name(claim.predicate) for _, claim in claims}
    await work.draft.know_keys([*keys, *map(predicate_key, sorted(predicates))])
    await work.draft.get(work.scope, [memory.id for memory, _ in claims])
    await work.draft.know_keys(_slot_keys(work, claims))
    concepts = [id for key in keys for id in work.draft.holders(key)]
    await work.draft.know_links(concepts, leaving=False)
    facts = await all_links(work.draft, work.scope, concepts, relation="about", direction="in")
    await work.draft.get(work.scope, [link.source for link in facts])


def _slot_keys(work: Work, claims: Sequence[SourcedClaim]) -> Iterable[str]:
    """Yield the keys of the timelines that the claims about known concepts may belong to."""
    for _, claim in claims:
        if not claim.subject.strip() or len(claim.subject) > _MAX_NAME:
            continue
        name = predicate_name(claim.predicate)
        objects: list[str | None] = [None]
        if claim.relates and len(claim.object) <= _MAX_NAME:
            objects += work.draft.holders(concept_key(claim.object))
        other = () if claim.otherwise is None else work.draft.holders(concept_key(claim.otherwise))
        for subject in (*work.draft.holders(concept_key(claim.subject)), *other):
            yield slot_key(subject, name, None)
            for object in objects:
                yield slot_key(subject, name, value_identity(claim.object, object))
