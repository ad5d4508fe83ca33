"""The remote classes, made from the faces and the table of operations."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import cache
from typing import Any

from longmind.arguments import checked_call
from longmind.client.connection import Connection
from longmind.errors import InvalidInput, Unsupported
from longmind.operations import Face, Operation, operations_of

BUILT_ON_OTHERS = frozenset({"EpisodicMemory.episode"})
"""Methods that only call other methods of their class, so they work from afar as they are."""
Binding = Mapping[str, Any]


class Remote:
    """The base of the remote classes: the connection, and what locates the object on the server."""

    def __init__(self, connection: Connection, binding: Binding) -> None:
        self._connection = connection
        self._binding = binding

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {self._connection.url}>"


@cache
def remote_class(face: Face) -> type[Remote]:
    """Return the class that stands for a face from afar."""
    members: dict[str, Any] = {"__doc__": face.cls.__doc__}
    for name in dir(face.cls):
        member = inspect.getattr_static(face.cls, name)
        if name.startswith("_") or isinstance(member, classmethod):
            continue
        if f"{face.cls.__name__}.{name}" in BUILT_ON_OTHERS:
            continue
        if inspect.isfunction(member):
            offered = operations_of(face.cls, name)
            members[name] = remote_method(member, offered) if offered else _unsupported(member)
        else:
            members[name] = property(functools.partial(_no_property, face.cls.__name__, name))
    return type(f"Remote{face.cls.__name__}", (Remote, face.cls), members)


def remote_method(method: Callable[..., Any], operations: Sequence[Operation]) -> Callable[..., Any]:
    """Return a method that calls the server instead."""
    signature = inspect.signature(method)

    def chosen(self: Remote, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Operation, dict[str, Any]]:
        given = _given(signature.bind(self, *args, **kwargs))
        operation = _operation_for(operations, given, method.__qualname__)
        for name, encode in operation.encode.items():
            if name in given:
                given[name] = encode(given[name])
        return operation, given

    if operations[0].streams:

        @functools.wraps(method)
        def stream(self: Remote, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            operation, arguments = chosen(self, args, kwargs)
            return self._connection.stream(operation, self._binding, arguments)

        return checked_call(method, stream)

    @functools.wraps(method)
    async def call(self: Remote, *args: Any, **kwargs: Any) -> Any:
        progress = kwargs.pop(operations[0].progress_parameter, None) if operations[0].progress else None
        operation, arguments = chosen(self, args, kwargs)
        if progress is not None:
            return await self._connection.follow(operation, self._binding, arguments, progress)
        return await self._connection.call(operation, self._binding, arguments)

    return checked_call(method, call)


def _given(bound: inspect.BoundArguments) -> dict[str, Any]:
    """Return the arguments that differ from their defaults, by name; ``**changes`` one by one."""
    given: dict[str, Any] = {}
    parameters = list(bound.signature.parameters.values())[1:]
    for parameter in parameters:
        if parameter.name not in bound.arguments:
            continue
        value = bound.arguments[parameter.name]
        if parameter.kind is parameter.VAR_KEYWORD:
            given |= value
        elif parameter.default is parameter.empty or value is not parameter.default:
            given[parameter.name] = value
    return given


def _operation_for(operations: Sequence[Operation], given: Mapping[str, Any], method: str) -> Operation:
    """Return the operation that takes these arguments."""
    for operation in operations:
        known = operation.parameters
        needed = set(operation.path_names) - operation.face.names()
        changes = operation.changes is not None
        if needed <= given.keys() and (changes or given.keys() <= known.keys()):
            return operation
    known_anywhere = {name for operation in operations for name in operation.parameters}
    if local := sorted(given.keys() - known_anywhere):
        raise Unsupported(f"{method} takes no {', '.join(local)} over a server.", hint="Leave it out.")
    raise InvalidInput(f"{method} needs other arguments: {', '.join(sorted(given)) or 'none'} were given.")


def _unsupported(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that says that it is not offered."""

    def refuse() -> Unsupported:
        return Unsupported(f"A server does not offer {method.__qualname__}.", hint="Use it where the store is open.")

    if inspect.iscoroutinefunction(inspect.unwrap(method)):

        @functools.wraps(method)
        async def refuse_later(self: Remote, *args: Any, **kwargs: Any) -> Any:
            raise refuse()

        return refuse_later

    @functools.wraps(method)
    def refuse_now(self: Remote, *args: Any, **kwargs: Any) -> Any:
        raise refuse()

    return refuse_now


def _no_property(cls: str, name: str, self: Remote) -> Any:
    raise Unsupported(f"A server does not offer {cls}.{name}.", hint="Use it where the store is open.")
