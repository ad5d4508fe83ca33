"""The systems under their names: what a memory system must offer, who is registered, and asking them safely.

A question that a built-in system cannot answer fails: then the store itself is at fault. A system of the user's that
fails, hangs or answers with something else is reported next to what the others answered.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

from longmind.errors import Conflict, InvalidInput, NotFound
from longmind.manager.models import SystemFailure
from longmind.systems.scoped_store import validated
from longmind.types import Hit, Model, Name

Names = str | Iterable[str]
_VERBS = ("store", "retrieve", "search")


@runtime_checkable
class MemorySystem(Protocol):
    """A memory system of yours. Each verb may be ``async`` or plain; a plain one is called in a thread."""

    @property
    def name(self) -> str: ...

    def store(self, data: Any) -> object:
        """Keep something, and say what became of it."""

    def retrieve(self, key: str) -> object | None:
        """What is kept under a key, or None."""

    def search(self, query: str, k: int) -> Awaitable[Sequence[Hit]] | Sequence[Hit]:
        """At most k hits, the best first, with scores from 0 to 1."""


@runtime_checkable
class RecordSystem(Protocol):
    """A system whose memories are records of this store, of these kinds.

    Recall finds them anyway, by the policies and on one scale, so it is asked instead of the system's own ``search``.
    """

    @property
    def kinds(self) -> Sequence[str]: ...


@runtime_checkable
class SelectiveSystem(Protocol):
    """A system that does not take everything that is stored without naming a system."""

    def takes(self, data: Any) -> bool: ...


class _Named(Model):
    name: Name


class SystemRegistry:
    """Systems by name."""

    def __init__(self, built_in: Iterable[MemorySystem], *, timeout: float) -> None:
        self._systems: dict[str, MemorySystem] = {system.name: system for system in built_in}
        self._built_in = frozenset(self._systems)
        self._timeout = timeout

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._systems)

    def add(self, system: MemorySystem) -> None:
        """Register a system; a name is given once."""
        missing = [verb for verb in _VERBS if not callable(getattr(system, verb, None))]
        if missing or not isinstance(getattr(system, "name", None), str):
            raise InvalidInput(
                f"{type(system).__name__} is no memory system: it lacks {', '.join(missing) or 'a name'}.",
                hint="It needs a name, store(data), retrieve(key) and search(query, k).",
            )
        name = validated(_Named, {"name": system.name}).name
        if name in self._systems:
            hint = "Give yours another name." if name in self._built_in else "Unregister the other one first."
            raise Conflict(f"There is a memory system {name!r} already.", hint=hint)
        taken = {kind: other for other in self._systems for kind in self.kinds(other)}
        for kind in system.kinds if isinstance(system, RecordSystem) else ():
            if kind in taken:
                raise Conflict(
                    f"Memories of the kind {kind!r} belong to {taken[kind]!r}.", hint="Use a kind of your own."
                )
        self._systems[name] = system

    def remove(self, name: str) -> None:
        """Forget a system that was registered; what it holds is its own affair."""
        self.get(name)
        if name in self._built_in:
            raise InvalidInput(f"{name!r} is built in and stays.", hint="Leave it out by naming the systems to ask.")
        del self._systems[name]

    def get(self, name: str) -> MemorySystem:
        """The system of a name."""
        if name not in self._systems:
            raise NotFound(f"There is no memory system {name!r}.", hint=f"There are: {', '.join(self._systems)}.")
        return self._systems[name]

    def chosen(self, names: Names | None) -> tuple[str, ...]:
        """The systems that are meant: all, or those named, each once; an unknown name is an error."""
        if names is None:
            return self.names
        chosen_names = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
        if not chosen_names:
            raise InvalidInput("No memory system is named.", hint=f"There are: {', '.join(self._systems)}.")
        for name in chosen_names:
            self.get(name)
        return chosen_names

    def takers(self, data: Any) -> tuple[str, ...]:
        """The systems that take some data when none is named: those whose ``takes`` says so, or that have none."""
        names = tuple(name for name, system in self._systems.items() if _takes(system, data))
        if not names:
            raise InvalidInput("No memory system takes this.", hint=f"Name one of: {', '.join(self._systems)}.")
        return names

    def kinds(self, name: str) -> tuple[str, ...]:
        """The kinds of memory a system keeps in this store; none for one that keeps its memories elsewhere."""
        system = self._systems[name]
        return tuple(system.kinds) if isinstance(system, RecordSystem) else ()

    def built_in(self, name: str) -> bool:
        return name in self._built_in

    async def ask(self, name: str, verb: str, *args: Any) -> Any:
        """Call a verb of a system, whichever way it is written. One of the user's has only so much time."""
        method = getattr(self._systems[name], verb)
        if name in self._built_in:
            return await method(*args)
        try:
            async with asyncio.timeout(self._timeout) as limit:
                return await _called(method, *args)
        except TimeoutError as error:
            if limit.expired():
                raise TimeoutError(f"The memory system {name!r} took longer than {self._timeout:g} seconds.") from error
            raise

    async def ask_all(
        self, names: Sequence[str], verb: str, *args: Any, report_all: bool = False
    ) -> tuple[dict[str, Any], tuple[SystemFailure, ...]]:
        """Call a verb of several systems side by side: what each answered, and which of them failed.

        With ``report_all`` the errors of built-in systems are reported too, so that one never hides what others did.
        """
        answers = await asyncio.gather(*(self.ask(name, verb, *args) for name in names), return_exceptions=True)
        by_system: dict[str, Any] = {}
        failed: list[SystemFailure] = []
        for name, answer in zip(names, answers, strict=True):
            if isinstance(answer, Exception) and (report_all or name not in self._built_in):
                failed.append(SystemFailure.of(name, answer))
            elif isinstance(answer, BaseException):
                raise answer
            else:
                by_system[name] = answer
        return by_system, tuple(failed)


def _takes(system: MemorySystem, data: Any) -> bool:
    return bool(system.takes(data)) if isinstance(system, SelectiveSystem) else True


async def _called(method: Callable[..., Any], *args: Any) -> Any:
    answer = method(*args) if inspect.iscoroutinefunction(method) else await asyncio.to_thread(method, *args)
    return await answer if inspect.isawaitable(answer) else answer


def hits_of(answer: Any, k: int) -> list[Hit]:
    """The hits a system answered with, if that is what it answered with."""
    hits = list(answer) if isinstance(answer, list | tuple) else None
    if hits is None or not all(isinstance(hit, Hit) for hit in hits):
        raise InvalidInput(
            "Its search answered with something other than a list of hits.",
            hint="Return longmind.Hit objects: a memory, a score from 0 to 1, and why.",
        )
    return hits[:k]
