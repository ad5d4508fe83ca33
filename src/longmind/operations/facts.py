"""Facts, concepts, rules and the graph of them."""

from longmind.operations.faces import SEMANTIC
from longmind.operations.operation import Noun

_facts = Noun("facts", SEMANTIC)

OPERATIONS = (
    _facts.post(
        "/facts", "learn", status=201, example={"subject": "Alice", "predicate": "lives in", "object": "Lisbon"}
    ),
    _facts.post(
        "/facts/relations", "relate", status=201, example={"subject": "Alice", "predicate": "knows", "object": "Bob"}
    ),
    _facts.get("/facts", "facts", name="facts.list"),
    _facts.post("/facts/search", "search", permission="read", result_name="hits", example={"query": "Lisbon"}),
    _facts.post("/facts/know", "know", permission="read", example={"subject": "Alice", "predicate": "lives in"}),
    _facts.post("/facts/history", "history", permission="read", example={"subject": "Alice", "predicate": "lives in"}),
    _facts.post("/facts/derive", "derive"),
    _facts.post("/facts/end", "end", example={"fact": "00000000-0000-7000-8000-000000000000"}),
    _facts.post(
        "/facts/retract",
        "retract",
        example={"fact": "00000000-0000-7000-8000-000000000000", "because": "it was a joke"},
    ),
    _facts.put("/concepts/{name}", "define", example={"definition": "The capital of Portugal.", "category": "city"}),
    _facts.get("/concepts", "concepts"),
    _facts.get("/concepts/{name}", "concept", none_is_missing=True),
    _facts.post("/concepts/about", "about", permission="read", example={"concept": "Alice"}),
    _facts.post("/concepts/ended", "ended", permission="read", example={"concept": "Alice"}),
    _facts.post("/concepts/neighbourhood", "neighbourhood", permission="read", example={"concept": "Alice"}),
    _facts.put("/predicates/{predicate}", "declare", example={"many": False}),
    _facts.get("/predicates", "predicates"),
    _facts.put("/rules/{name}", "rule", example={"statement": "Who lives in Lisbon lives in Portugal."}),
    _facts.get("/rules", "rules"),
    _facts.get("/graph", "graph"),
    _facts.post("/graph/path", "path", permission="read", example={"start": "Alice", "end": "Portugal"}),
    _facts.post(
        "/graph/holds",
        "holds",
        permission="read",
        example={"subject": "Alice", "predicate": "lives in", "object": "Portugal"},
    ),
    _facts.post("/graph/export", "export", permission="read", example={"format": "json"}),
)
