"""The functions that procedures may call.

A function is registered by name, in the program, with ``@registry.tool``; a stored procedure only ever names it. Its
arguments are described and checked by its type hints. Code is never stored, so what a procedure can do is decided by
the program that runs it.

    tools = ToolRegistry()

    @tools.tool
    async def send(to: str, text: str, idempotency_key: str) -> dict[str, str]:
        "Send a message."

A function that declares ``idempotency_key`` is given one: the same for every attempt at the same step of the same run,
also after a crash. One that does its work once for a key has its effect exactly once.
"""

from __future__ import annotations

import asyncio
import inspect
import typing
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, cast, overload

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, ValidationError, create_model

from longmind.errors import InvalidInput, NotFound
from longmind.problems import first_problem
from longmind.systems.procedural.models import ToolName
from longmind.systems.procedural.values import to_plain_json
from longmind.systems.scoped_store import validated
from longmind.types import Model

F = TypeVar("F", bound=Callable[..., Any])
IDEMPOTENCY_KEY = "idempotency_key"


class ToolDecorator(Protocol):
    """The type of ``registry.tool``: used as ``@tool``, or as ``@tool(name=..., pure=True)``."""

    @overload
    def __call__(self, function: F, /) -> F: ...

    @overload
    def __call__(
        self, function: None = None, /, *, name: str | None = None, description: str | None = None, pure: bool = False
    ) -> Callable[[F], F]: ...


class ToolDescription(Model):
    """The description of a function for a person or a model."""

    name: ToolName
    description: str
    parameters: dict[str, Any]
    pure: bool


@dataclass(frozen=True, slots=True)
class Tool:
    """A registered function."""

    name: str
    description: str
    function: Callable[..., Any]
    arguments: type[BaseModel]
    names: Mapping[str, str]
    """The field of ``arguments`` for each argument of the function."""
    wants_key: bool
    pure: bool
    """Whether it has no side effects, so that a check of a procedure may call it."""

    def described(self) -> ToolDescription:
        try:
            parameters = self.arguments.model_json_schema(by_alias=True)
        except PydanticUserError as error:
            raise InvalidInput(f"The arguments of {self.name} cannot be described: {error.message}.") from error
        parameters.pop("title", None)
        fields = {"name": self.name, "description": self.description, "parameters": parameters, "pure": self.pure}
        return validated(ToolDescription, fields)

    async def call(self, args: Mapping[str, Any], key: str) -> Any:
        """Call the function with validated arguments; return plain JSON of limited size.

        A function that is not async runs in a thread, so that it does not block the event loop. Python cannot stop a
        thread: after a timeout such a function runs to its end, and its result is ignored.
        """
        try:
            taken = self.arguments.model_validate(dict(args))
        except ValidationError as error:
            problem = ": ".join(first_problem(error))
            raise InvalidInput(f"The function {self.name} does not take this: {problem}.") from error
        values = {name: getattr(taken, slot) for name, slot in self.names.items() if slot in taken.model_fields_set}
        if self.wants_key:
            values[IDEMPOTENCY_KEY] = key
        if inspect.iscoroutinefunction(self.function):
            result = await cast(Awaitable[Any], self.function(**values))
        else:
            result = await asyncio.to_thread(self.function, **values)
            if inspect.isawaitable(result):
                result = await result
        return to_plain_json(result, f"What {self.name} returned")


@dataclass(slots=True)
class ToolRegistry:
    """The functions of one program, by name."""

    _tools: dict[str, Tool] = field(default_factory=dict)

    @overload
    def tool(self, function: F, /) -> F: ...

    @overload
    def tool(
        self, function: None = None, /, *, name: str | None = None, description: str | None = None, pure: bool = False
    ) -> Callable[[F], F]: ...

    def tool(
        self,
        function: F | None = None,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        pure: bool = False,
    ) -> F | Callable[[F], F]:
        """Register a function; use it as ``@registry.tool`` or ``@registry.tool(name=..., pure=True)``."""

        def register(registered: F) -> F:
            self.register(registered, name=name, description=description, pure=pure)
            return registered

        return register if function is None else register(function)

    def register(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        pure: bool = False,
    ) -> Tool:
        """Register a function. The same function may be registered twice; another one under its name is refused."""
        called = name or str(getattr(function, "__name__", type(function).__name__))
        registered = self._tools.get(called)
        if registered is not None and registered.function is not function:
            raise InvalidInput(f"Another function is registered as {called}.", hint="Give this one another name.")
        text = description or inspect.getdoc(function) or ""
        arguments, names, wants_key = _arguments(function, called)
        tool = Tool(called, text, function, arguments, names, wants_key, pure)
        tool.described()
        self._tools[called] = tool
        return tool

    def get(self, name: str) -> Tool:
        """Return a function by its name."""
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(sorted(self._tools)) or "none"
            raise NotFound(f"No function is registered as {name}.", hint=f"Registered are: {known}.", tool=name)
        return tool

    def described(self) -> list[ToolDescription]:
        """Return the descriptions of all functions."""
        return [self._tools[name].described() for name in sorted(self._tools)]

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __len__(self) -> int:
        return len(self._tools)


def _arguments(function: Callable[..., Any], called: str) -> tuple[type[BaseModel], dict[str, str], bool]:
    """Build a model of a function's arguments. Its fields have neutral names, so that no argument's name can clash."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters
    except (NameError, TypeError, ValueError) as error:
        raise InvalidInput(f"The type hints of {called} cannot be read: {error}.") from error
    fields: dict[str, Any] = {}
    names: dict[str, str] = {}
    for n, (name, parameter) in enumerate(parameters.items()):
        if name == IDEMPOTENCY_KEY:
            continue
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise InvalidInput(f"The function {called} takes {parameter}; name each argument instead.")
        if name not in hints:
            raise InvalidInput(f"The argument {name} of {called} has no type hint.", hint="Write one, such as : str.")
        default = ... if parameter.default is parameter.empty else parameter.default
        names[name] = f"argument_{n}"
        fields[names[name]] = (hints[name], Field(default, alias=name))
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    try:
        model: type[BaseModel] = create_model(f"Arguments of {called}", __config__=config, **fields)
    except PydanticUserError as error:
        raise InvalidInput(f"The arguments of {called} cannot be described: {error.message}.") from error
    return model, names, IDEMPOTENCY_KEY in parameters
