"""Streams: the feed of changes, and replays, as server-sent events of a real server."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import httpx2
import pytest
from fastapi import FastAPI

from longmind import Longmind
from longmind.errors import NotFound, StoreUnavailable


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
    async with Longmind.open(address) as rc:
        feed = rc.agent("assistant").watch(after=0)
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
    async with Longmind.open(address) as rc, aclosing(rc.agent("assistant", "bob").watch(after=0)) as feed:  # type: ignore[type-var]
        assert (await anext(feed)).memory_id == mine.id


async def test_a_replay_ends_and_its_errors_come_first(address: str, store: Longmind) -> None:
    episodic = store.agent("assistant").episodic
    episode = await episodic.start("Moving")
    for what in ("Packed.", "Drove."):
        await episodic.record(episode.id, what)
    async with Longmind.open(address) as rc:
        far = rc.agent("assistant").episodic
        assert [item.event.what async for item in far.replay(episode.id)] == ["Packed.", "Drove."]
        with pytest.raises(NotFound):
            _ = [item async for item in far.replay("00000000-0000-7000-8000-000000000000")]


async def test_a_server_that_stops_ends_its_streams(app: FastAPI, address: str) -> None:
    async with Longmind.open(address) as rc:
        feed = rc.agent("assistant").watch()
        following = asyncio.ensure_future(anext(feed))
        while not app.state.server.metrics.in_flight._value.get():  # noqa: ASYNC110
            await asyncio.sleep(0)
        app.state.server.stopping.set()
        with pytest.raises(StoreUnavailable):
            await following
