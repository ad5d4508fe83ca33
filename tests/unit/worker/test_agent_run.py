"""Consolidating an agent until it stands still."""

from __future__ import annotations

from datetime import timedelta

from tests.unit.worker.troubled import TEA, Troubled, TroubledStore

from longmind import Longmind
from longmind.testing import FakeClock
from longmind.types import Scope
from longmind.worker.agent_run import MAX_RUNS, consolidate_until_unchanged


async def test_the_head_is_where_the_journal_stands(longmind: Longmind) -> None:
    scope = Scope(agent="a", all_users=True)
    await longmind.agent("a").remember(TEA)
    outcome = await consolidate_until_unchanged(longmind, scope)
    assert outcome.head == (await longmind.store.backend.head(scope)).seq
    assert outcome.changes > 0
    assert len(outcome.reports) == 1
    again = await consolidate_until_unchanged(longmind, scope)
    assert (again.head, again.changes, again.reports) == (outcome.head, 0, ())


async def test_a_report_can_be_taken_back(longmind: Longmind) -> None:
    await longmind.agent("a").remember(TEA)
    outcome = await consolidate_until_unchanged(longmind, Scope(agent="a", all_users=True))
    assert (await longmind.agent("a").undo(outcome.reports[0])).changes


async def test_an_agent_that_never_rests_is_left_with_a_head_that_is_sure() -> None:
    class Busy(TroubledStore):
        async def before(self, name: str) -> None:
            await super(Troubled, self.agent(name)).remember(f"Thing {len(self.tried)} happened on its own day.")

    busy = Busy.open("memory:")
    assert isinstance(busy, Busy)
    async with busy as longmind:
        await longmind.agent("a").remember(TEA)
        outcome = await consolidate_until_unchanged(longmind, Scope(agent="a", all_users=True))
        assert busy.tried == ["a"] * MAX_RUNS
        assert outcome.head < (await longmind.store.backend.head(Scope(agent="a", all_users=True))).seq


async def test_it_says_when_time_alone_will_give_it_something_to_do(longmind: Longmind, face_clock: FakeClock) -> None:
    await longmind.agent("a").configure(archive_after_days=30)
    await longmind.agent("a").remember("The bus was late.", importance=0.1)
    outcome = await consolidate_until_unchanged(longmind, Scope(agent="a", all_users=True))
    assert outcome.until is None
    assert outcome.again == outcome.due
    assert outcome.due is not None
    assert timedelta(days=14) < outcome.due - face_clock.now() <= timedelta(days=30)
    await longmind.agent("b").configure(archive_after_days=None)
    assert (await consolidate_until_unchanged(longmind, Scope(agent="b", all_users=True))).again is None
