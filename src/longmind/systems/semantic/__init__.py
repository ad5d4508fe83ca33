"""Semantic memory: concepts, facts with the time in which they held, relations, definitions and rules."""

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
from longmind.systems.semantic.system import SemanticMemory

__all__ = [
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
]
