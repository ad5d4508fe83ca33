"""Retries, deadlines, turns and rests, against a server that fails as told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from longmind.errors import ModelError, ModelUnavailable
from longmind.models.chat_model import ChatModel
from longmind.models.resilience import CircuitBreaker, RetryingCaller, RetryPolicy, Transient, retry_after
from longmind.testing import START, FakeClock, ScriptedModel

Open = Callable[..., ChatModel]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_what_may_work_later_is_tried_again(opened: Open, server: Any, waits: Any, status: int) -> None:
    server.plan(server.status(status), server.status(status))
    chat = opened()
    assert (await chat.complete("Hello?")).text == "Hello there."
    assert (len(server.seen), chat.retries) == (3, 2)
    assert 0.5 <= waits[0] <= 1.0 <= waits[1] <= 2.0


async def test_the_server_is_heeded_when_it_says_how_long_to_wait(opened: Open, server: Any, waits: Any) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30))
    server.plan(server.status(429, Retry_After="7"), server.status(503, Retry_After=later))
    await opened().complete("Hello?")
    assert 7.0 <= waits[0] <= 7.25
    assert 25.0 <= waits[1] <= 30.5


async def test_a_server_that_wants_too_long_a_wait_is_not_waited_for(opened: Open, server: Any, waits: Any) -> None:
    server.plan(server.status(429, Retry_After="3600"))
    with pytest.raises(ModelUnavailable) as caught:
        await opened().complete("Hello?")
    assert (caught.value.details["retry_after"], list(waits)) == (3600.0, [])


async def test_after_some_attempts_it_is_given_up(opened: Open, server: Any) -> None:
    server.plan(*[server.status(500)] * 9)
    with pytest.raises(ModelUnavailable, match="4 of 4 attempts: status 500"):
        await opened().complete("Hello?")
    assert len(server.seen) == 4


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
async def test_a_refusal_is_not_tried_again(opened: Open, server: Any, status: int) -> None:
    server.plan(server.status(status))
    with pytest.raises(ModelError, match=str(status)) as caught:
        await opened().complete("Hello?")
    assert (len(server.seen), caught.value.hint != "") == (1, True)


async def test_broken_connections_are_tried_again(opened: Open, server: Any) -> None:
    server.plan(server.hang_up, server.half)
    assert (await opened().complete("Hello?")).text == "Hello there."
    assert len(server.seen) == 3


async def test_nobody_there(waits: Any) -> None:
    from longmind.models.chat_openai import OpenAiProvider

    chat = ChatModel(OpenAiProvider("m", base_url="http://127.0.0.1:9/v1"), sleep=waits)
    with pytest.raises(ModelUnavailable, match="connection failed"):
        await chat.complete("Hello?")
    await chat.close()


async def test_a_slow_attempt_is_ended_and_tried_again(opened: Open, server: Any) -> None:
    server.plan(server.slow(3.0))
    chat = opened(retry_policy=RetryPolicy(timeout=1.5))
    assert (await chat.complete("Hello?")).text == "Hello there."
    assert chat.retries == 1


async def test_the_deadline_ends_all_attempts(opened: Open, server: Any) -> None:
    server.plan(*[server.slow(0.4)] * 9)
    chat = opened(retry_policy=RetryPolicy(timeout=0.2, deadline=0.5))
    with pytest.raises(ModelUnavailable, match=r"within 0\.5 s"):
        await chat.complete("Hello?")


async def test_a_stream_has_a_deadline_too(opened: Open, server: Any) -> None:
    server.plan(server.Say("a b c d e f g h i j k l", chunk_pause=0.1))
    chat = opened(retry_policy=RetryPolicy(deadline=0.5))
    with pytest.raises(ModelUnavailable, match=r"within 0\.5 s"):
        async for _ in chat.stream("Count."):
            pass


async def test_only_so_many_ask_at_once(opened: Open, server: Any) -> None:
    server.plan(*[server.slow(0.05)] * 6)
    chat = opened(retry_policy=RetryPolicy(concurrency=2))
    await asyncio.gather(*(chat.complete("Hello?") for _ in range(6)))
    assert (server.most, len(server.seen)) == (2, 6)


async def test_a_server_that_keeps_failing_gets_a_rest(opened: Open, server: Any) -> None:
    clock = FakeClock()
    chat = opened(clock=clock, retry_policy=RetryPolicy(attempts=1))
    server.plan(*[server.status(500)] * 6)
    for _ in range(5):
        with pytest.raises(ModelUnavailable, match="attempts"):
            await chat.complete("Hello?")
    with pytest.raises(ModelUnavailable, match="given a rest") as caught:
        await chat.complete("Hello?")
    assert (caught.value.details["retry_after"], len(server.seen)) == (30.0, 5)
    clock.advance(31)
    with pytest.raises(ModelUnavailable, match="attempts"):  # one call is let through, and fails
        await chat.complete("Hello?")
    with pytest.raises(ModelUnavailable, match="given a rest"):
        await chat.complete("Hello?")
    clock.advance(31)
    assert (await chat.complete("Hello?")).text == "Hello there."
    assert (await chat.complete("Hello?")).text == "Hello there."


def failing(breaker: CircuitBreaker, error: Exception) -> None:
    with pytest.raises(type(error)), breaker.guard("m"):
        raise error


def test_too_many_requests_and_refusals_are_no_outage() -> None:
    breaker = CircuitBreaker(FakeClock(), failures=2)
    for error in (Transient("429", outage=False), ModelError("400"), Transient("500"), ModelError("400")) * 3:
        failing(breaker, error)
    assert breaker.seconds_left() == 0.0


def test_only_one_call_probes_and_a_cancelled_probe_does_not_block_the_next() -> None:
    clock = FakeClock()
    breaker = CircuitBreaker(clock, failures=1)
    failing(breaker, Transient("500"))
    clock.advance(30)
    probe = breaker.guard("m")
    probe.__enter__()
    failing(breaker, ModelUnavailable("a second call is not let through"))
    assert not probe.__exit__(asyncio.CancelledError, asyncio.CancelledError(), None)
    with breaker.guard("m"):
        pass
    assert breaker.seconds_left() == 0.0


def test_a_clock_that_was_set_back_does_not_prolong_the_rest() -> None:
    clock = FakeClock()
    breaker = CircuitBreaker(clock, failures=1)
    failing(breaker, Transient("500"))
    clock.advance(-3600)
    assert breaker.seconds_left() == 0.0


async def test_a_call_that_is_cancelled_gives_its_turn_back() -> None:
    line = RetryingCaller("m", RetryPolicy(concurrency=1))
    call = asyncio.ensure_future(line.call(asyncio.Event().wait))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    async def soon() -> str:
        return "soon"

    assert await line.call(soon) == "soon"


async def test_a_timeout_of_the_attempts_own_is_not_taken_for_ours() -> None:
    chat = ScriptedModel(TimeoutError("mine")).chat()
    with pytest.raises(TimeoutError, match="mine"):
        await chat.complete("Hello?")


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("3", 3.0),
        (" 0.5", 0.5),
        ("-3", None),
        ("soon", None),
        ("", None),
        (format_datetime(START + timedelta(seconds=9)), 9.0),
        (format_datetime(START - timedelta(seconds=9)), 0.0),
        ("9" * 400, float("inf")),
    ],
)
def test_how_long_a_server_asks_to_wait(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, FakeClock()) == seconds
