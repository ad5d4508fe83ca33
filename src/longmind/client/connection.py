"""Requests to a server, and what its answers mean."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any
from urllib.parse import quote

import httpx2
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from longmind import errors
from longmind.errors import InvalidInput, LongmindError, NotFound, StoreError, StoreUnavailable
from longmind.operations import Operation
from longmind.operations.wire import is_plain
from longmind.types import Model

_TIMEOUT = httpx2.Timeout(10.0, read=120.0)
_STREAM_TIMEOUT = httpx2.Timeout(10.0, read=60.0)
FIRST_WAIT, LONGEST_WAIT = 0.2, 10.0
"""Seconds before a stream is asked for again: at first, and at most."""
_RETRY = "Check that the server runs and that the address is right."


Query = list[tuple[str, str | int | float | bool | None]]


def _classes(cls: type[LongmindError]) -> Mapping[str, type[LongmindError]]:
    below = [found for sub in cls.__subclasses__() for found in _classes(sub).items()]
    return {cls.code: cls, **dict(below)} if cls.__module__ == errors.__name__ else dict(below)


_ERRORS = _classes(LongmindError)


class Connection:
    """A server, and the key to it."""

    def __init__(self, url: str, key: str | None, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        headers = {"User-Agent": "longmind"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        self.url = url.rstrip("/")
        self._http = httpx2.AsyncClient(
            base_url=self.url, headers=headers, timeout=_TIMEOUT, transport=transport, follow_redirects=False
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def check(self) -> None:
        """Raise ``StoreUnavailable`` unless a server of Longmind answers."""
        response = await self._send("GET", "/healthz", [], {}, b"")
        if response.status_code != 200:
            raise StoreUnavailable(f"{self.url} is not a server of Longmind.", hint=_RETRY)

    async def call(self, operation: Operation, binding: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
        """Carry out an operation on what the binding locates, with arguments by name, and return its result."""
        path, query, headers, body = request_of(operation, binding, arguments)
        response = await self._send(operation.http, path, query, headers, body)
        if response.is_success:
            if response.status_code == 204 or operation.response.adapter is None:
                return None
            return _loaded(operation, response.content)
        error = error_of(response.content, response.status_code)
        if operation.none_is_missing and isinstance(error, NotFound) and error.details.get("none"):
            return None
        raise error

    async def follow(
        self,
        operation: Operation,
        binding: Mapping[str, Any],
        arguments: Mapping[str, Any],
        progress: Callable[..., None],
    ) -> Any:
        """Carry out an operation, call ``progress`` with what it tells meanwhile, and return its result."""
        path, query, headers, body = request_of(operation, binding, arguments)
        headers["Accept"] = "text/event-stream"
        result: Any = None
        try:
            async with self._http.stream(
                operation.http, path, params=query, headers=headers, content=body or None, timeout=_STREAM_TIMEOUT
            ) as response:
                if not response.is_success:
                    raise error_of(await response.aread(), response.status_code)
                async for name, _, data in _events(response.aiter_lines()):
                    if name == "end":
                        return result
                    if name == "problem":
                        raise error_of(data.encode(), 500)
                    if name == "progress":
                        told = json.loads(data)
                        progress(*(told[field] for field in operation.progress))
                    else:
                        result = _loaded(operation, data.encode())
        except httpx2.TransportError as error:
            raise _unreachable(self.url, error) from error
        raise StoreUnavailable("The server ended the stream.", hint="Call it again: what was done stays done.")

    async def stream(
        self, operation: Operation, binding: Mapping[str, Any], arguments: Mapping[str, Any]
    ) -> AsyncIterator[Any]:
        """Yield the items of a stream. One that can resume does so after the connection was lost or a restart.

        It waits before each new attempt, longer as long as nothing comes.
        """
        position: int | None = None
        attempts = 0
        while True:
            if attempts:
                await asyncio.sleep(min(FIRST_WAIT * 2 ** (attempts - 1), LONGEST_WAIT))
            attempts += 1
            path, query, headers, body = request_of(operation, binding, arguments)
            if position is not None:
                headers = {**headers, "Last-Event-ID": str(position)}
            try:
                async with self._http.stream(
                    operation.http, path, params=query, headers=headers, content=body, timeout=_STREAM_TIMEOUT
                ) as response:
                    if response.status_code == 503 and operation.resume is not None and position is not None:
                        continue
                    if not response.is_success:
                        raise error_of(await response.aread(), response.status_code)
                    async for name, id, data in _events(response.aiter_lines()):
                        if name == "end":
                            return
                        if name == "problem":
                            raise error_of(data.encode(), 500)
                        position = int(id) if id else position
                        attempts = 0
                        yield _loaded(operation, data.encode())
            except httpx2.TransportError as error:
                if operation.resume is None or position is None:
                    raise _unreachable(self.url, error) from error
                continue
            if operation.resume is None or position is None:
                raise StoreUnavailable("The server ended the stream.", hint="Begin it again.")

    async def _send(
        self, http: str, path: str, query: Query, headers: Mapping[str, str], body: bytes
    ) -> httpx2.Response:
        try:
            return await self._http.request(http, path, params=query, headers=headers, content=body or None)
        except httpx2.TransportError as error:
            raise _unreachable(self.url, error) from error


def request_of(
    operation: Operation, binding: Mapping[str, Any], arguments: Mapping[str, Any]
) -> tuple[str, Query, dict[str, str], bytes]:
    """Return the path, query, headers and body of a request."""
    names = set(operation.path_names)
    located = operation.face.names()
    in_path = {name: (binding if name in located else arguments)[name] for name in names}
    for name, value in in_path.items():
        if value == "":
            raise InvalidInput(f"{name} must not be empty.", field=name)
        if value in (".", ".."):  # which an address takes for a step in its path
            raise InvalidInput(f"{name} cannot be {value!r} over HTTP.", hint="Give it another name.", field=name)
    path = "/v1" + operation.path.format(
        **{name: quote(_text(_identity(value)), safe="") for name, value in in_path.items()}
    )
    headers: dict[str, str] = {}
    query: Query = [(name, _text(value)) for name, value in binding.items() if name in operation.face.query]
    body: dict[str, Any] = {}
    for name, value in arguments.items():
        if name in names - located:
            continue
        if name == operation.idempotency:
            if value is not None:
                headers["Idempotency-Key"] = _text(value)
        elif name == operation.expected_version:
            if value is not None:
                headers["If-Match"] = f'"{value}"'
        elif operation.reads:
            query += _in_query(operation, name, value)
        else:
            body[name] = _plain_argument(name, value)
    if operation.body is None:
        return path, query, headers, b""
    headers["Content-Type"] = "application/json"
    return path, query, headers, _json(body)


def _identity(value: Any) -> Any:
    """Return what stands for a value in a path: of a record its id, or its name where it has no id."""
    if isinstance(value, BaseModel):
        return getattr(value, "id", None) or getattr(value, "name", value)
    return value


def plain(value: Any) -> Any:
    """Return a value with the fields of records that were set, and with iterables as lists."""
    if isinstance(value, Model):
        return {
            name: plain(getattr(value, name)) for name in type(value).model_fields if name in value.model_fields_set
        }
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if hasattr(value, "__next__"):
        return [plain(item) for item in value]
    return value


def _in_query(operation: Operation, name: str, value: Any) -> Query:
    if value is None:  # where that is not what leaving it out means, an empty value says it
        return [] if operation.query.model_fields[name].default is None else [(name, "")]
    parameter = operation.parameters.get(name)
    if parameter is not None and not is_plain(parameter.type):
        return [(name, _json(plain(value)).decode())]
    if isinstance(value, list | tuple | set | frozenset):
        return [(name, _text(item)) for item in value]
    return [(name, _text(value))]


def _text(value: Any) -> str:
    if isinstance(value, str):
        text = value
    else:
        encoded = _json(value).decode()
        text = encoded[1:-1] if encoded.startswith('"') else encoded
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput("A text must be valid Unicode: it contains a lone surrogate.") from None
    return text


def _json(value: Any) -> bytes:
    try:
        return to_json(value, inf_nan_mode="constants")
    except (ValueError, TypeError) as error:
        raise InvalidInput(f"This cannot be sent to a server: {type(error).__name__}.") from None


def _plain_argument(name: str, value: Any) -> Any:
    """Return an argument with plain values; one that cannot be written as JSON is refused by its name."""
    if isinstance(value, str | int | float | None):
        return value
    try:
        value = plain(value)
        to_json(value, inf_nan_mode="constants")
    except RecursionError:
        raise InvalidInput(f"{name} is nested deeper than can be sent to a server.", field=name) from None
    except (ValueError, TypeError):
        raise InvalidInput(f"{name} must be plain JSON to be sent to a server.", field=name) from None
    return value


def _loaded(operation: Operation, content: bytes) -> Any:
    try:
        return operation.response.load(content)
    except ValidationError:
        raise StoreError(
            f"The server's answer to {operation.name} was not understood.", hint="Is it of another version?"
        ) from None


def error_of(content: bytes, status: int) -> LongmindError:
    """Return the error that a problem tells of."""
    try:
        told = json.loads(content)
        cls = _ERRORS.get(told["code"], StoreError)
        return cls(told["detail"], hint=told["hint"], **told["details"])
    except (ValueError, KeyError, TypeError):
        unavailable = status in (502, 503, 504)
        cls = StoreUnavailable if unavailable else StoreError
        return cls(f"The server answered with status {status}.", hint=_RETRY)


async def _events(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, str, str]]:
    """Yield the events of a stream: name, id and data."""
    name = id = ""
    data: list[str] = []
    async for line in lines:
        if not line:
            if data:
                yield name or "message", id, "\n".join(data)
            name, data = "", []
        elif not line.startswith(":"):
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "data":
                data.append(value)
            elif field == "id":
                id = value
            elif field == "event":
                name = value


def _unreachable(url: str, error: Exception) -> StoreUnavailable:
    return StoreUnavailable(f"The server at {url} cannot be reached: {type(error).__name__}.", hint=_RETRY)
