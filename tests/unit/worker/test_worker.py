"""A worker in this process, on a real database."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta

import pytest
from tests.unit.worker.troubled import TroubledStore, told, until

from longmind import Longmind, Settings
from longmind.errors import Conflict, InvalidSetting
from longmind.jobs import JobProgress
from longmind.testing import FakeClock
from longmind.types import Scope
from longmind.worker import JobOutcome, Jobs, Worker, WorkerOptions
from longmind.worker.presence import ROSTER
from longmind.worker.progress_notes import ProgressNotes
from longmind.worker.workflows import wait_after

FAST = WorkerOptions(poll_seconds=0.05, lease_seconds=1, wait_seconds=0.01, grace_seconds=30)


async def test_every_agent_that_changed_is_consolidated_once(troubled: TroubledStore) -> None:
    scopes = await told(troubled, "a", "b", "c")
    heard: dict[str, JobOutcome | BaseException] = {}
    async with Worker(troubled, FAST, told=lambda scope, what: heard.update({scope.agent: what})) as worker:
        await worker.finished()
        assert (worker.done, worker.failed) == (3, 0)
        marks = await worker.jobs.marks(scopes)
        for scope in scopes:
            assert marks[scope].head == (await troubled.store.backend.head(scope)).seq
        found = await worker.jobs.list()
        assert {(job.agent, job.state, job.starts, job.worker) for job in found} == {
            (name, "done", 1, worker.name) for name in "abc"
        }
        assert {job.agent: job.outcome for job in found} == heard
        assert (await worker.sweep()).queued == 0
        await troubled.agent("b").remember("I moved to Oslo.")
        assert (await worker.sweep()).queued == 1
        await worker.finished()
        assert worker.done == 4
        with pytest.raises(Conflict, match="already"):
            await Worker(troubled, FAST).start()
    with pytest.raises(Conflict, match="not running"):
        _ = worker.jobs
    await worker.stop()


async def test_what_fails_is_tried_again_and_then_told(troubled: TroubledStore) -> None:
    await told(troubled, "a", "hopeless", "never", "once")
    troubled.hopeless = {"hopeless"}
    troubled.failing = {"once": 1, "never": 1_000}
    async with Worker(troubled, FAST) as worker:
        await worker.finished()
        jobs = {job.agent: job for job in await worker.jobs.list()}
        assert {name: job.state for name, job in jobs.items()} == {
            "a": "done",
            "hopeless": "failed",
            "never": "failed",
            "once": "done",
        }
        assert troubled.tried.count("never") == FAST.attempts
        assert troubled.tried.count("hopeless") == 1
        failure = jobs["never"].failure
        assert failure is not None
        assert (failure.error, failure.message) == ("store_unavailable", "Not now.")
        failure = jobs["hopeless"].failure
        assert failure is not None
        assert failure.error == "invalid_input"
        troubled.failing, troubled.hopeless = {}, set()
        (first,) = await worker.jobs.list(scope=Scope(agent="never", all_users=True))
        again = await worker.jobs.retry(first.id)
        assert again.cause == "retry"
        assert [job.agent for job in await worker.jobs.retry_failed()] == ["hopeless"]
        await worker.finished()
        assert (await worker.jobs.get(again.id)).state == "done"


async def test_the_schedule_finds_what_changes(troubled: TroubledStore) -> None:
    await told(troubled, "a")
    async with Worker(troubled, FAST.model_copy(update={"cron": "* * * * * *", "keep_days": 0})) as worker:
        await worker.finished()
        await troubled.agent("a").remember("I moved to Oslo.")
        await until(lambda: worker.done == 2)


async def test_who_is_paused_waits(troubled: TroubledStore, shared_url: str) -> None:
    (a,) = await told(troubled, "a")
    async with await Jobs.open(shared_url) as jobs:
        id, _ = await jobs.ask(a)
        await jobs.pause(a)
        async with Worker(troubled, FAST) as worker:
            await worker.finished()
            outcome = (await jobs.get(id)).outcome
            assert outcome is not None
            assert outcome.paused
            assert troubled.tried == []
            assert (await worker.sweep()).queued == 0
            await jobs.resume(a)
            await worker.finished()
            assert troubled.tried
            await jobs.pause()
            await troubled.agent("a").remember("I moved to Oslo.")
            assert (await worker.sweep()).queued == 0
            await jobs.resume()
            await until(lambda: worker.done == 3)


async def test_stopping_waits_for_what_runs_and_leaves_nothing_behind(troubled: TroubledStore, shared_url: str) -> None:
    await told(troubled, "a")
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def before(name: str) -> None:
        inside.set()
        await go_on.wait()

    troubled.before = before  # type: ignore[method-assign]
    before_threads = set(threading.enumerate())
    worker = Worker(troubled, FAST)
    await worker.start()
    await inside.wait()
    stopping = asyncio.create_task(worker.stop())
    await asyncio.sleep(0.3)
    assert not stopping.done()
    go_on.set()
    await stopping
    left = {thread.name for thread in threading.enumerate()} - {thread.name for thread in before_threads}
    assert {name for name in left if not name.startswith(("longmind_", "asyncio_"))} == set()
    async with await Jobs.open(shared_url) as jobs:
        assert [job.state for job in await jobs.list()] == ["done"]
        assert jobs.state.read([ROSTER]) == {ROSTER: {}}


async def test_what_does_not_end_in_time_is_left_to_the_next(troubled: TroubledStore, shared_url: str) -> None:
    (a,) = await told(troubled, "a")
    inside = asyncio.Event()

    async def forever(name: str) -> None:
        inside.set()
        await asyncio.Event().wait()

    hurried = FAST.model_copy(update={"grace_seconds": 1})
    troubled.before = forever  # type: ignore[method-assign]
    async with Worker(troubled, hurried):
        await inside.wait()
    async with await Jobs.open(shared_url) as jobs:
        assert [job.state for job in await jobs.list()] == ["running"]
    del troubled.before
    async with Worker(troubled, FAST) as worker:
        await worker.finished()
        (job,) = await worker.jobs.list()
        assert (job.state, job.starts, job.worker) == ("done", 2, worker.name)
        assert worker.taken_over == 1
        assert (await worker.jobs.marks([a]))[a].head == (await troubled.store.backend.head(a)).seq


async def test_a_schedule_that_is_none_is_refused(troubled: TroubledStore) -> None:
    with pytest.raises(InvalidSetting, match="every day"):
        await Worker(troubled, FAST.model_copy(update={"cron": "every day"})).start()
    async with Worker(troubled, FAST):
        pass


async def test_a_store_in_memory_has_no_worker() -> None:
    async with Longmind.open("memory:") as longmind:
        with pytest.raises(InvalidSetting, match="ConsolidationService"):
            await Worker(longmind).start()


async def test_an_agent_that_nobody_writes_to_gets_a_job_when_something_has_faded(shared_url: str) -> None:
    clock = FakeClock()
    async with Longmind.open(shared_url, settings=Settings.load({}), clock=clock) as longmind:
        await longmind.agent("a").configure(archive_after_days=30)
        dull = await longmind.agent("a").remember("The bus was late.", importance=0.1)
        async with Worker(longmind, FAST) as worker:
            await worker.finished()
            assert (await worker.sweep()).queued == 0
            clock.advance(timedelta(days=40))
            assert (await worker.sweep()).queued == 1
            await worker.finished()
        assert (await longmind.agent("a").get(dull.id) or dull).state == "archived"


async def test_a_running_job_tells_of_attempts_that_failed_and_how_far_it_has_come(
    troubled: TroubledStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longmind.worker.progress_notes.NOTE_EVERY", 0.0)
    await told(troubled, "a")
    troubled.failing = {"a": 1}
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def before(name: str) -> None:
        inside.set()
        await go_on.wait()

    troubled.before = before  # type: ignore[method-assign]
    async with Worker(troubled, FAST) as worker:
        await inside.wait()
        (job,) = (await troubled.jobs().list(states=["running"])).items
        assert (job.failed_attempts, job.next_attempt_at, job.progress) == (1, None, None)
        assert job.failure is not None
        assert job.failure.message == "Not now."
        notes = ProgressNotes(worker.jobs, job.id)
        async with notes:
            notes.tell("extract", 0.5)
            while (running := await troubled.jobs().get(job.id)).progress is None:  # noqa: ASYNC110  # a row in a database
                await asyncio.sleep(0.02)
        assert running.progress == JobProgress(stage="extract", share=0.5)
        go_on.set()
        await worker.finished()
        ended = await troubled.jobs().get(job.id)
        assert (ended.state, ended.progress, ended.failure, ended.failed_attempts) == ("done", None, None, 1)


def test_the_wait_after_an_attempt_grows_and_the_last_has_none() -> None:
    options = WorkerOptions(attempts=3, wait_seconds=1)
    waits = [wait_after(options, attempt) for attempt in range(3)]
    assert waits == [timedelta(seconds=1), timedelta(seconds=4), None]
