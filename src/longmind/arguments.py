"""Checks the arguments of public methods by their type hints, in one place.

``@checked_arguments`` on a class wraps its public methods. An argument of another type than its hint says is
``InvalidInput`` before anything is read or written: the error names the parameter, what it may be and the type it had,
and never its value, which may be somebody's memory. Values (a number that is too large, a text with a NUL) are checked
where they are used. A missing or unknown argument stays Python's ``TypeError``.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import sys
import types
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import ValidationError

from longmind.errors import InvalidInput
from longmind.problems import first_problem

C = TypeVar("C")
Check = Callable[[Any], bool]
_NAMES: Mapping[Any, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    type(None): "None",
    datetime: "a datetime",
    bytes: "bytes",
}
_SHORT = 40
_ITERABLES = (Sequence, Iterable, Iterator, AbstractSet, list, tuple, set, frozenset)


def checked_arguments(cls: type[C]) -> type[C]:
    """Check the arguments of every public method that this class defines."""
    for name, member in list(vars(cls).items()):
        if name.startswith("_"):
            continue
        if isinstance(member, classmethod | staticmethod):
            setattr(cls, name, type(member)(_checked(member.__func__)))
        elif inspect.isfunction(member):
            setattr(cls, name, _checked(member))
    return cls


def _checked(method: Callable[..., Any]) -> Callable[..., Any]:
    arguments = _Arguments(method)
    if inspect.iscoroutinefunction(method):

        @functools.wraps(method)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            arguments.check(args, kwargs)
            try:
                return await method(*args, **kwargs)
            except ValidationError as error:
                raise _invalid_value(error) from None

        return call_async

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        arguments.check(args, kwargs)
        try:
            return method(*args, **kwargs)
        except ValidationError as error:
            raise _invalid_value(error) from None

    return call


def checked_call(method: Callable[..., Any], call: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``call``, which stands for a method, with the checks of that method's arguments."""
    arguments = _Arguments(inspect.unwrap(method))
    if inspect.iscoroutinefunction(call):

        @functools.wraps(call)
        async def checked_async(*args: Any, **kwargs: Any) -> Any:
            arguments.check(args, kwargs)
            return await call(*args, **kwargs)

        return checked_async

    @functools.wraps(call)
    def checked(*args: Any, **kwargs: Any) -> Any:
        arguments.check(args, kwargs)
        return call(*args, **kwargs)

    return checked


class _Arguments:
    """The parameters of a method, with a check for each; built when the method is called first."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        self._positional: list[str] = []
        self._checks: dict[str, tuple[Check, Any]] | None = None

    def check(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        checks = self._checks if self._checks is not None else self._build()
        for name, value in zip(self._positional, args, strict=False):
            if name in checks and not checks[name][0](value):
                raise _wrong_type(name, checks[name][1], value)
        for name, value in kwargs.items():
            if name in checks and not checks[name][0](value):
                raise _wrong_type(name, checks[name][1], value)

    def _build(self) -> dict[str, tuple[Check, Any]]:
        checks: dict[str, tuple[Check, Any]] = {}
        names = _Names(self._method.__module__)
        for parameter in inspect.signature(self._method, eval_str=True, locals=names).parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            if parameter.kind is not parameter.KEYWORD_ONLY:
                self._positional.append(parameter.name)
            if parameter.annotation is not parameter.empty:
                checks[parameter.name] = (_check_of(parameter.annotation), parameter.annotation)
        self._checks = checks
        return checks


class _Unknown:
    """Stands for a type that is imported for type checkers only; anything passes."""

    def __class_getitem__(cls, item: Any) -> Any:
        return cls


class _Names(dict[str, Any]):
    """The names that the hints of a module use."""

    def __init__(self, module: str) -> None:
        super().__init__(vars(builtins) | _PUBLIC | vars(sys.modules[module]))

    def __missing__(self, name: str) -> Any:
        return _Unknown


_PUBLIC: dict[str, Any] = {
    "Sequence": Sequence,
    "Mapping": Mapping,
    "Iterable": Iterable,
    "Callable": Callable,
    "AsyncIterator": AsyncIterator,
    "datetime": datetime,
    "Any": Any,
}


def _check_of(hint: Any) -> Check:
    """Return a function that tells whether a value has the type of a hint."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _check_of(inner[0])
    if origin in (Union, types.UnionType):
        options = [_check_of(option) for option in inner]
        return lambda value: any(option(value) for option in options)
    if origin is Literal:
        return lambda value: any(
            value is option or (type(value) is type(option) and value == option) for option in inner
        )
    if origin in _ITERABLES:
        return _check_of_items(origin, inner)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        keys = _check_of(inner[0]) if inner else _anything
        return lambda value: isinstance(value, Mapping) and all(map(keys, value))
    if hint is Callable or origin is Callable or (origin is not None and _is_callable(origin)):
        return callable
    return _check_of_class(origin or hint)


