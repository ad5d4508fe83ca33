"""Consolidation that starts by itself when enough was written, with nothing to call."""

from __future__ import annotations

import asyncio
import logging

import pytest
from tests.unit.worker.troubled import TEA, TroubledStore, until

from longmind import Longmind
from longmind.errors import InvalidSetting
from longmind.types import Filter, Scope
from longmind.worker import ConsolidationService, Jobs, Trigger, Worker, WorkerOptions
from longmind.worker.listening import Listening

FAST = WorkerOptions(poll_seconds=0.05, lease_seconds=1, wait_seconds=0.01, grace_seconds=30, after=3)


async def test_an_agent_is_acted_for_once_when_enough_was_written(longmind: Longmind) -> None:
    acted: list[Scope] = []

    async def act(scope: Scope) -> None:
        acted.append(scope)
        await longmind.agent(scope.agent).remember(["own one", "own two", "own three"])  # does not wake it again

    listening = Listening(longmind, act, after=3)
    listening.start()
    listening.start()
    await longmind.agent("a", user="ann").remember("One.")
    await longmind.agent("b").remember("One.")
    await longmind.agent("a", user="ben").remember("Two.")
    await asyncio.sleep(0.05)
    assert acted == []
    await longmind.agent("a").remember("Three.")
    await until(lambda: acted)
    await asyncio.sleep(0.05)
    assert acted == [Scope(agent="a", all_users=True)]
    await listening.stop()
    await listening.stop()
    assert longmind.store.listeners == []
    await longmind.agent("b").remember(["Two.", "Three.", "Four."])
    await asyncio.sleep(0.05)
    assert acted == [Scope(agent="a", all_users=True)]


async def test_what_fails_beside_fails_no_write_and_is_tried_again(
    longmind: Longmind, caplog: pytest.LogCaptureFixture
) -> None:
    tried: list[str] = []

    async def act(scope: Scope) -> None:
        tried.append(scope.agent)
        raise RuntimeError("not this time")

    def broken(scope: Scope, receipt: object) -> None:
        raise RuntimeError("a listener that fails")

    longmind.store.listeners.append(broken)
    listening = Listening(longmind, act, after=1)
    listening.start()
    with caplog.at_level(logging.WARNING):
        stored = await longmind.agent("a").remember("One.")
        await until(lambda: tried)
        await longmind.agent("a").remember("Two.")
        await until(lambda: len(tried) == 2)
    await listening.stop()
    assert (await longmind.agent("a").get(stored.id)) == stored
    assert "not this time" in caplog.text
    assert "A listener of the store failed." in caplog.text


async def test_a_threshold_below_one_is_refused(longmind: Longmind) -> None:
    with pytest.raises(InvalidSetting):
        ConsolidationService(longmind, after=0)


async def test_the_service_consolidates_an_agent_when_enough_was_written(longmind: Longmind) -> None:
    async with ConsolidationService(longmind, after=3) as service:
        await until(lambda: service.status().last is not None)
        mem = longmind.agent("a", user="alice")
        await mem.remember("I live in Lisbon.")
        assert await facts(longmind) == []
        await mem.remember(["I love tea.", "I work as a nurse."])
        await until(lambda: consolidated(service) == 1)
        assert len(await facts(longmind)) == 3
    assert longmind.store.listeners == []


def consolidated(service: ConsolidationService) -> int:
    last = service.status().last
    return 0 if last is None else last.consolidated


async def facts(longmind: Longmind) -> list[str]:
    return [m.content async for m in longmind.store.scan_all(Scope(agent="a", all_users=True), Filter(kinds=("fact",)))]


async def test_shared_memory_is_no_agent_to_consolidate(longmind: Longmind) -> None:
    await longmind.agent("a").shared.propose("Green tea has caffeine.")
    await longmind.agent("a").remember("Hello.")
    service = ConsolidationService(longmind)
    told = await service.run_now()
    assert (told.consolidated, told.failures) == (1, ())


async def test_a_trigger_asks_for_jobs_by_itself(troubled: TroubledStore, shared_url: str) -> None:
    async with await Jobs.open(shared_url) as jobs, Trigger(troubled, jobs, after=3):
        await troubled.agent("a").remember(TEA)
        while not (found := await jobs.list()):  # noqa: ASYNC110  # jobs are rows in a database
            await asyncio.sleep(0.02)
        assert [(job.agent, job.cause, job.state) for job in found] == [("a", "trigger", "waiting")]


async def test_a_worker_hears_what_its_own_process_writes(troubled: TroubledStore) -> None:
    async with Worker(troubled, FAST) as worker:
        await troubled.agent("a").remember(TEA)
        await until(lambda: worker.done == 1)
        (job,) = await worker.jobs.list()
        assert (job.agent, job.cause) == ("a", "trigger")
    assert troubled.store.listeners == []
