"""What an update makes of a memory, and what it replaced."""

from __future__ import annotations

import json
from collections.abc import Iterable

from pydantic import ValidationError

from longmind.store import refusals
from longmind.types import UPDATABLE, Json, Memory


def changed(old: Memory, changes: Json) -> Memory:
    """A memory with some fields changed, validated as a whole; its version is not."""
    if unknown := sorted(set(changes) - UPDATABLE):
        raise refusals.unchangeable(unknown)
    try:
        return Memory.model_validate({**old.__dict__, **changes})
    except ValidationError as error:
        raise refusals.invalid("The memory as changed", error) from error


def replaced(old: Memory, new: Memory, names: Iterable[str]) -> Json:
    """The old values of those of these fields that differ, as the journal keeps them."""
    asked = set(names)
    were, are = old.model_dump(mode="json", include=asked), new.model_dump(mode="json", include=asked)
    return {name: value for name, value in were.items() if _text(value) != _text(are[name])}


def _text(value: object) -> str:
    """Compared as JSON text, which tells true from 1 and 1 from 1.0 where Python's equality does not."""
    return json.dumps(value, sort_keys=True)