def _check_of_items(origin: Any, inner: tuple[Any, ...]) -> Check:
    items = _check_of(inner[0]) if inner else _anything
    once = origin in (Iterable, Iterator)  # may be a generator, which is not read here

    def check(value: Any) -> bool:
        if isinstance(value, str | bytes | bytearray | Mapping):
            return False
        if origin is tuple and len(inner) == 2 and inner[1] is not Ellipsis:
            return isinstance(value, list | tuple) and len(value) == len(inner)
        if isinstance(value, Sequence | AbstractSet):
            return all(map(items, value))
        return once and isinstance(value, Iterable)

    return check


def _check_of_class(hint: Any) -> Check:
    if hint is None or hint is type(None):
        return lambda value: value is None
    if hint is int:
        return lambda value: isinstance(value, int) and not isinstance(value, bool)
    if hint is float:
        return lambda value: isinstance(value, int | float) and not isinstance(value, bool)
    if getattr(hint, "_is_protocol", False):
        return callable if "__call__" in vars(hint) else lambda value: not _lacking(hint, value)
    if not isinstance(hint, type) or hint in (object, Any, _Unknown):
        return _anything
    return lambda value: isinstance(value, hint)


def _lacking(hint: Any, value: Any) -> list[str]:
    """Return the methods of a protocol that a value does not have."""
    if not getattr(hint, "_is_protocol", False):
        return []
    methods = [name for name in vars(hint) if not name.startswith("_") and callable(getattr(hint, name))]
    return [name for name in methods if not callable(getattr(value, name, None))]


def _is_callable(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Callable)  # type: ignore[arg-type]


def _anything(value: Any) -> bool:
    return True


def _invalid_value(error: ValidationError) -> InvalidInput:
    where, reason = first_problem(error)
    return InvalidInput(f"{where or 'The value'} is not valid: {reason}.", field=where)


def _wrong_type(name: str, hint: Any, value: Any) -> InvalidInput:
    wanted = describe(hint)
    given = "None" if value is None else f"a value of type {type(value).__name__}"
    if isinstance(value, str) and len(value) <= _SHORT and "one of" in wanted:
        given = repr(value)  # a choice that there is not; never a text that was to be stored
    elif lacking := _lacking(hint, value):
        given = f"a {type(value).__name__}, which lacks {', '.join(lacking)}"
    elif isinstance(value, list | tuple | Mapping | AbstractSet):
        given = f"a {type(value).__name__} that is not of this form"
    return InvalidInput(f"{name} must be {wanted}, not {given}.", hint=_hint(hint, value), field=name)


def _hint(hint: Any, value: Any) -> str:
    text = describe(hint)
    if "a datetime" in text and isinstance(value, str | date):
        return "datetime.fromisoformat reads a date from text."
    if "a list" in text and isinstance(value, str):
        return "It is one text; put it into a list."
    return ""


def describe(hint: Any) -> str:
    """Return a type hint in words."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return describe(inner[0])
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(describe(option) for option in inner))
    if origin is Literal:
        return "one of " + ", ".join(repr(option) for option in inner)
    if hint is None:
        return "None"
    if origin in _ITERABLES:
        return f"a list of {describe(inner[0])}" if inner else "a list"
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return "a dict"
    if origin is not None and _is_callable(origin):
        return "a function"
    return _NAMES.get(hint) or f"a {getattr(origin or hint, '__name__', hint)}"
