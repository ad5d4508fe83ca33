"""Settings of a memory system, stored with the agent: validated, kept for good, and with a history in the journal.

Only what was changed is stored, so a better default of a later release reaches every agent that never chose otherwise.
The settings are the agent's, whoever the user is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from pydantic import ValidationError

from longmind.errors import InvalidSetting
from longmind.store.base import Put, Update
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict
from longmind.types import Memory, Model, Source

KIND = "configuration"
S = TypeVar("S", bound=Model)


async def configuration(scoped: ScopedStore, name: str, base: S) -> S:
    """The settings of a system as they are now: ``base`` with what was changed."""
    record = await _record(scoped, name)
    return base if record is None else changed(base, record.body)


async def configure(scoped: ScopedStore, name: str, base: S, changes: Mapping[str, object]) -> S:
    """Change settings for good; what is not usable is ``InvalidSetting`` and changes nothing."""
    whole = _whole(scoped)

    async def change() -> S:
        record = await _record(scoped, name)
        told = dict(record.body if record else {}) | dict(changes)
        settings = changed(base, told)
        body = settings.model_dump(mode="json", include=set(told))
        if record is not None:
            await whole.write([Update(record.id, {"body": body}, record.version)], reason=f"configure {name}")
        elif body:
            made = whole.new(KIND, "", key=_key(name), body=body, source=Source(role="system"), trust=1.0)
            await whole.write([Put(made, existing="fail")], reason=f"configure {name}")
        return settings

    return await retry_on_conflict(change)


def changed(settings: S, changes: Mapping[str, object]) -> S:
    """Settings with some of them changed, validated."""
    known = type(settings).model_fields
    if unknown := sorted(set(changes) - set(known)):
        raise InvalidSetting(
            f"There is no such setting: {', '.join(unknown)}.", hint=f"There are: {', '.join(sorted(known))}."
        )
    try:
        return type(settings).model_validate(settings.model_dump() | dict(changes))
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, problem["loc"])) or type(settings).__name__
        raise InvalidSetting(f"The setting {where} is not usable: {problem['msg']}.") from error


async def _record(scoped: ScopedStore, name: str) -> Memory | None:
    whole = _whole(scoped)
    found = await whole.store.by_key(whole.scope, _key(name))
    return found if found is not None and found.user is None else None


def _whole(scoped: ScopedStore) -> ScopedStore:
    return replace(scoped, scope=scoped.scope.model_copy(update={"user": None}))


def _key(name: str) -> str:
    return f"configuration:{name}"
