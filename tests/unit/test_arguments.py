"""Every public method refuses arguments of the wrong type with an error of Longmind's own, and stores nothing."""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

import pytest
from pydantic import ValidationError

from longmind import Longmind
from longmind.errors import InvalidInput, LongmindError
from longmind.sync import Longmind as BlockingLongmind
from longmind.testing import FakeClock
from longmind.types import Message

WRONG: tuple[Any, ...] = (
    *(None, 5, -1.5, True, "x", b"x", object(), "secret\x00 text"),
    *([5], [None], {"x": object()}, {5: 5}, {5}),
)
RIGHT: dict[str, Any] = {"id": "01912345-0000-7000-8000-000000000001", "query": "tea", "text": "tea", "name": "tea"}
SYSTEMS = ("working", "episodic", "semantic", "procedural", "goals", "dialogue", "persona", "shared", "manager")
LEFT_OUT = {"close", "open", "of", "recaller", "reembed"}


def methods(target: object) -> Iterator[tuple[str, inspect.Signature]]:
    """The public methods of an object that take an argument, with their signatures."""
    for name, member in inspect.getmembers(type(target), callable):
        if not name.startswith("_") and name not in LEFT_OUT and not isinstance(member, type):
            signature = inspect.signature(getattr(target, name))
            if signature.parameters:
                yield name, signature


def calls(signature: inspect.Signature) -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """Calls with one wrong argument each; the other required ones are plausible."""
    for wrong in signature.parameters.values():
        if wrong.kind is wrong.VAR_POSITIONAL:
            continue
        for value in WRONG:
            args: list[Any] = []
            kwargs: dict[str, Any] = {}
            for parameter in signature.parameters.values():
                if parameter.kind is parameter.VAR_POSITIONAL:
                    continue
                if parameter.kind is parameter.VAR_KEYWORD:
                    if parameter is wrong:
                        kwargs["importance"] = value
                    continue
                if parameter is not wrong and parameter.default is not parameter.empty:
                    continue
                given = value if parameter is wrong else RIGHT.get(parameter.name, "tea")
                if parameter.kind is parameter.POSITIONAL_ONLY:
                    args.append(given)
                else:
                    kwargs[parameter.name] = given
            yield wrong.name, args, kwargs


async def attempt(method: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    result = method(*args, **kwargs)
    if inspect.isawaitable(result):
        result = await result
    if isinstance(result, AsyncIterator):
        with suppress(TimeoutError):  # `watch` waits for the first change, which does not come
            async with asyncio.timeout(0.05):
                async for _ in result:
                    break
    elif hasattr(result, "__aenter__"):
        async with result:
            pass


@pytest.fixture
async def longmind() -> AsyncIterator[Longmind]:
    async with Longmind.open("memory:", embedder="none", clock=FakeClock()) as opened:
        yield opened


@pytest.mark.parametrize("system", ["longmind", "agent", *SYSTEMS])
async def test_only_our_errors_come_out(longmind: Longmind, system: str) -> None:
    mem = longmind.agent("a", user="ann")
    target = {"longmind": longmind, "agent": mem}.get(system) or getattr(mem, system)
    raw = []
    for name, signature in methods(target):
        for parameter, args, kwargs in calls(signature):
            before = await heads(longmind)
            try:
                await attempt(getattr(target, name), args, kwargs)
            except LongmindError as error:
                text = f"{error} {error.details}"
                if any(internal in text for internal in ("Value error", "input_value", "_Named", "Body is not")):
                    raw.append(f"{name}({parameter}=) shows internals: {text}")
                if isinstance(error, InvalidInput) and await heads(longmind) != before:
                    raw.append(f"{name}({parameter}=) was refused and stored something")
            except Exception as error:
                given = kwargs.get(parameter, args)
                raw.append(f"{name}({parameter}={given!r:.30}): {type(error).__name__}: {error!s:.80}")
    assert not raw, "\n".join(raw)


async def heads(longmind: Longmind) -> dict[str, int]:
    return {
        scope.agent: (await longmind.store.backend.head(scope)).seq for scope in await longmind.store.backend.scopes()
    }


@pytest.mark.parametrize(
    ("call", "field", "wanted"),
    [
        (lambda mem: mem.list(order="x"), "order", "one of 'recorded'"),
        (lambda mem: mem.recall("tea", k="5"), "k", "a whole number"),
        (lambda mem: mem.get("x", as_of="2024-01-01"), "as_of", "a datetime"),
        (lambda mem: mem.remember("tea", tags=None), "tags", "a list of text"),
        (lambda mem: mem.list(kinds="fact"), "kinds", "a list of text"),
        (lambda mem: mem.recall(b"tea"), "query", "text"),
    ],
)
async def test_an_error_names_the_field_and_what_to_give(
    longmind: Longmind, call: Any, field: str, wanted: str
) -> None:
    with pytest.raises(InvalidInput, match=f"^{field} must be .*{wanted}") as caught:
        await call(longmind.agent("a"))
    assert caught.value.details["field"] == field


def test_the_blocking_face_refuses_alike() -> None:
    with BlockingLongmind.open("memory:", embedder="none") as longmind:
        mem = longmind.agent("a")
        for call in (
            lambda: mem.recall(5),
            lambda: mem.list(limit="5"),
            lambda: mem.working.put(5, 5),
            lambda: longmind.agent(5),
        ):
            with pytest.raises(InvalidInput):
                call()
        with pytest.raises(TypeError):
            mem.recall("tea", colour="red")
        assert mem.list().items == ()


async def test_an_error_never_shows_what_was_to_be_stored(longmind: Longmind) -> None:
    with pytest.raises(ValidationError) as caught:
        Message(content="my secret is 4711\x00")
    assert "4711" not in str(caught.value)
    with pytest.raises(InvalidInput) as refused:
        await longmind.agent("a").remember("my secret is 4711\x00")
    told = "".join(traceback.format_exception(refused.value))
    assert "Value error" not in told
    assert "input_value" not in told
