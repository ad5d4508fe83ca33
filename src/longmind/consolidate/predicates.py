"""Declaring what a predicate means before its first use, which would otherwise decide it."""

from __future__ import annotations

from longmind.consolidate.work import Work
from longmind.systems.semantic import (
    COMMON_PREDICATES,
    INVERSE_PREDICATES,
    SemanticMemory,
    predicate_key,
    predicate_name,
)


async def declare_learnt(work: Work, semantic: SemanticMemory, predicate: str, *, many: bool, relates: bool) -> None:
    """Declare a predicate of a fact that is learnt next, unless it is known."""
    name = predicate_name(predicate)
    if name in COMMON_PREDICATES or name in INVERSE_PREDICATES:
        return
    await work.draft.know_keys([predicate_key(name)])
    if not work.draft.holders(predicate_key(name)):
        await semantic.declare(name, many=many, relates=relates, learnt=True)
