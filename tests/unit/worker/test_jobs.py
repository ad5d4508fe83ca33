"""The jobs of a store, looked at without a worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.unit.worker.troubled import TEA, told

from longmind import Longmind, Settings
from longmind.errors import Conflict, InvalidInput, InvalidSetting, NotFound, StoreUnavailable
from longmind.types import Scope
from longmind.worker import Jobs, Mark, Trigger
from longmind.worker.database import agent_key, jobs_database
from longmind.worker.sweep import sweep

A, B = Scope(agent="a", all_users=True), Scope(tenant="x/y", agent="ü %", all_users=True)


@pytest.fixture
async def jobs(shared_url: str) -> AsyncIterator[Jobs]:
    async with await Jobs.open(shared_url) as opened:
        yield opened


def test_where_the_jobs_are(tmp_path: Path) -> None:
    assert jobs_database(f"sqlite:///{tmp_path}/memory.db").file == tmp_path / "memory.jobs.db"
    assert jobs_database(f"{tmp_path}/plain").file == tmp_path / "plain.jobs"
    assert jobs_database("postgres://u@h/d?x=1").url == "postgresql://u@h/d?x=1"
    with pytest.raises(InvalidSetting, match="no other process"):
        jobs_database("memory:")


def test_two_agents_never_have_the_same_key() -> None:
    assert agent_key(Scope(tenant="a/b", agent="c", all_users=True)) != agent_key(
        Scope(tenant="a", agent="b/c", all_users=True)
    )
    assert agent_key(Scope(agent="a", user="u")) == agent_key(A)


async def test_one_job_of_an_agent_at_a_time(jobs: Jobs) -> None:
    asked = await asyncio.gather(*[jobs.ask(A, cause="trigger") for _ in range(8)])
    assert len({id for id, _ in asked}) == 1
    assert [new for _, new in asked].count(True) == 1
    other, new = await jobs.ask(B)
    assert new
    found = await jobs.list()
    assert {(job.tenant, job.agent, job.state, job.cause) for job in found} == {
        ("default", "a", "waiting", "trigger"),
        ("x/y", "ü %", "waiting", "call"),
    }
    assert [job.id for job in await jobs.list(scope=B)] == [other]
    assert await jobs.list(states=["done"]) == []
    assert len(await jobs.list(limit=1)) == 1
    assert await jobs.busy()


async def test_a_job_by_a_part_of_its_id(jobs: Jobs) -> None:
    id, _ = await jobs.ask(A)
    assert (await jobs.get(id)).id == (await jobs.get(id[-8:])).id == (await jobs.get(id[:18])).id == id
    with pytest.raises(NotFound):
        await jobs.get("00000000")
    with pytest.raises(InvalidInput, match="too short"):
        await jobs.get("abc")
    with pytest.raises(Conflict, match="waiting"):
        await jobs.retry(id)


async def test_marks_and_pauses_are_kept_apart(jobs: Jobs, shared_url: str) -> None:
    assert await jobs.marks([A, B]) == {A: Mark(), B: Mark()}
    await jobs.mark(A, 7)
    await jobs.pause(A)
    await jobs.mark(A, 9)
    async with await Jobs.open(shared_url) as elsewhere:
        assert await elsewhere.marks([A, B]) == {A: Mark(head=9, paused=True), B: Mark()}
        assert await elsewhere.paused(A)
        assert not await elsewhere.paused(B)
        await elsewhere.resume(A)
        await elsewhere.pause()
    assert await jobs.marks([A]) == {A: Mark(head=9)}
    assert await jobs.paused()
    assert await jobs.paused(B)
    await jobs.resume()
    assert not await jobs.paused(A)
    assert [job.agent for job in await jobs.list()] == ["a"]  # asked for when its pause ended


async def test_a_sweep_asks_for_those_that_changed(jobs: Jobs, shared_url: str) -> None:
    async with Longmind.open(shared_url, settings=Settings.load({})) as longmind:
        await told(longmind, "a", "b", "c", "d")
        await jobs.mark(
            Scope(agent="b", all_users=True), (await longmind.store.backend.head(Scope(agent="b", all_users=True))).seq
        )
        await jobs.pause(Scope(agent="c", all_users=True))
        await jobs.ask(Scope(agent="d", all_users=True))
        done = await sweep(longmind, jobs, timedelta(days=1))
        assert (done.agents, done.queued, done.waiting, done.paused) == (4, 1, 1, 1)
        assert sorted(job.agent for job in await jobs.list()) == ["a", "d"]
        await jobs.pause()
        assert (await sweep(longmind, jobs, timedelta(days=1))).queued == 0


async def test_a_trigger_asks_when_enough_has_changed(jobs: Jobs, shared_url: str) -> None:
    async with Longmind.open(shared_url, settings=Settings.load({})) as longmind:
        mem = longmind.agent("a", "alice")
        trigger = Trigger(longmind, jobs, after=4)
        await mem.remember(TEA)
        assert await trigger(mem.scope) is None
        await mem.remember("I live in Lisbon.")
        first = await trigger(mem.scope)
        assert first is not None
        job = await jobs.get(first)
        assert (job.agent, job.cause, job.state) == ("a", "trigger", "waiting")
        assert await trigger(mem.scope) == first
        await jobs.mark(A, 4)
        assert await trigger(mem.scope) is None
        await mem.remember([f"Thing {n} is new." for n in range(4)])
        await jobs.pause(A)
        assert await trigger(mem.scope) is None
        await jobs.resume(A)
        assert await trigger(mem.scope) == first
        with pytest.raises(InvalidSetting):
            Trigger(longmind, jobs, after=0)


async def test_a_database_that_cannot_be_reached_is_told() -> None:
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        await Jobs.open("postgresql://nobody@127.0.0.1:1/nothing?connect_timeout=2")
