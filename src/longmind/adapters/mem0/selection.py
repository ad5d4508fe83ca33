"""Which memories a call of mem0's means: its ids and its filters, checked as mem0 checks them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from longmind import InvalidInput

Json = dict[str, Any]
ENTITIES = ("user_id", "agent_id", "run_id")
FIELDS = frozenset({*ENTITIES, "actor_id", "role", "data", "hash", "created_at", "updated_at", "expiration_date"})
"""Fields of a memory in mem0's shape that are no metadata of the caller's."""
_NEEDED = "filters must contain at least one of: user_id, agent_id, run_id. Example: filters={'user_id': 'u1'}"
_ONE_NEEDED = "At least one of 'user_id', 'agent_id', or 'run_id' must be provided."


class InvalidRequest(InvalidInput, ValueError):
    """A call that mem0 refuses, by the same words. It is a ``ValueError``, as there."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Memories of a user, an agent or a run that meet conditions."""

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    equal: Json = field(default_factory=dict)
    """Metadata that must be equal; a store looks it up."""
    conditions: Json = field(default_factory=dict)
    """Whatever else was asked for; each memory is looked at."""

    @classmethod
    def of_ids(cls, user_id: Any = None, agent_id: Any = None, run_id: Any = None) -> Selection:
        """Return the selection of ids, of which at least one must be given."""
        selection = cls(
            user_id=entity_id(user_id, "user_id"),
            agent_id=entity_id(agent_id, "agent_id"),
            run_id=entity_id(run_id, "run_id"),
        )
        if not (selection.user_id or selection.agent_id or selection.run_id):
            raise InvalidRequest(_ONE_NEEDED)
        return selection

    @classmethod
    def of_filters(cls, filters: Mapping[str, Any] | None) -> Selection:
        """Return the selection of filters, which must name a user, an agent or a run."""
        given = dict(filters or {})
        ids = {name: entity_id(given.pop(name), name) for name in ENTITIES if name in given}
        if not ids:
            raise InvalidRequest(_NEEDED)
        equal = {name: value for name, value in given.items() if _is_looked_up(name, value)}
        conditions = {name: value for name, value in given.items() if name not in equal}
        _check(conditions)
        return cls(**ids, equal=equal, conditions=conditions)

    def meets(self, payload: Mapping[str, Any]) -> bool:
        """Return whether a memory in mem0's shape meets the conditions."""
        return _meets(self.conditions, payload)


def entity_id(value: Any, name: str) -> str | None:
    """Return an id as mem0 reads it: any value as a text, without spaces around it."""
    if value is None:
        return None
    text = str(value).strip()
    if not text:
        raise InvalidRequest(f"Invalid {name}: cannot be empty or whitespace-only. Provide a valid identifier.")
    if any(character.isspace() for character in text):
        raise InvalidRequest(f"Invalid {name}: cannot contain whitespace. Provide a valid identifier without spaces.")
    return text


def check_search(threshold: Any = None, top_k: Any = None) -> None:
    """Refuse a threshold or a number of results that cannot be."""
    if threshold is not None:
        if not isinstance(threshold, int | float):
            raise InvalidRequest("threshold must be a valid number")
        if not 0 <= threshold <= 1:
            raise InvalidRequest(f"Invalid threshold: {threshold}. Must be between 0 and 1 (inclusive).")
    if top_k is not None:
        if not isinstance(top_k, int) or isinstance(top_k, bool):
            raise InvalidRequest("top_k must be a valid integer")
        if top_k < 0:
            raise InvalidRequest(f"Invalid top_k: {top_k}. Must be a non-negative integer.")


def check_no_entities(given: Mapping[str, Any], method: str) -> None:
    """Refuse ids beside the filters, and arguments that there are not."""
    if ids := set(ENTITIES) & set(given):
        raise InvalidRequest(
            f"Top-level entity parameters {ids} are not supported in {method}(). "
            "Use filters={'user_id': '...'} instead."
        )


def _is_looked_up(name: str, value: Any) -> bool:
    return name not in FIELDS | {"AND", "OR", "NOT"} and isinstance(value, str | int | float) and value != "*"


Test = Callable[[Any, Any], bool]


def _compared(compare: Callable[[Any, Any], bool]) -> Test:
    def test(held: Any, asked: Any) -> bool:
        try:
            return compare(held, asked)
        except TypeError:  # a text and a number have no order
            return False

    return test


_TESTS: Mapping[str, Test] = {
    "eq": lambda held, asked: held == asked,
    "ne": lambda held, asked: held != asked,
    "gt": _compared(lambda held, asked: held > asked),
    "gte": _compared(lambda held, asked: held >= asked),
    "lt": _compared(lambda held, asked: held < asked),
    "lte": _compared(lambda held, asked: held <= asked),
    "in": lambda held, asked: held in asked,
    "nin": lambda held, asked: held not in asked,
    "contains": lambda held, asked: _contains(held, asked, str),
    "icontains": lambda held, asked: _contains(held, asked, lambda value: str(value).casefold()),
}
_NEGATIVE = frozenset({"ne", "nin"})
"""Tests that a memory without the field meets."""


def _contains(held: Any, asked: Any, form: Callable[[Any], str]) -> bool:
    if isinstance(held, list | tuple):
        return form(asked) in map(form, held)
    return form(asked) in form(held)


def _check(conditions: Mapping[str, Any]) -> None:
    for name, value in conditions.items():
        if name in ("AND", "OR", "NOT"):
            if not isinstance(value, list) or (name != "AND" and not value):
                empty = "" if name == "AND" else "non-empty "
                raise InvalidRequest(f"{name} operator requires a {empty}list of conditions")
            for part in value:
                if not isinstance(part, Mapping):
                    raise InvalidRequest(f"{name} operator requires a list of conditions")
                _check(part)
        elif isinstance(value, Mapping):
            for operator, asked in value.items():
                if operator not in _TESTS:
                    raise InvalidRequest(f"Unsupported metadata filter operator: {operator}")
                if operator in ("in", "nin") and not isinstance(asked, list | tuple | set):
                    raise InvalidRequest(f"{operator} requires a list of values")


def _meets(conditions: Mapping[str, Any], payload: Mapping[str, Any]) -> bool:
    return all(_is_met(name, value, payload) for name, value in conditions.items())


def _is_met(name: str, value: Any, payload: Mapping[str, Any]) -> bool:
    if name == "AND":
        return all(_meets(part, payload) for part in value)
    if name == "OR":
        return any(_meets(part, payload) for part in value)
    if name == "NOT":
        return not any(_meets(part, payload) for part in value)
    held = payload.get(name)
    if not isinstance(value, Mapping):
        return held is not None if value == "*" else held == value
    return all(
        operator in _NEGATIVE if held is None else _TESTS[operator](held, asked) for operator, asked in value.items()
    )
