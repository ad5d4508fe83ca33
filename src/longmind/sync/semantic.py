"""Blocking semantic memory."""

from longmind.sync.blocking import Blocking, blocking
from longmind.systems import semantic as asynchronous


class SemanticMemory(Blocking[asynchronous.SemanticMemory]):
    """Blocking; see ``longmind.systems.semantic.SemanticMemory``."""

    define = blocking(asynchronous.SemanticMemory.define)
    concept = blocking(asynchronous.SemanticMemory.concept)
    concepts = blocking(asynchronous.SemanticMemory.concepts)
    declare = blocking(asynchronous.SemanticMemory.declare)
    predicates = blocking(asynchronous.SemanticMemory.predicates)
    learn = blocking(asynchronous.SemanticMemory.learn)
    relate = blocking(asynchronous.SemanticMemory.relate)
    know = blocking(asynchronous.SemanticMemory.know)
    history = blocking(asynchronous.SemanticMemory.history)
    about = blocking(asynchronous.SemanticMemory.about)
    ended = blocking(asynchronous.SemanticMemory.ended)
    facts = blocking(asynchronous.SemanticMemory.facts)
    end = blocking(asynchronous.SemanticMemory.end)
    retract = blocking(asynchronous.SemanticMemory.retract)
    path = blocking(asynchronous.SemanticMemory.path)
    holds = blocking(asynchronous.SemanticMemory.holds)
    neighbourhood = blocking(asynchronous.SemanticMemory.neighbourhood)
    graph = blocking(asynchronous.SemanticMemory.graph)
    export = blocking(asynchronous.SemanticMemory.export)
    search = blocking(asynchronous.SemanticMemory.search)
    rule = blocking(asynchronous.SemanticMemory.rule)
    rules = blocking(asynchronous.SemanticMemory.rules)
    derive = blocking(asynchronous.SemanticMemory.derive)
