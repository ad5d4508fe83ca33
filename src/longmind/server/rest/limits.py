"""What the library asks of a value beyond its type, as JSON schema for the OpenAPI document.

The library itself checks it, so nothing here refuses a request. The fuzz of the document compares the two: what the
document allows must be accepted, and what it forbids refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longmind.types.fields import name_text, plain_text

Json = dict[str, Any]

_CONTROL = r"\u0000-\u001f\u007f"
_EDGE = rf"[^\s\u0085{_CONTROL}]"
NAME = rf"^{_EDGE}([^{_CONTROL}]*{_EDGE})?$"
"""No control characters, and no space at either end."""
AGENT = rf"^(?!@){_EDGE}([^{_CONTROL}]*{_EDGE})?$"
"""A name; those with @ are Longmind's own."""
VISIBLE = r"[^\s\u001c-\u001f\u0085]"
"""At least one character that is no space."""
PATTERNS: Mapping[Any, str] = {name_text: NAME, plain_text: r"^[^\u0000]*$"}
"""What a validator of texts lets through."""

_UNIT: Json = {"minimum": 0, "maximum": 1}
_POSITIVE: Json = {"minimum": 1}
_PAGE: Json = {"minimum": 1, "maximum": 1_000}
_NAME: Json = {"minLength": 1, "maxLength": 200, "pattern": NAME}
_ID: Json = {"pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"}
_KIND: Json = {"pattern": "^[a-z][a-z0-9_]{0,31}$"}
_VISIBLE: Json = {"pattern": VISIBLE}
_LINE: Json = {"pattern": VISIBLE, "minLength": 1, "maxLength": 2_000}
_PLAIN: Json = {"pattern": r"^[^\u0000]*$"}
_WORDS = r"[^\u0000-\u0008\u000e-\u001b\u007f]*"
_PREDICATE: Json = {"pattern": rf"^{_WORDS}[^\s_\u0085{_CONTROL}]{_WORDS}$", "maxLength": 80}
_PREDICATE_OR_NONE: Json = {**_PREDICATE, "pattern": rf"^$|{_PREDICATE['pattern']}"}
_BEGINS: Json = {"enum": ["proposed", "active", "blocked"]}
_CONCEPT: Json = {"pattern": rf"^{_WORDS}[^\s\u0085{_CONTROL}]{_WORDS}$"}


def _each(item: Json) -> Json:
    """Return what is asked of a list whose items have a limit."""
    return {"items": {"type": "string", **item}}


