"""Naming a memory or an operation by a part of its id.

A full id is taken as it is. Otherwise eight or more characters of its beginning, or of its end, must name one thing
only. Both ends count, because ids begin with the time: what was remembered together begins alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from longmind.cli.screen import SHORT, plain
from longmind.errors import InvalidInput, NotFound
from longmind.types import Filter

if TYPE_CHECKING:
    from longmind.memory import AgentMemory
    from longmind.types import Change

_FULL = 36
_SHOWN = 5
_WHERE = {
    "memory": "`longmind list` shows what there is.",
    "operation": "`longmind history ID` tells them, in its last column; an agent's are found with its --agent.",
}


async def memory_id(mem: AgentMemory, given: str, *, forgotten: bool = False) -> str:
    """The id of the memory that is meant; with ``forgotten`` also of one that only the journal knows."""
    given = given.strip().lower()
    if len(given) == _FULL:
        return given
    _long_enough(given, "ID")
    held = await mem.store.backend.matching(mem.scope, Filter(states=None))
    found = _named(given, held)
    if not found and forgotten:
        found = _named(given, [change.memory_id for change in await _changes(mem)])
    return _only(found, given, "memory")


async def memory_ids(mem: AgentMemory, given: Iterable[str]) -> list[str]:
    """The ids of several memories, each once, in order."""
    return list(dict.fromkeys([await memory_id(mem, one) for one in given]))


async def operation_id(mem: AgentMemory, given: str) -> str:
    """The id of the operation that is meant; one that a caller chose is taken as it is."""
    given = given.strip()
    if len(given) == _FULL or await mem.store.journal(mem.scope, operation=given, limit=1):
        return given
    _long_enough(given, "OPERATION")
    return _only(_named(given.lower(), [change.operation for change in await _changes(mem)]), given, "operation")


async def _changes(mem: AgentMemory) -> list[Change]:
    from longmind.store.journal import changes

    return [change async for change in changes(mem.store.backend, mem.scope)]


def _long_enough(given: str, what: str) -> None:
    if len(given) < SHORT:
        raise typer.BadParameter(f"{given!r} is too short: give at least {SHORT} characters.", param_hint=what)


def _named(given: str, ids: Iterable[str]) -> list[str]:
    return sorted({id for id in ids if id.startswith(given) or id.endswith(given)})


def _only(found: list[str], given: str, what: str) -> str:
    if not found:
        raise NotFound(f"There is no {what} {plain(given)} here.", hint=_WHERE[what])
    if len(found) > 1:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise InvalidInput(
            f"{given} could be any of {', '.join(found[:_SHOWN])}{more}.",
            hint="Give more of it, or its last 8 characters.",
            ids=found[:_SHOWN],
        )
    return found[0]
