"""From a ``Filter`` to the conditions of a query. Each field that is given adds one condition of ``read.sql``."""

from __future__ import annotations

import json
import math

from longmind.store.postgres.binary import texts, uuids
from longmind.store.postgres.ids import well_formed
from longmind.store.postgres.queries import queries, together
from longmind.store.refusals import storable
from longmind.types import Filter, Json, Scalar, Scope

_read = queries("read.sql")
_LISTS = ("kinds", "states", "sessions", "users", "keys", "tags_any", "tags_all", "roles", "speakers")
_VALUES = ("since", "until", "recorded_since", "recorded_until", "valid_at", "min_importance", "min_trust")


def narrowed(beginning: str, scope: Scope, where: Filter) -> tuple[bytes, Json] | None:
    """A query of ``read.sql`` narrowed to what a scope sees and a filter asks for. None: nothing can match."""
    parts = [_read[beginning]]
    params: Json = {"tenant": scope.tenant, "agent": scope.agent}
    if scope.user is not None:
        parts.append(_read["and_seen"])
        params["user"] = scope.user
    if where.ids is not None:
        parts.append(_read["and_ids"])
        params["ids"] = uuids(well_formed(where.ids))
    for name in _LISTS:
        if (given := getattr(where, name)) is not None:
            parts.append(_read[f"and_{name}"])
            params[name] = list(given)
    for name in _VALUES:
        if (given := getattr(where, name)) is not None:
            parts.append(_read[f"and_{name}"])
            params[name] = given
    if where.metadata:
        if not all(storable(key) and _storable_value(value) for key, value in where.metadata.items()):
            return None
        parts.append(_read["and_metadata"])
        params["metadata_keys"] = texts(where.metadata)
        params["metadata_values"] = texts(json.dumps(value) for value in where.metadata.values())
    return together(*parts), params


def _storable_value(value: Scalar) -> bool:
    if isinstance(value, str):
        return storable(value)
    return not isinstance(value, float) or math.isfinite(value)
