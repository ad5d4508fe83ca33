"""The tools of an MCP server, as functions of a registry. The only place that knows the ``mcp`` package.

A connection lives in a task of its own, since what the package opens must be closed by the task that opened it.
"""

from __future__ import annotations

import asyncio
import inspect
import keyword
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import WithJsonSchema

from longmind.errors import InvalidInput, LongmindError
from longmind.systems.procedural import IDEMPOTENCY_KEY, ToolRegistry, error_message

try:
    import mcp
    from mcp.types import CallToolResult, TextContent, Tool
except ImportError as missing:
    raise InvalidInput(
        "The package mcp is not installed.", hint="Install it with: pip install 'longmind[mcp]'"
    ) from missing

_PAGES = 100
_NAME = 100
_DEEP = 12
_ODD = re.compile(r"[^A-Za-z0-9_.-]")


class Connection:
    """A connected MCP server."""

    def __init__(self, client: mcp.Client, named: str, timeout: float) -> None:
        self._client = client
        self._named = named
        self._timeout = timeout
        self._ready: asyncio.Future[list[Tool]] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        self._task = asyncio.create_task(self._live(), name=f"mcp {named}")
        self._tools: list[Tool] = []

    @classmethod
    async def open(
        cls,
        command: Sequence[str] | None,
        *,
        url: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Connection:
        """Start or reach a server and ask what it has; ``LongmindError`` says why it could not be."""
        if (command is None) == (url is None):
            raise InvalidInput("Name one MCP server: the command that starts it, or its URL.")
        if url is not None:
            made = cls(mcp.Client(url), url.split("?")[0], timeout)
        else:
            if not command or isinstance(command, str):
                raise InvalidInput("The command of an MCP server is a list of words.", hint='["npx", "some-server"]')
            started = mcp.StdioServerParameters(
                command=command[0], args=list(command[1:]), env=None if env is None else dict(env)
            )
            made = cls(mcp.Client(started), command[0], timeout)
        try:
            async with asyncio.timeout(timeout):
                made._tools = await asyncio.shield(made._ready)
        except TimeoutError as error:
            await made.close()
            raise LongmindError(f"The MCP server {made._named} did not answer within {timeout:g} seconds.") from error
        except BaseException:
            await made.close()
            raise
        return made

    def register(self, registry: ToolRegistry, prefix: str = "") -> list[str]:
        """Put the server's tools into a registry; returns the names they have there."""
        named = {_name(f"{prefix}{tool.name}"): tool for tool in self._tools}
        if taken := sorted(name for name in named if name in registry):
            raise InvalidInput(
                f"Another function is registered as {', '.join(taken)}.", hint="Give this server's tools a prefix."
            )
        for name, tool in named.items():
            registry.register(self._function(tool), name=name, description=tool.description or tool.title or tool.name)
        return list(named)

    async def close(self) -> None:
        """Let go of the server; one that was started is stopped."""
        self._over.set()
        if not self._ready.done():
            self._task.cancel()
        await asyncio.wait({self._task})

    async def _live(self) -> None:
        try:
            async with self._client:
                self._ready.set_result(await self._listed())
                await self._over.wait()
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(self._unreachable(error))
                self._ready.exception()  # looked at: whoever asked may have given up
            elif isinstance(error, asyncio.CancelledError):
                raise

    async def _listed(self) -> list[Tool]:
        found: list[Tool] = []
        cursor: str | None = None
        for _ in range(_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
        return found

    def _function(self, tool: Tool) -> Callable[..., Awaitable[Any]]:
        """A function with the parameters that the tool's schema names, for the registry to read."""
        schema = tool.input_schema
        parts = {name: _resolved(part, schema) for name, part in schema.get("properties", {}).items()}
        plain = all(_usable(name) for name in parts)

        async def call(**given: Any) -> Any:
            if self._task.done() or self._over.is_set():
                raise LongmindError(f"The MCP server {self._named} is no longer connected.")
            return _result(await self._client.call_tool(tool.name, given if plain else given["arguments"]))

        required = schema.get("required", ()) if plain else ("arguments",)
        described = parts if plain else {"arguments": _resolved(schema, schema)}
        hints = {name: Annotated[Any, WithJsonSchema(part)] for name, part in described.items()}
        parameters = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=hint,
                default=inspect.Parameter.empty if name in required else None,
            )
            for name, hint in hints.items()
        ]
        call.__name__ = tool.name
        call.__annotations__ = {**hints, "return": Any}
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return call

    def _unreachable(self, error: BaseException) -> LongmindError:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        why = f"{type(error).__name__}: {error_message(error)}".removesuffix(": ")
        return LongmindError(
            f"The MCP server {self._named} cannot be used: {why}", hint="Check the command or the URL, and its log."
        )


def _name(told: str) -> str:
    """A name that a registry allows."""
    plain = _ODD.sub("_", told)
    return (plain if plain[:1].isalpha() or plain[:1] == "_" else f"_{plain}")[:_NAME]


def _usable(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and name != IDEMPOTENCY_KEY


def _resolved(part: Any, whole: Mapping[str, Any], depth: int = 0) -> Any:
    """A part of a schema that stands alone: references are replaced by what they name, as deep as is sensible."""
    if isinstance(part, Mapping):
        reference = part.get("$ref")
        if isinstance(reference, str):
            if depth >= _DEEP or not reference.startswith("#/"):
                return {}
            target: Any = whole
            for name in reference[2:].split("/"):
                target = target.get(name, {}) if isinstance(target, Mapping) else {}
            more = {name: value for name, value in part.items() if name != "$ref"}
            return _resolved({**target, **more} if isinstance(target, Mapping) else more, whole, depth + 1)
        named = {name: value for name, value in part.items() if name != "$defs"}
        return {name: _resolved(value, whole, depth + 1) for name, value in named.items()} if depth < _DEEP else {}
    if isinstance(part, list):
        return [_resolved(item, whole, depth + 1) for item in part]
    return part


def _result(answer: CallToolResult) -> Any:
    """What a tool said, as data if it gave any, else as text; what is neither is only named."""
    said = "\n".join(
        block.text if isinstance(block, TextContent) else f"[{block.type}, not shown]" for block in answer.content
    )
    if answer.is_error:
        raise LongmindError(said or "The tool failed without a reason.")
    data = answer.structured_content
    if isinstance(data, Mapping) and set(data) == {"result"}:
        return data["result"]
    return said if data is None else data
