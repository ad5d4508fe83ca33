"""What a step returned and what went wrong, made small enough to keep in a plan.

A tool may return ten megabytes, or something that is not JSON. The plan keeps the beginning and says how much is
missing; a result is never a reason to lose the fact that the step was done.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from longmind.errors import InvalidInput
from longmind.systems.goals.models import MAX_RESULT, Evidence
from longmind.systems.procedural import to_plain_json
from longmind.systems.scoped_store import validated

MAX_EVIDENCE = 20
"""Pieces of evidence kept for one criterion; the oldest leave first."""
_MARK = " … [{} characters more]"
_ID_LENGTH = 36
Given = str | Evidence | Mapping[str, Any] | Sequence[str | Evidence | Mapping[str, Any]] | None
"""Evidence as a caller gives it: the id of a memory, a note, or several of these."""


def bounded(value: Any, limit: int = MAX_RESULT) -> Any:
    """The value itself if it is plain JSON and short enough, else the beginning of it as text, marked as cut."""
    if isinstance(value, str):
        return cut(value, limit)
    told = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    try:
        text = json.dumps(told, ensure_ascii=False, allow_nan=False)
        if len(text) <= limit:
            nested = to_plain_json({"step": {"result": {"value": json.loads(text)}}}, "A result")
            return nested["step"]["result"]["value"]
    except (TypeError, ValueError, RecursionError, InvalidInput):
        return cut(_told(told), limit)
    return cut(text, limit)


def cut(text: str, limit: int = MAX_RESULT) -> str:
    """A text that can be stored, at most this long; what was cut off is counted at its end."""
    if len(text) > limit:
        kept = limit - len(_MARK.format(len(text)))
        text = text[:kept] + _MARK.format(len(text) - kept)
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def evidence_of(given: Given, at: datetime, *, step: str | None = None) -> tuple[Evidence, ...]:
    """Evidence from what was given. A text that is an id names a memory; any other is a note."""
    if given is None:
        return ()
    several = [given] if isinstance(given, str | Evidence | Mapping) else list(given)
    if len(several) > MAX_EVIDENCE:
        raise InvalidInput(
            f"{len(several)} pieces of evidence are too many at once.", hint=f"Give at most {MAX_EVIDENCE}."
        )
    return tuple(_evidence(one, at, step) for one in several)


def _evidence(given: str | Evidence | Mapping[str, Any], at: datetime, step: str | None) -> Evidence:
    if isinstance(given, Evidence):
        return given
    told: dict[str, Any] = {"at": at, "step": step}
    if isinstance(given, Mapping):
        return validated(Evidence, {**told, **given})
    if not given.strip():
        raise InvalidInput("An empty text is no evidence.", hint="Say what shows it, or name a memory by its id.")
    if len(given) == _ID_LENGTH and given.count("-") == 4:
        return validated(Evidence, {**told, "memory": given})
    return validated(Evidence, {**told, "note": cut(given)})


def note_of(result: Any) -> str:
    """A result as a note of evidence."""
    if result is None:
        return ""
    return cut(result if isinstance(result, str) else json.dumps(result, ensure_ascii=False), 500)


def _told(value: Any) -> str:
    """An object as text, also when its own ``repr`` fails: what a tool returned is not ours."""
    try:
        return repr(value)
    except Exception as error:
        return f"<{type(value).__name__} that cannot be shown: {type(error).__name__}>"
