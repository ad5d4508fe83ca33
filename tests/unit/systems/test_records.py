"""Keyed records and leases: rivals, retries, owners, and holders that died."""

import asyncio
from typing import Any

import pytest
from tests.unit.systems.conftest import ScopedStores

from longmind.errors import InvalidInput, KeyTaken, VersionConflict
from longmind.store.base import Put, Update
from longmind.systems.records import KeyedRecord, Lease, LeaseTerm
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock
from longmind.types import Filter, Memory, Model


class Counter(Model):
    value: int = 0


def counter(scoped: ScopedStore, **options: Any) -> KeyedRecord[Counter]:
    return KeyedRecord.of_user(scoped, "counter", Counter(), **options)


async def stored(scoped: ScopedStore) -> list[Memory]:
    where = Filter(kinds=("configuration",), states=None)
    return [memory async for memory in scoped.store.scan_all(scoped.scope, where)]


# -- keyed records -----------------------------------------------------------------------------------------------


async def test_a_record_that_does_not_exist_reads_as_its_default(scoped: ScopedStore) -> None:
    record = counter(scoped)
    assert await record.read() == Counter()
    assert record.memory is None
    assert await stored(scoped) == []


async def test_what_is_written_is_read_again(scoped: ScopedStore) -> None:
    await counter(scoped).change(lambda body: Counter(value=body.value + 1), "count")
    record = counter(scoped)
    assert await record.read() == Counter(value=1)
    assert record.memory is not None
    assert (record.memory.content, record.memory.source.role, record.memory.trust) == ("", "system", 1.0)


async def test_an_equal_body_is_no_write_unless_asked_for(scoped: ScopedStore) -> None:
    record = counter(scoped)
    await record.read()
    assert record.write(Counter()) is None
    assert isinstance(record.overwrite(Counter()), Put)
    await record.change(lambda body: Counter(value=7), "count")
    assert record.write(Counter(value=7)) is None
    assert isinstance(record.write(Counter(value=8)), Update)
    version = record.memory.version if record.memory else 0
    assert await record.change(lambda body: body, "nothing") == Counter(value=7)
    assert [memory.version for memory in await stored(scoped)] == [version]


async def test_of_two_that_create_it_one_is_refused(scoped: ScopedStore) -> None:
    first, second = counter(scoped), counter(scoped)
    await first.read()
    await second.read()
    await first.apply(first.overwrite(Counter(value=1)), "first")
    with pytest.raises(KeyTaken):
        await second.apply(second.overwrite(Counter(value=2)), "second")
    assert await second.read() == Counter(value=1)


async def test_of_two_that_change_it_one_is_refused(scoped: ScopedStore) -> None:
    first, second = counter(scoped), counter(scoped)
    await first.change(lambda body: Counter(value=1), "begin")
    await second.read()
    assert await second.is_current()
    await first.change(lambda body: Counter(value=2), "faster")
    assert not await second.is_current()
    with pytest.raises(VersionConflict):
        await second.apply(second.overwrite(Counter(value=3)), "second")


async def test_many_rivals_lose_no_change(scoped: ScopedStore) -> None:
    def add(body: Counter) -> Counter:
        return Counter(value=body.value + 1)

    await asyncio.gather(*(counter(scoped).change(add, "count") for _ in range(12)))
    assert await counter(scoped).read() == Counter(value=12)
    assert len(await stored(scoped)) == 1


async def test_a_change_of_a_record_that_was_removed_meanwhile_is_tried_again(scoped: ScopedStore) -> None:
    await counter(scoped).change(lambda body: Counter(value=5), "begin")
    rival = counter(scoped)
    await rival.read()
    record = counter(scoped)
    await record.read()
    await rival.delete("gone")
    with pytest.raises(VersionConflict, match="removed meanwhile"):
        await record.apply(record.overwrite(Counter(value=6)), "too late")
    assert await record.change(lambda body: Counter(value=body.value + 1), "again") == Counter(value=1)


async def test_a_write_fails_together_with_the_rest_of_its_batch(scoped: ScopedStore) -> None:
    record, rival = counter(scoped), counter(scoped)
    await record.read()
    await rival.change(lambda body: Counter(value=1), "faster")
    other = scoped.new("configuration", "", key="other")
    with pytest.raises(KeyTaken):
        await scoped.write([Put(other), record.overwrite(Counter(value=2))])
    assert [memory.key for memory in await stored(scoped)] == ["counter"]


async def test_each_user_and_no_user_has_a_record_of_their_own(scoped_stores: ScopedStores) -> None:
    nobody, ann, ben = (
        await scoped_stores.open(),
        await scoped_stores.open(user="ann"),
        await scoped_stores.open(user="ben"),
    )
    for value, scoped in enumerate((nobody, ann), start=1):
        await counter(scoped).change(lambda body, value=value: Counter(value=value), "set")
    assert [(await counter(scoped).read()).value for scoped in (nobody, ann, ben)] == [1, 2, 0]


async def test_an_agents_record_is_the_same_for_every_user(scoped_stores: ScopedStores) -> None:
    ann, ben = await scoped_stores.open(user="ann"), await scoped_stores.open(user="ben")
    await KeyedRecord.of_agent(ann, "shared", Counter()).change(lambda body: Counter(value=3), "set")
    assert await KeyedRecord.of_agent(ben, "shared", Counter()).read() == Counter(value=3)


