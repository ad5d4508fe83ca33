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


async def memory_id(mem: AgentMemory, text: str, *, forgotten: bool = False) -> str:
    """The id of the memory that is meant; with ``forgotten`` also of one that only the journal knows."""
    text = text.strip().lower()
    if len(text) == _FULL:
        return text
    _long_enough(text, "ID")
    held = await mem.store.backend.matching(mem.scope, Filter(states=None))
    matches = _named(text, held)
    if not matches and forgotten:
        matches = _named(text, [change.memory_id for change in await _changes(mem)])
    return _only(matches, text, "memory")


async def memory_ids(mem: AgentMemory, texts: Iterable[str]) -> list[str]:
    """The ids of several memories, each once, in order."""
    return list(dict.fromkeys([await memory_id(mem, text) for text in texts]))


async def operation_id(mem: AgentMemory, text: str) -> str:
    """The id of the operation that is meant; one that a caller chose is taken as it is."""
    text = text.strip()
    if len(text) == _FULL or await mem.store.journal(mem.scope, operation=text, limit=1):
        return text
    _long_enough(text, "OPERATION")
    return _only(_named(text.lower(), [change.operation for change in await _changes(mem)]), text, "operation")


async def _changes(mem: AgentMemory) -> list[Change]:
    from longmind.store.journal import changes

    return [change async for change in changes(mem.store.backend, mem.scope)]


def _long_enough(text: str, what: str) -> None:
    if len(text) < SHORT:
        raise typer.BadParameter(f"{text!r} is too short: give at least {SHORT} characters.", param_hint=what)


def _named(text: str, ids: Iterable[str]) -> list[str]:
    return sorted({id for id in ids if id.startswith(text) or id.endswith(text)})


def _only(matches: list[str], text: str, what: str) -> str:
    if not matches:
        raise NotFound(f"There is no {what} {plain(text)} here.", hint=_WHERE[what])
    if len(matches) > 1:
        more = f" and {len(matches) - _SHOWN} more" if len(matches) > _SHOWN else ""
        raise InvalidInput(
            f"{text} could be any of {', '.join(matches[:_SHOWN])}{more}.",
            hint="Give more of it, or its last 8 characters.",
            ids=matches[:_SHOWN],
        )
    return matches[0]
