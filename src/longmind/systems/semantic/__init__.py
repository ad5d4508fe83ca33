"""Semantic memory: concepts, facts with the time in which they held, relations, definitions and rules."""

from longmind.systems.semantic.memory import SemanticMemory
from longmind.systems.semantic.models import (
    About,
    Concept,
    Evidence,
    Fact,
    Found,
    Graph,
    Learned,
    Node,
    Path,
    Pattern,
    Predicate,
    Rule,
    Step,
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
from longmind.systems.semantic.timelines import find_derived, with_next_revision

__all__ = [
    "COMMON_PREDICATES",
    "INVERSE_PREDICATES",
    "About",
    "Concept",
    "Evidence",
    "Fact",
    "Found",
    "Graph",
    "Learned",
    "Node",
    "Path",
    "Pattern",
    "Predicate",
    "Rule",
    "SemanticMemory",
    "Step",
    "concept_key",
    "find_derived",
    "fold_name",
    "predicate_key",
    "predicate_name",
    "slot_key",
    "value_identity",
    "with_next_revision",
]
