"""Consolidation inside the process."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from tests.unit.worker.troubled import TroubledStore, told, until

from longmind import Longmind, Settings
from longmind.errors import InvalidSetting
from longmind.testing import FakeClock
from longmind.types import Scope
from longmind.worker import ConsolidationService

DAY = timedelta(days=1)


async def test_it_runs_when_it_starts_and_then_at_the_interval(longmind: Longmind) -> None:
    await told(longmind, "a", "b")
    async with ConsolidationService(longmind, timedelta(milliseconds=50)) as service:
        await until(lambda: (last := service.status().last) and last.unchanged == 2)
        assert service.status().running
    status = service.status()
    assert (status.running, status.agent, status.next_at) == (False, None, None)


async def test_only_agents_that_changed_have_a_turn(longmind: Longmind) -> None:
    await told(longmind, "a", "b")
    service = ConsolidationService(longmind)
    first = await service.run_now()
    assert (first.consolidated, first.unchanged, first.failures) == (2, 0, ())
    assert first.changes > 0
    await longmind.agent("b").remember("I moved to Oslo in June.")
    second = await service.run_now()
    assert (second.consolidated, second.unchanged) == (1, 1)
    assert service.status().last == second


async def test_a_tenant_may_be_chosen(longmind: Longmind) -> None:
    await told(longmind, "a")
    await longmind.agent("a", tenant="other").remember("I like coffee.")
    assert (await ConsolidationService(longmind, tenant="other").run_now()).consolidated == 1
    assert (await ConsolidationService(longmind).run_now()).consolidated == 2


@pytest.fixture
async def store() -> TroubledStore:
    made = TroubledStore.open("memory:", settings=Settings.load({}))
    assert isinstance(made, TroubledStore)
    await made
    return made


async def test_one_that_fails_stops_nobody_and_is_told(store: TroubledStore, caplog: pytest.LogCaptureFixture) -> None:
    await told(store, "a", "bad", "c")
    store.hopeless = {"bad"}
    service = ConsolidationService(store)
    done = await service.run_now()
    assert done.consolidated == 2
    (failure,) = done.failures
    assert (failure.agent, failure.error) == ("bad", "invalid_input")
    assert failure.message == "This agent cannot be consolidated. Ask its keeper."
    assert "bad" in caplog.text
    store.hopeless = set()
    assert (await service.run_now()).consolidated == 1
    await store.close()


async def test_stopping_waits_for_the_agent_whose_turn_it_is(store: TroubledStore) -> None:
    inside, go_on = asyncio.Event(), asyncio.Event()

    class Slow(TroubledStore):
        async def before(self, name: str) -> None:
            inside.set()
            await go_on.wait()

    store.__class__ = Slow
    await told(store, "a", "b")
    service = ConsolidationService(store)
    service.start()
    service.start()
    await inside.wait()
    assert service.status().agent == "a"
    stopping = asyncio.create_task(service.stop())
    await asyncio.sleep(0.05)
    assert not stopping.done()
    go_on.set()
    await stopping
    last = service.status().last
    assert last is not None
    assert (last.consolidated, last.stopped) == (1, True)
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []
    service.start()
    await until(lambda: (last := service.status().last) and last.unchanged == 1)
    await service.stop()
    last = service.status().last
    assert last is not None
    assert (last.consolidated, last.stopped) == (1, False)
    await store.close()


async def test_a_store_that_cannot_be_reached_is_logged_and_tried_again(
    longmind: Longmind, caplog: pytest.LogCaptureFixture
) -> None:
    service = ConsolidationService(longmind, timedelta(milliseconds=20))
    await longmind.close()
    service.start()
    await until(lambda: caplog.text.count("No agent could be consolidated") >= 2)
    assert service.status().running
    await service.stop()


async def test_an_interval_of_nothing_is_refused(longmind: Longmind) -> None:
    with pytest.raises(InvalidSetting):
        ConsolidationService(longmind, 0)


async def test_the_last_pass_tells_when_it_was(longmind: Longmind) -> None:
    await told(longmind, "a")
    done = await ConsolidationService(longmind).run_now()
    assert done.finished_at is not None
    assert done.finished_at > done.started_at
    assert await longmind.agents() == [Scope(agent="a", all_users=True)]


async def test_an_agent_that_nobody_writes_to_has_its_turn_when_something_has_faded(
    longmind: Longmind, face_clock: FakeClock
) -> None:
    mem = longmind.agent("a")
    await mem.configure(archive_after_days=30)
    dull = await mem.remember("The bus was late.", importance=0.1)
    service = ConsolidationService(longmind)
    await service.run_now()
    assert (await service.run_now()).unchanged == 1
    face_clock.advance(timedelta(days=40))
    done = await service.run_now()
    assert (done.consolidated, done.put_off) == (1, 0)
    assert (await mem.get(dull.id) or dull).state == "archived"


async def test_active_plans_are_monitored_and_each_problem_is_an_event_once(tmp_path: Path) -> None:
    clock = FakeClock()
    async with Longmind.open(str(tmp_path / "a.db"), clock=clock) as longmind:
        ann, bob = longmind.agent("a", user="ann"), longmind.agent("a", user="bob")
        goal, _ = await ann.goals.create_goal_with_plan("Publish the report", steps=["Write it", "Send it"])
        await bob.goals.create_goal_with_plan("Paint the shed", steps=["Buy paint"], deadline=clock.now() + DAY)
        service = ConsolidationService(longmind)
        assert (await service.run_now()).consolidated == 1
        assert (await service.run_now()).unchanged == 1
        clock.advance(timedelta(hours=2))
        await service.run_now()
        (event,) = (await ann.episodic.events(type="finding")).items
        assert event.data["kind"] == "stall"
        assert event.data["goal"] == goal.id
        assert {e.data["kind"] for e in (await bob.episodic.events(type="finding")).items} == {"stall"}
        clock.advance(timedelta(hours=2))
        await service.run_now()
        assert len((await ann.episodic.events(type="finding")).items) == 1, "it still lasts, and was reported"
        await ann.goals.start_step(goal.id, "s1")
        await ann.goals.complete_step(goal.id, "s1")
        clock.advance(timedelta(minutes=20))
        await service.run_now()
        clock.advance(timedelta(hours=2))
        await service.run_now()
        assert len((await ann.episodic.events(type="finding")).items) == 2, "it came back"


async def test_a_tenant_is_told_of_its_own_agents_only(store: TroubledStore) -> None:
    await store.agent("mine", tenant="acme").remember("I like green tea.")
    await store.agent("secret", tenant="umbrella").remember("I like green tea.")
    store.hopeless.add("secret")
    service = ConsolidationService(store, after=None)
    await service.run_now()
    whole, acme, umbrella, nobody = (service.status(tenant).last for tenant in (None, "acme", "umbrella", "initech"))
    assert whole is not None
    assert acme is not None
    assert umbrella is not None
    assert nobody is not None
    assert (whole.consolidated, len(whole.failures)) == (1, 1)
    assert (acme.consolidated, acme.failures, acme.finished_at) == (1, (), whole.finished_at)
    assert (umbrella.consolidated, [failure.agent for failure in umbrella.failures]) == (0, ["secret"])
    assert (nobody.consolidated, nobody.changes, nobody.failures) == (0, 0, ())
    store.hopeless.clear()
    await service.run_now()
    assert service.status("umbrella").last.failures == ()  # type: ignore[union-attr]


async def test_a_tenant_does_not_see_whose_turn_it_is_elsewhere(store: TroubledStore) -> None:
    await store.agent("secret", tenant="umbrella").remember("I like green tea.")
    service = ConsolidationService(store, after=None)
    seen = []

    async def before(name: str) -> None:
        seen.append((service.status().agent, service.status("umbrella").agent, service.status("acme").agent))

    store.before = before  # type: ignore[method-assign]
    await service.run_now()
    assert seen[0] == ("secret", "secret", None)
