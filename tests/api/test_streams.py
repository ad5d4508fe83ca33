"""Streams: the feed of changes, and replays, as server-sent events of a real server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import aclosing

import httpx2
import pytest
from fastapi import FastAPI

from longmind import Longmind
from longmind.errors import Conflict, InvalidInput, NotFound, StoreUnavailable
from longmind.testing import ScriptedModel
from longmind.types.reports import STAGES


async def events(http: httpx2.AsyncClient, url: str, count: int, **headers: str) -> list[dict[str, str]]:
    """The first events of a stream, as they came."""
    found: list[dict[str, str]] = [{}]
    async with http.stream("GET", url, headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        async for line in response.aiter_lines():
            if line and not line.startswith(":"):
                name, _, value = line.partition(": ")
                found[-1][name] = value
            elif found[-1]:
                found.append({})
            if len(found) > count:
                break
    return found[:count]


async def test_a_feed_tells_changes_as_they_are_made(address: str, store: Longmind) -> None:
    async with Longmind.open(address) as longmind:
        feed = longmind.agent("assistant").watch(after=0)
        async with aclosing(feed):  # type: ignore[type-var]
            stored = await store.agent("assistant").remember("Tea.")
            change = await anext(feed)
            assert (change.action, change.memory_id) == ("put", stored.id)
            following = asyncio.ensure_future(anext(feed))
            await store.agent("assistant").update(stored.id, importance=0.9)
            assert (await following).action == "update"


async def test_a_feed_resumes_after_the_last_event(address: str, store: Longmind) -> None:
    mem = store.agent("assistant")
    for number in range(4):
        await mem.remember(f"Number {number}.")
    url = f"{address}/v1/agents/assistant/changes"
    async with httpx2.AsyncClient() as http:
        first = await events(http, f"{url}?after=0", 2)
        rest = await events(http, f"{url}?after=0", 2, **{"Last-Event-ID": first[-1]["id"]})
    ids = [int(event["id"]) for event in (*first, *rest)]
    assert ids == sorted(set(ids))
    assert "Number 1" in first[1]["data"]
    assert "Number 2" in rest[0]["data"]


async def test_a_feed_shows_one_user_nothing_of_another(address: str, store: Longmind) -> None:
    await store.agent("assistant", "alice").remember("Tea.")
    mine = await store.agent("assistant", "bob").remember("Bread.")
    async with Longmind.open(address) as longmind, aclosing(longmind.agent("assistant", "bob").watch(after=0)) as feed:  # type: ignore[type-var]
        assert (await anext(feed)).memory_id == mine.id


async def test_a_replay_ends_and_its_errors_come_first(address: str, store: Longmind) -> None:
    episodic = store.agent("assistant").episodic
    episode = await episodic.start("Moving")
    for what in ("Packed.", "Drove."):
        await episodic.record(episode.id, what)
    async with Longmind.open(address) as longmind:
        far = longmind.agent("assistant").episodic
        assert [item.event.what async for item in far.replay(episode.id)] == ["Packed.", "Drove."]
        with pytest.raises(NotFound):
            _ = [item async for item in far.replay("00000000-0000-7000-8000-000000000000")]


async def test_a_server_that_stops_ends_its_streams(app: FastAPI, address: str) -> None:
    async with Longmind.open(address) as longmind:
        feed = longmind.agent("assistant").watch()
        following = asyncio.ensure_future(anext(feed))
        while not app.state.server.metrics.in_flight._value.get():  # noqa: ASYNC110
            await asyncio.sleep(0)
        app.state.server.stopping.set()
        with pytest.raises(StoreUnavailable):
            await following


async def test_consolidation_tells_its_progress(address: str, store: Longmind) -> None:
    for text in ("I live in Lisbon.", "I work as a nurse.", "My sister is called Ines."):
        await store.agent("assistant", "alice").remember(text)
    told: list[tuple[str, float]] = []
    async with Longmind.open(address) as longmind:
        mem = longmind.agent("assistant", "alice")
        report = await mem.consolidate(progress=lambda stage, share: told.append((stage, share)))
        again = await mem.consolidate(progress=lambda stage, share: told.append((stage, share)))
    assert report.read == 3
    assert [stage for stage, _ in told] == [*STAGES, "distill"]
    assert [share for _, share in told] == sorted(share for _, share in told)
    assert told[-1][1] == 1.0
    assert again.read == 0


async def test_what_fails_after_the_stream_began_is_told_in_it(
    address: str, store: Longmind, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(self: object, *, dry_run: bool = False, progress: Callable[[str, float], None]) -> None:
        progress("segment", 0.5)
        raise Conflict("Another writer was faster.")

    monkeypatch.setattr("longmind.agent_memory.AgentMemory.consolidate", fail)
    url = f"{address}/v1/agents/assistant/consolidation"
    async with httpx2.AsyncClient(headers={"Accept": "text/event-stream"}) as http:
        lines = (await http.post(url, json={})).text.splitlines()
        told = [line for line in lines if line.startswith("event")]
    assert told == ["event: progress", "event: problem"]


async def test_remembering_many_things_tells_its_progress(address: str) -> None:
    told: list[tuple[int, int]] = []
    async with Longmind.open(address) as longmind:
        stored = await longmind.agent("assistant").remember(
            [f"Number {n}." for n in range(300)], progress=lambda done, total: told.append((done, total))
        )
    assert len(stored) == 300
    assert told[-1] == (300, 300)


async def test_an_answer_comes_piece_by_piece_and_ends_with_its_outcome(address: str, store: Longmind) -> None:
    await store.agent("assistant", "alice").remember("I live in Lisbon.")
    url = f"{address}/v1/agents/assistant/answers?user=alice"
    async with httpx2.AsyncClient() as http:
        whole = (await http.post(url, json={"task": "Where do I live?"})).json()
        streamed = await http.post(url, json={"task": "Where do I live?"}, headers={"Accept": "text/event-stream"})
    assert "Lisbon" in whole["text"]
    blocks = [block.splitlines() for block in streamed.text.split("\n\n") if block and not block.startswith(":")]
    pieces = [json.loads(block[1].removeprefix("data: ")) for block in blocks if block[0] == "event: progress"]
    outcome = json.loads(blocks[-2][0].removeprefix("data: "))
    assert "".join(piece["text"] for piece in pieces) == outcome["text"]
    assert "Lisbon" in outcome["text"]
    assert blocks[-1][0] == "event: end"


async def test_a_model_that_streams_is_heard_piece_by_piece(address: str, store: Longmind) -> None:
    store.__dict__["chat"] = ScriptedModel("You live in Lisbon.").chat()
    url = f"{address}/v1/agents/assistant/answers"
    async with httpx2.AsyncClient(headers={"Accept": "text/event-stream"}) as http:
        answer = await http.post(url, json={"task": "Where do I live?"})
    assert [line for line in answer.text.splitlines() if '{"text"' in line] == [
        f'data: {{"text": "{piece}"}}' for piece in ("You ", "live ", "in ", "Lisbon.")
    ]


async def test_an_export_comes_as_lines(address: str, store: Longmind) -> None:
    await store.agent("assistant", "alice").remember("I live in Lisbon.")
    async with httpx2.AsyncClient() as http:
        lines = await http.get(f"{address}/v1/export", headers={"Accept": "application/x-ndjson"})
        events = await http.get(f"{address}/v1/export")
    assert lines.headers["content-type"] == "application/x-ndjson"
    assert events.headers["content-type"].startswith("text/event-stream")
    assert [type(json.loads(line)) for line in lines.text.splitlines()] == [dict] * lines.text.count("\n")
    async with Longmind.open("memory:", settings=store.settings, embedder="none") as other:
        await other.load(lines.text.splitlines())
        assert [memory.content for memory in (await other.agent("assistant", "alice").list()).items] == [
            "I live in Lisbon."
        ]


async def test_a_stream_that_is_cut_goes_on_after_its_last_event_also_over_a_restart(
    store: Longmind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longmind.client.connection.FIRST_WAIT", 0.01)
    mem = store.agent("assistant")
    await mem.remember("Tea.")
    await mem.remember("Coffee.")
    async with aclosing(mem.watch(after=0)) as own:  # type: ignore[type-var]
        changes = [await anext(own), await anext(own)]
    asked: list[str] = []

    def event(number: int) -> bytes:
        change = changes[number]
        return f"id: {change.seq}\ndata: {change.model_dump_json()}\n\n".encode()

    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    gone = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    answers = [head + event(0), gone, head + event(1)]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        if "/changes" in request:
            asked.append(request)
            writer.write(answers[len(asked) - 1])
        else:  # whether the server is there
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with (
        server,
        Longmind.open(f"http://127.0.0.1:{port}") as longmind,
        aclosing(longmind.agent("assistant").watch(after=0)) as feed,  # type: ignore[type-var]
    ):
        assert [(await anext(feed)).seq, (await anext(feed)).seq] == [change.seq for change in changes]
    assert [f"last-event-id: {changes[0].seq}" in request for request in asked] == [False, True, True]


@pytest.mark.parametrize("name", [".", ".."])
async def test_a_name_that_is_a_step_in_a_path_is_refused(address: str, name: str) -> None:
    async with Longmind.open(address) as longmind:
        with pytest.raises(InvalidInput, match="over HTTP"):
            await longmind.agent(name).stats()
