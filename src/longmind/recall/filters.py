"""Build one filter from the arguments of a recall, with an allow-list of keys and clear errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from longmind.errors import InvalidInput
from longmind.problems import first_problem
from longmind.types import Filter

NOT_NARROWED = Filter()
"""The filter of a question without restrictions."""


def filter_of(
    where: Filter | Mapping[str, Any] | None,
    *,
    kinds: Sequence[str] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    session: str | None = None,
    valid_at: datetime | None = None,
    recorded_until: datetime | None = None,
) -> Filter:
    """Return the filter that combines all arguments; each narrows the others."""
    if all(value is None for value in (where, kinds, since, until, session, valid_at, recorded_until)):
        return NOT_NARROWED
    fields: dict[str, Any] = where.model_dump(exclude_unset=True) if isinstance(where, Filter) else _checked(where)
    listed = {
        "kinds": None if kinds is None else _texts("kinds", kinds),
        "sessions": None if session is None else (session,),
    }
    for name, values in listed.items():
        if values is not None:
            before = fields.get(name)
            fields[name] = values if before is None else tuple(v for v in values if v in tuple(before))
    moments = {"since": since, "until": until, "valid_at": valid_at, "recorded_until": recorded_until}
    for name, moment in moments.items():
        if moment is not None:
            if fields.get(name) not in (None, moment):
                raise InvalidInput(f"{name} is given twice, in the filter and beside it.", hint="Give it once.")
            fields[name] = moment
    try:
        return Filter.model_validate(fields)
    except ValidationError as error:
        raise unusable_filter(*first_problem(error)) from None


def unusable_filter(field: str, reason: str) -> InvalidInput:
    """Return the error for a field of a filter that holds something else than it may."""
    return InvalidInput(
        f"The filter is not usable: {field}: {reason}.",
        hint=f"It may have: {', '.join(sorted(Filter.model_fields))}.",
        field=field,
    )


def unknown_fields(names: Iterable[str]) -> InvalidInput:
    """Return the error for fields that no filter has."""
    return InvalidInput(
        f"A filter has no {', '.join(sorted(names))}.",
        hint=f"It may have: {', '.join(sorted(Filter.model_fields))}. Your own keys go under metadata.",
    )


def narrows(where: Filter) -> bool:
    """Return whether a filter restricts anything. An explicit ``states`` counts even if it is None.

    That expired memories are left out is no restriction; that only they are meant is one.
    """
    explicit = {name: getattr(where, name) for name in where.model_fields_set - {"expired", "expired_at"}}
    return (
        "states" in explicit
        or where.expired is True
        or any(value is not None and value != {} for value in explicit.values())
    )


def _checked(where: Mapping[str, Any] | None) -> dict[str, Any]:
    if where is not None and not isinstance(where, Mapping):
        raise InvalidInput(f"where must be a Filter or a mapping, not {type(where).__name__}.")
    fields = dict(where or {})
    if unknown := {str(key) for key in set(fields) - set(Filter.model_fields)}:
        raise unknown_fields(unknown)
    return fields


def _texts(name: str, values: Sequence[str]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise InvalidInput(f"{name} must be a list of texts, not one text.", hint=f"Write {name}=[{values!r}].")
    return tuple(values)
