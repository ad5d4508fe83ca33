"""Semantic memory: concepts, facts with their validity in time, relations, definitions and rules."""

from longmind.systems.semantic.endings import ENDED_BY, reopening_writes
from longmind.systems.semantic.entities import Entities, Entity, EntityGraph, Observations, Relation
from longmind.systems.semantic.memory import SemanticMemory
from longmind.systems.semantic.models import (
    Concept,
    ConceptSummary,
    Evidence,
    Fact,
    Graph,
    Learned,
    Node,
    Path,
    PathStep,
    Pattern,
    Predicate,
    Rule,
    SemanticHit,
)
from longmind.systems.semantic.names import (
    concept_key,
    fold_name,
    predicate_key,
    predicate_name,
    slot_key,
    value_identity,
)
from longmind.systems.semantic.predicates import COMMON_PREDICATES, INVERSE_PREDICATES
from longmind.systems.semantic.support import find_unsupported
from longmind.systems.semantic.timelines import find_derived, with_next_revision

__all__ = [
    "COMMON_PREDICATES",
    "ENDED_BY",
    "INVERSE_PREDICATES",
    "Concept",
    "ConceptSummary",
    "Entities",
    "Entity",
    "EntityGraph",
    "Evidence",
    "Fact",
    "Graph",
    "Learned",
    "Node",
    "Observations",
    "Path",
    "PathStep",
    "Pattern",
    "Predicate",
    "Relation",
    "Rule",
    "SemanticHit",
    "SemanticMemory",
    "concept_key",
    "find_derived",
    "find_unsupported",
    "fold_name",
    "predicate_key",
    "predicate_name",
    "reopening_writes",
    "slot_key",
    "value_identity",
    "with_next_revision",
]
