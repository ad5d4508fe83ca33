"""Settings of a memory system, stored with the agent, validated, and with a history in the journal.

There are three layers: the default of the release, the default of the process (``Settings.defaults``, mostly from the
environment), and what the agent has configured. Only the last is stored, so a better default reaches every agent that
did not change it. The settings belong to the agent, whoever the user is.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TypeVar

from pydantic import JsonValue, RootModel, ValidationError

from longmind.config import variable_of
from longmind.errors import InvalidSetting
from longmind.problems import first_problem
from longmind.systems.records import KeyedRecord
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Model

S = TypeVar("S", bound=Model)


_CLASSES = {
    "agent": "longmind.config:AgentSettings",
    "working": "longmind.systems.working:WorkingLimits",
    "dialogue": "longmind.systems.dialogue:DialogueSettings",
    "persona": "longmind.systems.persona:PersonaSettings",
    "shared": "longmind.systems.shared:SharedSettings",
    "goal monitoring": "longmind.systems.goals:MonitorSettings",
    "goal revision": "longmind.systems.goals:RevisionSettings",
}
"""Where the settings of each memory system are defined."""


class Choices(RootModel[dict[str, JsonValue]]):
    """The settings of a system that were changed, by name."""


async def configuration(scoped: ScopedStore, name: str, base: S) -> S:
    """Return the current settings of a system: ``base`` with the defaults of the process and the stored changes."""
    base = with_defaults(scoped, name, base)
    chosen = (await _record(scoped, name).read()).root
    return changed(base, chosen) if chosen else base


async def configure(scoped: ScopedStore, name: str, base: S, changes: Mapping[str, object]) -> S:
    """Change settings permanently and return them; an invalid one is ``InvalidSetting`` and changes nothing."""

    base = with_defaults(scoped, name, base)

    def merge(before: Choices) -> Choices:
        chosen = {**before.root, **changes}
        return Choices(changed(base, chosen).model_dump(mode="json", include=set(chosen)))

    chosen = await _record(scoped, name).change(merge, f"configure {name}")
    return changed(base, chosen.root)


def with_defaults(scoped: ScopedStore, name: str, base: S) -> S:
    """Return the settings of a system with the defaults of the process."""
    defaults = scoped.store.defaults.get(name)
    return changed(base, defaults) if defaults else base


def check_defaults(defaults: Mapping[str, Mapping[str, object]]) -> None:
    """Raise ``InvalidSetting`` for a default of the process that no memory system has, or that is not usable."""
    for name, chosen in defaults.items():
        if name not in _CLASSES:
            raise InvalidSetting(f"No memory system {name!r} has settings.", hint=f"There are: {', '.join(_CLASSES)}.")
        try:
            changed(settings_class(name)(), chosen)
        except InvalidSetting as error:
            variables = ", ".join(variable_of(name, setting) for setting in chosen)
            raise InvalidSetting(error.message, hint=f"It is a default of the process: see {variables}.") from None


def settings_class(name: str) -> type[Model]:
    """Return the class of a memory system's settings, imported when it is asked for."""
    module, _, attribute = _CLASSES[name].partition(":")
    settings: type[Model] = getattr(import_module(module), attribute)
    return settings


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
