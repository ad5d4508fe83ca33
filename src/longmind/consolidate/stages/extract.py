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
from dataclasses import dataclass, replace
from datetime import datetime

from longmind.consolidate.changed_facts import ChangedFacts
from longmind.consolidate.model import content_terms
from longmind.consolidate.model_claims import ModelClaim, SourcedClaim, model_claims
from longmind.consolidate.rules.claims import Claim
from longmind.consolidate.rules.extraction import (
    ReadText,
    extract_memories,
    is_source,
)
from longmind.consolidate.rules.relations import OF_A_PARTNER
from longmind.consolidate.rules.replacing import most_alike, takes_place
from longmind.consolidate.work import Work
from longmind.errors import Conflict, Forbidden, InvalidInput
from longmind.pacing import BATCH, batches
from longmind.store.base import Update
from longmind.store.reads import all_links
from longmind.systems.semantic import (
    COMMON_PREDICATES,
    INVERSE_PREDICATES,
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
        claims, read = await _rule_claims(work)
        claims += await model_claims(work)
        recorded = await _recorded_evidence(work, [memory.id for memory, _ in claims])
        new = [(memory, claim) for memory, claim in claims if recorded.isdisjoint(_evidence_keys(memory, claim))]
        for user in work.users():
            own = [(memory, claim) for memory, claim in new if memory.user == user]
            texts = [(memory, text) for memory, text in read if memory.user == user]
            if own or texts:
                await _learn(work, user, own, texts)


async def _rule_claims(work: Work) -> tuple[list[SourcedClaim], list[SourcedText]]:
    """Return the claims that rules find in the new memories, and the texts that the reader read.

    Reading runs in a thread, one batch after the other.
    """
    claims: list[SourcedClaim] = []
    read: list[SourcedText] = []
    facts_from = work.settings.facts_from
    sources = [m for m in work.sources if m.id not in work.unanswered and is_source(m, facts_from)]
    reader = work.reader
    previous = {} if reader is None else await _previous_texts(work, sources)
    most = BATCH if reader is None else _CHARS_READ_AT_ONCE
    for batch in batches(sources, lambda memory: len(memory.content), most):
        results = await asyncio.to_thread(extract_memories, batch, facts_from, reader, previous)
        for memory, extracted in zip(batch, results, strict=True):
            work.notes.rejected.update(refused.reason for refused in extracted.refused)
            claims += [(memory, claim) for claim in extracted.claims]
            read += [(memory, text) for text in extracted.read]
    return claims, read


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


async def _learn(work: Work, user: str | None, claims: Sequence[SourcedClaim], texts: Sequence[SourcedText]) -> None:
    """Learn what the memories of one user say, in the order of their time: its claims, then what they change."""
    semantic = SemanticMemory(work.scoped(user))
    await _prefetch(work, claims)
    changed = None
    if work.changes is not None and texts:
        changed = ChangedFacts(work, semantic, work.changes, user)
        await changed.load(texts)
    stated = defaultdict(list)
    for memory, claim in claims:
        stated[memory.id].append(claim)
    read = {memory.id for memory, _ in texts}
    told = [memory for memory in work.sources if memory.id in stated or memory.id in read]
    declared: set[str] = set()
    for memory in sorted(told, key=lambda memory: memory.occurred_at):  # stable: those of one moment stay in order
        await _learn_claims(work, semantic, memory, stated[memory.id], declared, changed)
        if changed is not None:
            await changed.apply(memory)


async def _learn_claims(
    work: Work,
    semantic: SemanticMemory,
    memory: Memory,
    claims: Sequence[Claim],
    declared: set[str],
    changed: ChangedFacts | None,
) -> None:
    """Learn the claims of a memory."""
    for said in claims:
        claim = await _about_known(work, memory.user, said)
        checked_by = None if isinstance(claim, ModelClaim) else changed
        if claim.ended:
            for fact in await _end(work, semantic, memory, claim, checked_by):
                if changed is not None:
                    changed.add_ended(fact, memory)
            continue
        try:
            await _declare(work, semantic, claim, declared)
            start = await _start(semantic, memory, claim, checked_by)
            if start is None:
                work.notes.rejected["unsure"] += 1
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
    still = any(value and _is_meant(value, content_terms(str(fact.object))) for fact in others for value in beside)
    sure = claim.certain if claim.rest is None else _names_one(claim.rest, claim.object, others)
    if (others or claim.rest is not None) and (not sure or still):
        return None
    if changed is not None and await changed.any_goes_on(others, memory, claim.span[0]):
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
        if _is_meant(wanted, content_terms(str(fact.object)))
    }
    return list(facts.values())


def _is_meant(wanted: frozenset[str], known: frozenset[str]) -> bool:
    """Whether the words of an ending mean a known value: one says no more than the other."""
    return wanted <= known or (bool(known) and known <= wanted)


async def _end_others(
    work: Work, semantic: SemanticMemory, memory: Memory, claim: Claim, at: datetime, changed: ChangedFacts | None
) -> None:
    """End the values of other predicates that cannot hold beside a claim: a former partner."""
    await work.draft.know_keys(map(predicate_key, claim.instead_of))
    for predicate in claim.instead_of:
        # that whoever has a partner is not single follows from the words alone, and the reader of changes misses it
        checked_by = None if predicate in OF_A_PARTNER else changed
        known = await semantic.know(claim.subject, predicate, as_of=memory.occurred_at)
        for fact in _displaced(claim, predicate, known):
            # what it takes the place of held at least until it began, and at most until it was said
            over = at if fact.valid_from is None or fact.valid_from < at else memory.occurred_at
            if checked_by is None or not await checked_by.any_goes_on([fact], memory, claim.span[0]):
                await _end_fact(work, semantic, fact, over, memory, claim)


def _displaced(claim: Claim, predicate: str, known: Sequence[Fact]) -> list[Fact]:
    """Return the known values under a predicate that a claim takes the place of.

    What its own text still holds for true stands beside it.
    """
    kept = [content_terms(value) for value in (claim.object, *claim.beside)]
    others = [
        fact
        for fact in known
        if not any(_is_meant(value, content_terms(str(fact.object))) for value in kept)
        and takes_place(claim.subject, claim.object, predicate, str(fact.object))
    ]
    if predicate != "plans":
        return others
    alike = most_alike(claim.object, [str(fact.object) for fact in others])
    return [fact for fact, is_meant in zip(others, alike, strict=True) if is_meant]


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


async def _declare(work: Work, semantic: SemanticMemory, claim: Claim, declared: set[str]) -> None:
    """Declare what a predicate means before its first use, which would otherwise decide it."""
    name = predicate_name(claim.predicate)
    if name in declared or name in COMMON_PREDICATES or name in INVERSE_PREDICATES:
        return
    declared.add(name)
    await work.draft.know_keys([predicate_key(name)])
    if not work.draft.holders(predicate_key(name)):
        await semantic.declare(name, many=claim.many, relates=claim.relates, learnt=True)


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
