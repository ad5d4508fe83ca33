"""Options that several commands share, and the filter they make together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any

import typer

from longmind.clock import as_utc
from longmind.errors import InvalidInput
from longmind.types import STATES, Filter


def moment(text: str | datetime) -> datetime:
    """A date or a date and time, ISO 8601; without a zone it is UTC."""
    if isinstance(text, datetime):
        return text
    try:
        return as_utc(datetime.fromisoformat(text))
    except (ValueError, InvalidInput) as error:
        raise typer.BadParameter(f"{text!r} is not a date: write 2026-05-31 or 2026-05-31T18:30+02:00.") from error


_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment_or_duration(text: str | datetime | timedelta) -> datetime | timedelta:
    """A date, a date and time, or how long from now: 30m, 12h, 7d, 2w."""
    if not isinstance(text, str):
        return text
    if duration := _DURATION.fullmatch(text.strip().lower()):
        try:
            return timedelta(**{_UNITS[duration[2]]: float(duration[1])})
        except OverflowError as error:
            raise typer.BadParameter(f"{text!r} is too long.") from error
    try:
        return moment(text)
    except typer.BadParameter:
        raise typer.BadParameter(f"{text!r} is no date and no duration: write 2026-05-31, 30m, 12h or 7d.") from None


def metadata_of(pairs: Sequence[str]) -> dict[str, Any]:
    """``key=value`` pairs. A value that is JSON (a number, true, "text") is that; anything else is text."""
    import json

    metadata: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"{pair!r} is not key=value.", param_hint="--meta")
        try:
            metadata[key] = json.loads(value)
        except json.JSONDecodeError:
            metadata[key] = value
    return metadata


_COMPARISON = re.compile(r"^([^<>=]+)(<=|>=|<|>)(.*)$", re.DOTALL)
_COMPARISONS = {"<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}


def metadata_filter_of(pairs: Sequence[str]) -> dict[str, Any]:
    """Return what metadata must equal, or the range it must be in: ``key=value``, ``key>=value``, ``key<value``."""
    wanted: dict[str, Any] = {}
    for pair in pairs:
        compared = _COMPARISON.match(pair)
        if compared is None:
            wanted.update(metadata_of([pair]))
            continue
        key, comparison, _ = compared.groups()
        bound = metadata_of([f"{key}={compared[3]}"])[key]
        before = wanted.get(key)
        wanted[key] = {**(before if isinstance(before, dict) else {}), _COMPARISONS[comparison]: bound}
    return wanted


Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="Only this kind, such as message or document; may repeat."),
]
Session = Annotated[str | None, typer.Option("--session", "-s", help="Only this session.")]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", "-t", help="Only with this tag; may repeat, any of them counts.")
]
Names = Annotated[list[str] | None, typer.Option("--name", "-n", help="Only what this person said; may repeat.")]
Metas = Annotated[
    list[str] | None,
    typer.Option(
        "--meta",
        "-m",
        metavar="KEY=VALUE",
        help="Only where the metadata says this; KEY>=VALUE and KEY<VALUE are ranges; may repeat.",
    ),
]
Since = Annotated[
    datetime | None, typer.Option(parser=moment, metavar="WHEN", help="Only what happened at or after this moment.")
]
Until = Annotated[
    datetime | None, typer.Option(parser=moment, metavar="WHEN", help="Only what happened before this moment.")
]
States = Annotated[
    list[str] | None,
    typer.Option(
        "--state",
        metavar="STATE",
        help="active, archived, superseded, stale, quarantined, or any; may repeat. By default all but archived and "
        "quarantined.",
    ),
]


Expired = Annotated[bool, typer.Option("--expired", help="Only what has expired; by default what has not.")]


def filter_of(
    *,
    kinds: Sequence[str] | None = None,
    session: str | None = None,
    tags: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    metas: Sequence[str] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    states: Sequence[str] | None = None,
    expired: bool = False,
) -> Filter:
    """The filter that the options describe."""
    from longmind.recall.filters import filter_of

    fields: dict[str, Any] = {
        "kinds": kinds or None,
        "sessions": (session,) if session else None,
        "tags_any": tags or None,
        "speakers": names or None,
        "metadata": metadata_filter_of(metas) if metas else None,
        "since": since,
        "until": until,
    }
    if expired:
        fields["expired"] = True
    if unknown := sorted(set(states or ()) - {*STATES, "any"}):
        raise typer.BadParameter(f"{unknown[0]!r} is no state.", param_hint="--state")
    if states:
        fields["states"] = None if "any" in states else tuple(states)
    if since and until and until <= since:
        raise InvalidInput("--until is not after --since, so nothing can match.")
    return filter_of(fields)
