"""Consolidation with a model behind a server that misbehaves, through the real SDKs: no page is ever lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.models.chat.conftest import KEY, Server

from longmind import Longmind, Settings
from longmind.consolidate.bookmarks import Bookmarks
from longmind.consolidate.runs import consolidate
from longmind.memory import AgentMemory
from longmind.models.chat_model import ChatModel
from longmind.models.resilience import RetryPolicy
from longmind.types import ConsolidationReport, Filter

SAID = ["I live in Lisbon.", "Since May the harbour office pays my rent."]
BY_RULES = {"alice lives in Lisbon"}
BY_MODEL = "alice is paid by the harbour office"
GOOD = json.dumps(
    {
        "facts": [
            {
                "subject": "I",
                "predicate": "is paid by",
                "object": "the harbour office",
                "quote": "harbour office pays",
                "text": 1,
            },
            {"subject": "I", "predicate": "lives in", "object": "Rome", "quote": "I live in Rome", "text": 0},
        ]
    }
)

Opened = Callable[..., ChatModel]


@pytest.fixture(params=["sqlite"])
def face_url(request: pytest.FixtureRequest, tmp_path: Any) -> str:
    """One backend is enough here: the others are tried with a script in place of the server."""
    return f"sqlite:///{tmp_path / 'memory.db'}"


async def run(longmind: Longmind, mem: AgentMemory, chat: ChatModel) -> ConsolidationReport:
    return await consolidate(longmind.store, mem.scope, await mem.configuration(), longmind.embedding.embed, chat=chat)


async def known(mem: AgentMemory) -> set[str]:
    return {m.content async for m in mem.store.scan_all(mem.scope, Filter(kinds=("fact",)))}


async def told(longmind: Longmind) -> AgentMemory:
    mem = longmind.agent("a", user="alice")
    await mem.remember(SAID)
    return mem


async def test_a_good_answer_is_taken_as_far_as_it_quotes(longmind: Longmind, server: Server, opened: Opened) -> None:
    mem = await told(longmind)
    server.plan(GOOD)
    report = await run(longmind, mem, opened())
    assert await known(mem) == {*BY_RULES, BY_MODEL}
    assert report.of("extract").rejected == {"quote": 1}


async def test_a_server_that_is_busy_is_waited_for(
    longmind: Longmind, server: Server, opened: Opened, waits: Any
) -> None:
    mem = await told(longmind)
    server.plan(server.status(429, {"error": {"type": "rate_limit"}}, **{"Retry-After": "2"}), GOOD)
    report = await run(longmind, mem, opened())
    assert (report.stopped, await known(mem)) == (None, {*BY_RULES, BY_MODEL})
    assert waits[0] >= 2


@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(lambda s: s.status(500, {}), id="500"),
        pytest.param(lambda s: s.status(401), id="401"),
        pytest.param(lambda s: s.slow(1.0), id="slow"),
        pytest.param(lambda s: s.hang_up, id="hangs up"),
        pytest.param(lambda s: s.half, id="half an answer"),
    ],
)
async def test_one_that_cannot_answer_leaves_the_rules_and_a_note(
    trouble: Callable[[Any], Any], longmind: Longmind, server: Server, opened: Opened
) -> None:
    mem = await told(longmind)
    server.plan(*[trouble(server)] * 8)
    chat = opened(timeout=0.3, retry_policy=RetryPolicy(attempts=2, timeout=0.3))
    report = await run(longmind, mem, chat)
    assert await known(mem) == BY_RULES
    assert report.stopped is not None
    waits = await Bookmarks(longmind.store, mem.scope, longmind.clock).model.read()
    assert waits.until is not None
    assert waits.backoff
    assert KEY not in f"{report} {waits}"


@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(lambda s: "not JSON at all", id="no JSON"),
        pytest.param(lambda s: '{"facts": [{"subject": "I"}]}', id="another schema"),
        pytest.param(lambda s: s.Say('{"facts": [', finish="length"), id="cut"),
        pytest.param(lambda s: s.huge(9), id="huge"),
        pytest.param(lambda s: s.raw(b"<html>"), id="html"),
        pytest.param(lambda s: s.status(413, {"error": {"type": "too_large"}}), id="413"),
    ],
)
async def test_an_answer_of_no_use_is_counted_and_does_not_come_back(
    trouble: Callable[[Any], Any], longmind: Longmind, server: Server, opened: Opened
) -> None:
    mem = await told(longmind)
    server.plan(*[trouble(server)] * 16)
    report = await run(longmind, mem, opened())
    assert await known(mem) == BY_RULES
    assert report.of("extract").rejected["answer"] >= 1
    assert report.stopped is None
    asked = len(server.seen)
    assert (await run(longmind, mem, opened())).stages == ()
    assert len(server.seen) == asked


async def test_a_store_that_is_closed_lets_go_of_its_model(server: Server, tmp_path: Any) -> None:
    settings = Settings.load({"LONGMIND_MODEL": f"{server.address}/v1#alpha", "LONGMIND_MODEL_KEY": KEY})
    async with Longmind.open(str(tmp_path / "memory.db"), settings=settings) as longmind:
        chat = await longmind.agent("a").chat()
        assert chat is not None
        await chat.complete("Hello?")
        provider: Any = chat.provider
        assert provider._client is not None
    assert provider._client is None
    async with longmind:
        assert longmind.chat is not None
        assert longmind.chat.provider is not provider
