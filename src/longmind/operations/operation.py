"""``Operation``: a method of the public face, and how it is offered over HTTP."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, Json

from longmind.errors import InvalidInput
from longmind.operations.faces import Face
from longmind.operations.wire import (
    TIMES,
    Parameter,
    ResultType,
    is_plain,
    is_stream,
    parameters_of,
    request_model,
    result_of,
)
from longmind.security import Permission

_DIGITS = re.compile(r"-?[0-9]{1,9}")
HttpMethod = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Operation:
    """A method of a face, offered over HTTP. What is not said here is read from the method's signature."""

    noun: str
    face: Face
    method: str
    """The name of the face's method."""
    http: HttpMethod
    path: str
    """Below ``/v1``; a name in braces is a parameter of the face or of the method."""
    permission: Permission
    name: str
    """Unique: ``memories.remember``."""
    status: int = 200
    example: Mapping[str, Any] | None = None
    """A request body."""
    result_name: str | None = None
    """The field that holds a result which is no record."""
    none_is_missing: bool = False
    """Whether the result None means that what was asked for does not exist: 404."""
    idempotency: str | None = None
    """The parameter that ``Idempotency-Key`` sets."""
    expected_version: str | None = None
    """The parameter that ``If-Match`` sets."""
    version: str | None = None
    """The field of the result that is its version: the ``ETag``."""
    event_id: str | None = None
    """Of a stream: the field of an item that is the id of its event."""
    resume: str | None = None
    """Of a stream: the parameter that ``Last-Event-ID`` sets. A stream without one has an end."""
    changes: type[BaseModel] | None = None
    """For ``**changes``: a record with the fields that may change."""
    without: frozenset[str] = frozenset()
    """Parameters that are not offered here."""
    required: frozenset[str] = frozenset()
    """Parameters that are needed here, though the method can do without them."""
    types: Mapping[str, Any] = field(default_factory=dict)
    """Types of parameters in a request, where the hint does not say it."""
    invalid: type[InvalidInput] = InvalidInput
    """The error of a body that is not valid."""
    encode: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    """How the client writes an argument, where its own type does not say it."""
    result: Any = None
    """The type of the result, where the hint does not say it."""
    progress: Mapping[str, type] = field(default_factory=dict)
    """What the method tells while it works: the arguments of a function that it calls, by name. A client that accepts
    ``text/event-stream`` gets them as events, and then the result."""
    progress_parameter: str = "progress"
    """The parameter of the method that takes this function."""
    as_lines: bool = False
    """Of a stream: whether a client can have its items as lines of JSON (``application/x-ndjson``)."""

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The method, not bound."""
        function: Callable[..., Any] = getattr(self.face.cls, self.method)
        return function

    @cached_property
    def documentation(self) -> str:
        return inspect.getdoc(self.function) or ""

    @cached_property
    def path_names(self) -> tuple[str, ...]:
        return tuple(re.findall(r"{(\w+)}", self.path))

    @cached_property
    def shape(self) -> str:
        """The path without the names of its parameters: operations of one shape are of one resource."""
        return re.sub(r"{\w+}", "{}", self.path)

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters of the method that a request can set."""
        found = parameters_of(self.function, self.types)
        return {
            parameter.name: replace(parameter, default=inspect.Parameter.empty)
            if parameter.name in self.required
            else parameter
            for parameter in found
            if parameter.name not in self.without
        }

    @cached_property
    def reads(self) -> bool:
        """Whether the parameters are in the query, for lack of a body."""
        return self.http in ("GET", "DELETE")

    @cached_property
    def sent(self) -> tuple[Parameter, ...]:
        """The parameters in the query or the body: all that are in neither the path nor a header."""
        elsewhere = {*self.path_names, self.idempotency, self.expected_version}
        return tuple(parameter for name, parameter in self.parameters.items() if name not in elsewhere)

    @cached_property
    def query(self) -> type[BaseModel]:
        """The model of the query."""
        located = [Parameter(name, hint, None) for name, hint in self.face.query.items()]
        own = [Parameter(p.name, _in_query(p.type), p.default, p.kind) for p in self.sent] if self.reads else []
        if clash := {p.name for p in located} & {p.name for p in own}:
            raise TypeError(f"{self.name}: {clash} is a parameter of the face and of the method")
        return request_model(self._title("Query"), [*located, *own], None)

    @cached_property
    def body(self) -> type[BaseModel] | None:
        """The model of the body; None if there is none."""
        if self.reads or not (self.sent or self.changes):
            return None
        return request_model(self._title("Request"), self.sent, self.changes)

    @cached_property
    def body_required(self) -> bool:
        return any(parameter.required for parameter in self.sent)

    @cached_property
    def streams(self) -> bool:
        """Whether the result is a stream of server-sent events."""
        return is_stream(self._result_hint)

    @cached_property
    def response(self) -> ResultType:
        """The type of the result; of a stream, of each item."""
        hint = self._result_hint
        return ResultType(self._title("Result"), hint.__args__[0] if self.streams else hint, self.result_name)

    @property
    def _result_hint(self) -> Any:
        return self.result if self.result is not None else result_of(self.function)

    def arguments(self, values: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments of the method, by position and by name, from values by name."""
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for name, value in values.items():
            kind = self.parameters[name].kind if name in self.parameters else "changes"
            if kind in ("positional", "many"):
                positional += value if kind == "many" else [value]
            else:
                named[name] = value
        if "many" in {parameter.kind for parameter in self.parameters.values()}:
            before = [name for name, p in self.parameters.items() if p.kind == "plain" and not self._keyword_only(name)]
            positional = [named.pop(name) for name in before if name in named] + positional
        return positional, named

    def _keyword_only(self, name: str) -> bool:
        return inspect.signature(self.function).parameters[name].kind is inspect.Parameter.KEYWORD_ONLY

    def _title(self, what: str) -> str:
        return "".join(part.title() for part in re.split(r"[._]", self.name)) + what


def _not_a_number(value: Any) -> Any:
    """Refuse a time that is written as a number, which would be read as seconds since 1970."""
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return value
        raise ValueError("must be written as in ISO 8601, such as 2026-05-31T18:30:00Z or PT1H")
    return value


def _in_query(hint: Any) -> Any:
    """Return the type of a parameter in a query: texts, numbers and lists of them; what has structure is JSON."""
    if not is_plain(hint):
        return Json[hint] | None  # type: ignore[misc]
    options = get_args(hint) or (hint,)
    if all(option in (*TIMES, type(None)) for option in options):
        return Annotated[hint, BeforeValidator(_not_a_number)]
    if int in options and str in options:  # a text of digits is a number
        return Annotated[hint, BeforeValidator(lambda value: int(value) if _DIGITS.fullmatch(str(value)) else value)]
    return hint


@dataclass(frozen=True)
class Noun:
    """Builds the operations of one noun: ``memories.post("/memories", "remember", permission="write")``.

    The path is below that of the face. Reading needs the permission ``read``, everything else ``write``, unless an
    operation says otherwise.
    """

    name: str
    face: Face

    def get(self, path: str, method: str, *, permission: Permission = "read", **more: Any) -> Operation:
        return self._operation("GET", path, method, permission, more)

    def post(self, path: str, method: str, *, permission: Permission = "write", **more: Any) -> Operation:
        return self._operation("POST", path, method, permission, more)

    def put(self, path: str, method: str, *, permission: Permission = "write", **more: Any) -> Operation:
        return self._operation("PUT", path, method, permission, more)

    def patch(self, path: str, method: str, *, permission: Permission = "write", **more: Any) -> Operation:
        return self._operation("PATCH", path, method, permission, more)

    def delete(self, path: str, method: str, *, permission: Permission = "write", **more: Any) -> Operation:
        return self._operation("DELETE", path, method, permission, more)

    def _operation(
        self, http: HttpMethod, path: str, method: str, permission: Permission, more: dict[str, Any]
    ) -> Operation:
        more |= {name: frozenset(more.get(name, ())) for name in ("without", "required")}
        return Operation(
            noun=self.name,
            face=self.face,
            method=method,
            http=http,
            path=self.face.prefix + path,
            permission=permission,
            **{"name": f"{self.name}.{method}"} | more,
        )
