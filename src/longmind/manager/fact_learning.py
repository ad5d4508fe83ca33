"""Learning the facts of an experience, with its episode or a message as evidence.

The episode is stored by then, so a fact that cannot be learnt is reported and nothing is rolled back. Facts that were
learnt from the same evidence before are skipped: storing an interrupted experience again completes it, and a fact that
was retracted in between does not come back.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from longmind.errors import LongmindError, StoreError
from longmind.manager.experience_store import StoredExperience
from longmind.manager.models import Experience, ExtractedClaim, RefusedFact
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import (
    COMMON_PREDICATES,
    INVERSE_PREDICATES,
    Evidence,
    Fact,
    Learned,
    SemanticMemory,
    fold_name,
    predicate_name,
)
from longmind.types import Memory

Extract = Callable[[Memory], Iterable[ExtractedClaim] | Awaitable[Iterable[ExtractedClaim]]]
"""Finds what a text states, at once; without one, consolidation does so later."""
Identity = tuple[str, str, frozenset[str]]
"""What identifies a fact here: the memory it rests on, its predicate, and its subject and object."""


class FactLearner:
    """Learns the facts of one experience, one by one."""

    def __init__(self, scoped: ScopedStore, semantic: SemanticMemory, written: StoredExperience) -> None:
        self._scoped = scoped
        self._semantic = semantic
        self._written = written
        self._known: dict[Identity, Fact] = {}
        self.learned: list[Learned] = []
        self.refused: list[RefusedFact] = []

    async def learn(self, experience: Experience, extract: Extract | None) -> None:
        """Learn the facts that are stated outright, and with an extractor those in the texts."""
        if self._written.again:
            self._known = await self._learnt_before()
        episode = self._written.episode
        for fact in experience.facts:
            fields = {name: getattr(fact, name) for name in type(fact).model_fields}
            fields |= {"valid_from": fact.valid_from or episode.occurred_at, "source": experience.source}
            await self._learn_fact(fields, Evidence(memory=episode.id))
        for message in self._written.messages if extract is not None else ():
            claims = extract(message) if extract is not None else ()
            for claim in await claims if inspect.isawaitable(claims) else claims:
                await self._learn_fact(_fields(claim, message), Evidence(memory=message.id, span=claim.span), claim)

    async def _learn_fact(
        self, fields: dict[str, Any], evidence: Evidence, claim: ExtractedClaim | None = None
    ) -> None:
        """Learn a fact. An invalid fact is reported in ``refused``; an error of the store is raised."""
        try:
            known = await self._before(fields, evidence)
            if known is None and claim is not None:
                await self._declare(claim)
            self.learned.append(known or await self._semantic.learn(**fields, evidence=evidence))
        except StoreError:
            raise
        except LongmindError as error:
            name = f"{fields['subject']} {fields['predicate']} {fields['object']}"
            self.refused.append(RefusedFact(fact=name, message=str(error)))

    async def _declare(self, claim: ExtractedClaim) -> None:
        """Declare a predicate before its first use, which would otherwise define it."""
        name = predicate_name(claim.predicate)
        if name not in COMMON_PREDICATES and name not in INVERSE_PREDICATES and name not in await self._canonical():
            await self._semantic.declare(name, many=claim.many, relates=claim.relates, learnt=True)

    async def _canonical(self) -> dict[str, str]:
        """The predicate that each name, and each inverse, is stored with."""
        return {name: p.name for p in await self._semantic.predicates() for name in (p.name, p.inverse) if name}

    async def _before(self, fields: dict[str, Any], evidence: Evidence) -> Learned | None:
        if not self._known:
            return None
        name = predicate_name(fields["predicate"])
        ends = frozenset(fold_name(str(fields[end])) for end in ("subject", "object"))
        known = self._known.get((evidence.memory, (await self._canonical()).get(name, name), ends))
        return None if known is None else Learned(fact=known, outcome="confirmed")

    async def _learnt_before(self) -> dict[Identity, Fact]:
        """The facts that rest on this experience, those that ended or were retracted too."""
        written, scoped = self._written, self._scoped
        ids = [written.episode.id, *(message.id for message in written.messages)]
        links = await scoped.store.all_links(scoped.scope, ids, relation="derived_from", direction="in")
        records = await scoped.store.get_all(scoped.scope, [link.source for link in links])
        facts = [Fact.of(record) for record in records if record.kind == "fact"]
        return {
            (evidence.memory, fact.predicate, frozenset((fold_name(fact.subject), fold_name(str(fact.object))))): fact
            for fact in facts
            for evidence in fact.evidence
        }


def _fields(claim: ExtractedClaim, message: Memory) -> dict[str, Any]:
    """A claim as a statement: no surer than who says it is trusted, as consolidation has it."""
    return {
        "subject": claim.subject,
        "predicate": claim.predicate,
        "object": claim.object,
        "valid_from": claim.start or message.occurred_at,
        "confidence": min(claim.confidence, message.trust + 0.1),
        "source": message.source.model_copy(update={"span": None}),
        "importance": max(message.importance, 0.5),
    }
