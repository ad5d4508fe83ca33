"""Build records from data that was already validated, without validating it again.

What a memory system derives from stored records is valid: the ids are those of memories, and the texts were checked
when they were remembered. Validating again would be most of the cost. Never build records from a caller's input this
way.
"""

from __future__ import annotations

from typing import Any, TypeVar

from longmind.types import Link, Model, construct_unvalidated

M = TypeVar("M", bound=Model)


def copy_unvalidated(record: M, **fields: Any) -> M:
    """Return a copy of a record with these fields replaced."""
    return construct_unvalidated(type(record), {**record.__dict__, **fields})


def link_unvalidated(source: str, relation: str, target: str) -> Link:
    """Return a plain link between two memories."""
    fields = {"source": source, "relation": relation, "target": target, "weight": 1.0}
    return construct_unvalidated(Link, {**fields, "valid_from": None, "valid_to": None, "metadata": {}})
