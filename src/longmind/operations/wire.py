"""How the arguments and results of a method travel as JSON, read from its signature.

``parameters_of`` says for each parameter which type it has in a request. Functions, protocols and other things that
cannot travel are left out. ``ResultType`` says how a result is written: a record as it is, anything else in an object
with one named field.
"""

from __future__ import annotations

import builtins
import inspect
import sys
import types
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model
from pydantic.fields import FieldInfo

from longmind.types import Filter, Model

Kind = Literal["plain", "positional", "many", "changes"]
_LISTS = (Sequence, Iterable, Collection, AbstractSet, list)
TIMES = (datetime, timedelta)


class _Local:
    """Stands for a type that stays in the process of the caller: a function, a model, or one that is not known."""


LOCAL = _Local


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a method, as it is in a request."""

    name: str
    type: Any
    default: Any
    kind: Kind = "plain"

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty


def parameters_of(method: Callable[..., Any], overrides: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """Return the parameters of a method that can be in a request, without ``self``."""
    found = []
    for parameter in list(_signature(method).parameters.values())[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        hint = overrides.get(parameter.name, parameter.annotation)
        hint = hint if parameter.name in overrides else wire_type(hint)
        if hint is LOCAL:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            found.append(Parameter(parameter.name, list[hint], (), "many"))  # type: ignore[valid-type]
        else:
            kind: Kind = "positional" if parameter.kind is parameter.POSITIONAL_ONLY else "plain"
            found.append(Parameter(parameter.name, hint, parameter.default, kind))
    return tuple(found)


def result_of(method: Callable[..., Any]) -> Any:
    """Return the type of what a method returns; of a stream, the type of its items."""
    return _signature(method).return_annotation


def is_stream(result: Any) -> bool:
    """Return whether a result is a stream of items."""
    return get_origin(result) is AsyncIterator


def wire_type(hint: Any) -> Any:
    """Return the type that a hint has in a request; ``LOCAL`` if it cannot travel."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        base = wire_type(inner[0])
        return LOCAL if base is LOCAL else Annotated[base, *inner[1:]]
    if origin in (Union, types.UnionType):
        return _wire_union(inner)
    if origin in _LISTS:
        item = wire_type(inner[0])
        return LOCAL if item is LOCAL else list[item]  # type: ignore[valid-type]
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str, Any] if len(inner) < 2 else dict[inner[0], inner[1]]  # type: ignore[valid-type]
    if origin is Callable or hint in (LOCAL, BaseModel) or getattr(hint, "_is_protocol", False):
        return LOCAL
    return hint


def _wire_union(options: Sequence[Any]) -> Any:
    wired = [option for option in map(wire_type, options) if option is not LOCAL]
    if not any(option is not type(None) for option in wired):
        return LOCAL
    objects = [option for option in wired if get_origin(option) is dict]
    if objects:  # the method takes a dict for the record and validates it; a filter is validated here
        models = [option for option in wired if isinstance(option, type) and issubclass(option, Model)]
        dropped = objects if Filter in models else models
        wired = [option for option in wired if option not in dropped]
    times = [option for option in wired if option in TIMES]
    if times and str in wired:  # a text that can be read as a time is one
        rest = [option for option in wired if option not in (*times, str)]
        return Annotated[_union([*times, str, *rest]), Field(union_mode="left_to_right")]
    return _union(wired)


def _union(options: Sequence[Any]) -> Any:
    return reduce(or_, dict.fromkeys(options))


class _Names(dict[str, Any]):
    """The names that the hints of a module use; those imported for type checkers only are not known."""

    def __init__(self, module: str) -> None:
        public = {"Sequence": Sequence, "Mapping": Mapping, "Iterable": Iterable, "Callable": Callable}
        super().__init__(vars(builtins) | public | vars(sys.modules[module]))

    def __missing__(self, name: str) -> Any:
        return LOCAL


def _signature(method: Callable[..., Any]) -> inspect.Signature:
    function = inspect.unwrap(method)
    return inspect.signature(function, eval_str=True, locals=_Names(function.__module__))


def request_model(name: str, parameters: Sequence[Parameter], changes: type[BaseModel] | None) -> type[BaseModel]:
    """Return the model of a request with these fields; ``changes`` adds those of a record that may change."""
    fields: dict[str, Any] = {}
    if changes is not None:
        for field, info in changes.model_fields.items():
            fields[field] = (field_type(info), None)
    for parameter in parameters:
        fields[parameter.name] = (parameter.type, ... if parameter.required else parameter.default)
    config = ConfigDict(extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=False, defer_build=True)
    model: type[BaseModel] = create_model(name, __config__=config, **fields)
    return model


def field_type(info: FieldInfo) -> Any:
    """Return the type of a field with its constraints."""
    return Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation


class ResultType:
    """The type of a result as JSON: records as they are, everything else in the field ``name`` of an object."""

    def __init__(self, title: str, hint: Any, name: str | None) -> None:
        options = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
        self.may_be_none = any(option in (None, type(None)) for option in options)
        self.holds_none = Any in options
        """Whether None is a value like others, written in the field ``name``."""
        values = [option for option in options if option not in (None, type(None))]
        records = [option for option in values if _is_record(option)]
        others = [option for option in values if not _is_record(option)]
        self.name = name or (_default_name(others[0]) if others else "")
        self.wrapper: type[BaseModel] | None = None
        if others:
            config = ConfigDict(ser_json_inf_nan="null")
            fields: dict[str, Any] = {self.name: (_union(others), ...)}
            self.wrapper = create_model(title, __config__=config, **fields)
            records.append(self.wrapper)
        self.adapter: TypeAdapter[Any] | None = TypeAdapter(_union(records)) if records else None

    def dump(self, value: Any) -> bytes:
        """Return a result as JSON."""
        assert self.adapter is not None
        if self.wrapper is not None and not isinstance(value, BaseModel):
            value = self.wrapper.model_construct(**{self.name: value})
        return self.adapter.dump_json(value)

    def load(self, text: bytes) -> Any:
        """Return the result that JSON holds."""
        assert self.adapter is not None
        value = self.adapter.validate_json(text)
        return getattr(value, self.name) if self.wrapper and isinstance(value, self.wrapper) else value


def _is_record(hint: Any) -> bool:
    origin = get_origin(hint) or hint
    return isinstance(origin, type) and issubclass(origin, BaseModel)


def _default_name(hint: Any) -> str:
    if hint is str:
        return "text"
    if hint is int:
        return "count"
    return "items" if get_origin(hint) in (list, tuple) else "value"


def is_plain(hint: Any) -> bool:
    """Return whether a value is written in a query as it is: a text, a number, a time, a choice, or a list of them."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return is_plain(inner[0])
    if origin in (Union, types.UnionType):
        return all(is_plain(option) for option in inner)
    if origin in (list, tuple):
        return all(is_plain(item) and not is_list(item) for item in inner if item is not Ellipsis)
    return origin is Literal or hint in (str, int, float, bool, type(None), *TIMES)


def is_list(hint: Any) -> bool:
    """Return whether a type is a list, or one of its options is."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return is_list(inner[0])
    if origin in (Union, types.UnionType):
        return any(is_list(option) for option in inner)
    return origin in (list, tuple)