OF_ALL: Mapping[str, Json] = {
    "confidence": _UNIT,
    "days": {"minimum": 1, "maximum": 3_660},
    "depth": {"minimum": 1, "maximum": 8},
    "expected_version": {"minimum": 0},
    "importance": _UNIT,
    "k": _PAGE,
    "keys": _each(_NAME),
    "lease_seconds": {"exclusiveMinimum": 0, "maximum": 604_800},
    "limit": _PAGE,
    "min_score": _UNIT,
    "n": _POSITIVE,
    "namespace": _each(_PLAIN),
    "offset": {"minimum": 0},
    "prefix": _each(_PLAIN),
    "priority": _UNIT,
    "session": _NAME,
    "tags": _each({"minLength": 1, "maxLength": 100, **_PLAIN}),
    "tokens": _POSITIVE,
    "window": _POSITIVE,
}
"""By the name of a parameter, in whatever operation it is."""
OF_ONE: Mapping[str, Mapping[str, Json]] = {
    "answers.answer": {"task": _VISIBLE, "timeout": {"minimum": 0}},
    "conversations.history": {"limit": _POSITIVE},
    "conversations.items": {"limit": _POSITIVE},
    "conversations.messages": {"tokens": {}},
    "dialogue.add": {"messages": _each(_ID)},
    "dialogue.recall": {"segments": _POSITIVE, "pages": {"minimum": 1, "maximum": 500}},
    "episodes.clusters": {"alike": {"exclusiveMinimum": 0, "maximum": 1}, "most": _PAGE},
    "episodes.lessons": {"task": _VISIBLE, "episodes": _POSITIVE, "relevance": _UNIT, "support": _POSITIVE},
    "episodes.meanwhile": {"limit": _POSITIVE},
    "episodes.recent": {"n": _PAGE},
    "episodes.record": {"type": _NAME, "actor": _NAME},
    "episodes.start": {"title": {**_LINE, "maxLength": 500}, "type": _NAME, "parent": _ID},
    "episodes.timeline": {"limit": _POSITIVE},
    "facts.about": {"concept": _CONCEPT},
    "facts.declare": {"inverse": _PREDICATE_OR_NONE},
    "facts.define": {"category": _NAME},
    "facts.export": {"concept": _CONCEPT, "depth": {}, "limit": {}},
    "facts.graph": {"limit": {}},
    "facts.history": {"subject": _CONCEPT, "predicate": _PREDICATE},
    "facts.holds": {"subject": _CONCEPT, "predicate": _PREDICATE},
    "facts.know": {"subject": _CONCEPT, "predicate": _PREDICATE},
    "facts.learn": {"subject": _CONCEPT, "predicate": _PREDICATE},
    "facts.list": {"predicate": _PREDICATE_OR_NONE},
    "facts.neighbourhood": {"concept": _CONCEPT, "limit": {}},
    "facts.path": {"start": _CONCEPT, "end": _CONCEPT},
    "facts.relate": {"subject": _CONCEPT, "predicate": _PREDICATE, "object": _CONCEPT},
    "goals.abandon": {"why": _VISIBLE},
    "goals.block": {"why": _VISIBLE},
    "goals.create": {"description": _VISIBLE, "status": _BEGINS, "parent": _ID},
    "goals.create_goal_with_plan": {
        "description": _VISIBLE,
        "status": _BEGINS,
        "parent": _ID,
        "steps": {"minItems": 1},
    },
    "goals.fail": {"why": _VISIBLE},
    "goals.map_step": {"criteria": {"minItems": 1}},
    "keys.create": {"permissions": {"minItems": 1}, "agents": {"minItems": 1}},
    "memories.get_by_key": {"key": _NAME},
    "memories.list": {"kinds": _each(_KIND)},
    "persona.learn": {"text": _LINE, "evidence": _each(_ID)},
    "persona.observe": {
        "score": _UNIT,
        "value": _LINE,
        "dimension": {**_LINE, "maxLength": 100},
        "confidence": {"exclusiveMinimum": 0, "maximum": 1},
        "count": _POSITIVE,
    },
    "memories.remember": {"key": _NAME},
    "recall.recall": {"kinds": _each(_KIND)},
    "shared.propose": {"candidate": _LINE},
    "shared.search": {"k": _POSITIVE},
    "shared.withdraw": {"candidate": _LINE},
    "state.namespaces": {"limit": _POSITIVE},
    "values.namespaces": {"limit": _POSITIVE},
    "working.put": {"content": _VISIBLE},
    "working.resize": {"items": _PAGE, "tokens": {"minimum": 1, "maximum": 10_000_000}},
}
"""By the name of an operation: what it asks of its own parameters, in place of the above."""
_OF_PATH: Mapping[str, Json] = {"agent": {**_NAME, "pattern": AGENT}, "predicate": _PREDICATE}
"""By the name of a parameter of the path, where it is not just a name."""
_ANY_PATH = {("jobs.list_of_agent", "agent"), ("persona.history", "dimension")}
"""Where nothing is found under a name that cannot be, and so none is refused."""
_TYPES = {
    "minimum": {"integer", "number"},
    "exclusiveMinimum": {"integer", "number"},
    "maximum": {"integer", "number"},
    "enum": {"string"},
    "minLength": {"string"},
    "maxLength": {"string"},
    "pattern": {"string"},
    "items": {"array"},
    "minItems": {"array"},
}
"""The types of JSON that a rule is about."""


def limited(operation: str, parameter: str, schema: Json) -> Json:
    """Return the schema of a parameter with what the library asks of it."""
    limits = OF_ONE.get(operation, {}).get(parameter, OF_ALL.get(parameter))
    if limits is None:
        return schema
    if "anyOf" in schema:
        return {**schema, "anyOf": [_with(option, limits) for option in schema["anyOf"]]}
    return _with(schema, limits)


def path_schema(operation: str, parameter: str) -> Json:
    """Return the schema of a parameter of the path."""
    limits = {} if (operation, parameter) in _ANY_PATH else _OF_PATH.get(parameter, _NAME)
    return {"type": "string", "minLength": 1, **limits}


def key_schema(parameter: str) -> Json:
    """Return the schema of ``Idempotency-Key`` for a parameter: a key is the name of a record."""
    return dict(_NAME) if parameter == "key" else {}


def _with(schema: Json, limits: Json) -> Json:
    applicable = {rule: value for rule, value in limits.items() if schema.get("type") in _TYPES[rule]}
    return {**schema, **applicable}
