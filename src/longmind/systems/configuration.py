"""Settings of a memory system, stored with the agent, validated, and with a history in the journal.

Only changed settings are stored, so a better default of a later release reaches every agent that did not change it. The
settings belong to the agent, whoever the user is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import JsonValue, RootModel, ValidationError

from longmind.errors import InvalidSetting
from longmind.problems import first_problem
from longmind.systems.records import KeyedRecord
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Model

S = TypeVar("S", bound=Model)


class Choices(RootModel[dict[str, JsonValue]]):
    """The settings of a system that were changed, by name."""


async def configuration(scoped: ScopedStore, name: str, base: S) -> S:
    """Return the current settings of a system: ``base`` with the stored changes."""
    chosen = (await _record(scoped, name).read()).root
    return changed(base, chosen) if chosen else base


async def configure(scoped: ScopedStore, name: str, base: S, changes: Mapping[str, object]) -> S:
    """Change settings permanently and return them; an invalid one is ``InvalidSetting`` and changes nothing."""

    def merge(before: Choices) -> Choices:
        chosen = {**before.root, **changes}
        return Choices(changed(base, chosen).model_dump(mode="json", include=set(chosen)))

    chosen = await _record(scoped, name).change(merge, f"configure {name}")
    return changed(base, chosen.root)


def changed(settings: S, changes: Mapping[str, object]) -> S:
    """Return the settings with some of them changed, validated."""
    known = type(settings).model_fields
    if unknown := sorted(set(changes) - set(known)):
        raise InvalidSetting(
            f"There is no such setting: {', '.join(unknown)}.", hint=f"There are: {', '.join(sorted(known))}."
        )
    try:
        return type(settings).model_validate(settings.model_dump() | dict(changes))
    except ValidationError as error:
        where, reason = first_problem(error)
        where = where or type(settings).__name__
        raise InvalidSetting(f"The setting {where} is not usable: {reason}.") from None


def _record(scoped: ScopedStore, name: str) -> KeyedRecord[Choices]:
    return KeyedRecord.of_agent(scoped, f"configuration:{name}", Choices({}))