async def test_the_body_may_be_the_metadata_of_another_kind(scoped: ScopedStore) -> None:
    record = counter(scoped, kind="procedure", stored_in="metadata", fields={"state": "archived"})
    await record.change(lambda body: Counter(value=4), "set")
    assert record.memory is not None
    assert (record.memory.kind, record.memory.state, record.memory.body) == ("procedure", "archived", {})
    assert record.memory.metadata == {"value": 4}
    await record.change(lambda body: Counter(value=5), "set")
    assert await counter(scoped, kind="procedure", stored_in="metadata").read() == Counter(value=5)


async def test_a_body_that_is_not_valid_says_which_field(scoped: ScopedStore) -> None:
    await scoped.write([Put(scoped.new("configuration", "", key="counter", body={"value": "many"}))])
    with pytest.raises(InvalidInput, match="Counter is not valid: value"):
        await counter(scoped).read()


# -- leases ------------------------------------------------------------------------------------------------------


class Problems(list[str]):
    """What leases complained of."""


def lease(scoped: ScopedStore, holder: str, problems: Problems, seconds: float = 30.0) -> Lease:
    return Lease(scoped, "s", holder, seconds, problems.append)


async def test_one_holder_at_a_time_and_the_next_after_it(scoped: ScopedStore) -> None:
    problems = Problems()
    first, second = lease(scoped, "first", problems), lease(scoped, "second", problems)
    assert await first.acquire(1)
    assert not await second.acquire(0.05)
    waiting = asyncio.create_task(second.acquire(10))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    await first.release()
    assert await waiting
    assert second.taken_over_from is None
    await second.release()
    assert await stored(scoped) == []
    assert problems == []


async def another_process(scoped_stores: ScopedStores) -> ScopedStore:
    if scoped_stores.backend == "inmem":
        pytest.skip("what is in memory has no other process")
    return await scoped_stores.another()


async def test_another_process_waits_too(scoped_stores: ScopedStores) -> None:
    problems = Problems()
    ours = lease(await scoped_stores.open(), "ours", problems)
    theirs = lease(await another_process(scoped_stores), "theirs", problems)
    assert await ours.acquire(1)
    assert not await theirs.acquire(0.1)
    await ours.release()
    assert await theirs.acquire(1)
    await theirs.release()
    assert problems == []


async def test_a_lease_whose_holder_died_is_taken_over_when_its_term_is_over(
    scoped_stores: ScopedStores, clock: FakeClock
) -> None:
    problems = Problems()
    dead = lease(await scoped_stores.open(), "dead", problems)
    heir = lease(await another_process(scoped_stores), "heir", problems)
    assert await dead.acquire(1)
    assert not await heir.acquire(0.1)
    clock.advance(31)
    assert await heir.acquire(1)
    assert heir.taken_over_from == "dead"
    await dead.release()  # it only seemed dead; it must not remove the lease of its heir
    assert dead.lost
    assert len(await stored(await scoped_stores.open())) == 1
    await heir.release()
    assert await stored(await scoped_stores.open()) == []
    assert problems == []


async def test_of_two_heirs_one_takes_over(scoped_stores: ScopedStores, clock: FakeClock) -> None:
    problems = Problems()
    dead = lease(await scoped_stores.open(), "dead", problems)
    heirs = [lease(await another_process(scoped_stores), name, problems) for name in ("one", "two")]
    assert await dead.acquire(1)
    clock.advance(31)
    assert sorted(await asyncio.gather(*(heir.acquire(0.2) for heir in heirs))) == [False, True]
    for holder in (*heirs, dead):
        await holder.release()
    assert problems == []


async def test_a_lease_is_renewed_while_it_is_held(scoped: ScopedStore, clock: FakeClock) -> None:
    problems = Problems()
    held = lease(scoped, "holder", problems, seconds=0.06)
    assert await held.acquire(1)
    (before,) = await stored(scoped)
    clock.advance(5)
    async with asyncio.timeout(10):
        while (await stored(scoped))[0].body["until"] <= before.body["until"]:  # noqa: ASYNC110  # the store tells
            await asyncio.sleep(0.01)
    assert not held.lost
    await held.release()
    assert problems == []


async def test_a_lease_that_was_removed_is_lost(scoped: ScopedStore) -> None:
    problems = Problems()
    held = lease(scoped, "holder", problems, seconds=0.03)
    assert await held.acquire(1)
    (record,) = await stored(scoped)
    await scoped.store.delete(scoped.scope, record.id)
    async with asyncio.timeout(10):
        while not held.lost:  # noqa: ASYNC110  # the renewing task sets it
            await asyncio.sleep(0.01)
    await held.release()
    assert problems == []


async def test_without_a_store_the_holder_goes_on_and_says_so(
    scoped: ScopedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    problems = Problems()

    async def broken(*args: object, **options: object) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(scoped.store, "apply", broken)
        held = lease(scoped, "holder", problems)
        assert await held.acquire(1)
        await held.release()
    assert problems == ["The session could not be locked: the disk is full"]
    again = lease(scoped, "again", problems)
    assert await again.acquire(1)
    await again.release()


async def test_who_is_cancelled_while_waiting_leaves_the_lease_free(scoped: ScopedStore) -> None:
    problems = Problems()
    first, second = lease(scoped, "first", problems), lease(scoped, "second", problems)
    assert await first.acquire(1)
    waiting = asyncio.create_task(second.acquire(10))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await first.release()
    third = lease(scoped, "third", problems)
    assert await third.acquire(1)
    await third.release()


def test_a_term_is_held_until_it_is_over() -> None:
    clock = FakeClock()
    now = clock.now()
    term = LeaseTerm.starting(now, 10)
    assert term.is_held(now)
    clock.advance(10)
    assert not term.is_held(clock.now())
    assert term.renewed(clock.now(), 10).is_held(clock.now())
    assert not LeaseTerm(None).is_held(now)
