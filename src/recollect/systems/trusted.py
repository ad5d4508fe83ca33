"""Records made of what was validated before, without validating it again.

What a memory system makes of stored records is valid by construction: the ids are those of memories, the texts were
checked when they were remembered. Checking them again would be most of the cost of making them. Nothing that comes from
a caller may be made this way.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from recollect.types import Link, Model

M = TypeVar("M", bound=Model)
_set = object.__setattr__


@cache
def _names(model: type[Model]) -> set[str]:
    """The names of a model's fields, one set for all of its records: it is read and never changed."""
    return set(model.model_fields)


def made(model: type[M], fields: dict[str, Any]) -> M:
    """A record with exactly these fields: all that the model has."""
    new = model.__new__(model)
    _set(new, "__dict__", fields)
    _set(new, "__pydantic_fields_set__", _names(model))
    _set(new, "__pydantic_extra__", None)
    _set(new, "__pydantic_private__", None)
    return new


def changed(record: M, **fields: Any) -> M:
    """A record like another, with these fields instead."""
    return made(type(record), {**record.__dict__, **fields})


def link(source: str, relation: str, target: str) -> Link:
    """A plain link between two memories."""
    fields = {"source": source, "relation": relation, "target": target, "weight": 1.0}
    return made(Link, {**fields, "valid_from": None, "valid_to": None, "metadata": {}})
