"""Puts: the memory is stored exactly as sent, or not at all."""

from __future__ import annotations

import pytest

from longmind.errors import Conflict, Forbidden, KeyTaken, LongmindError, NotFound
from longmind.store.base import AddLink, Backend, Delete, Put, Update
from longmind.store.conformance.steps import (
    AGENT,
    ALICE,
    ANY,
    BOB,
    NOON,
    OTHER_AGENT,
    OTHER_TENANT,
    UNKNOWN_ID,
    actions,
    apply,
    feed,
    get,
    journal,
    put,
    update,
)
from longmind.testing import memory
from longmind.types import Link, Scope, Source


class Puts:
    """A put stores the record exactly as given, version and counters too. A key is held once per user of an agent,
    whatever the state of the record that holds it. A batch happens whole or not at all, and later writes of a batch
    see the earlier ones. The receipt tells each record as its own write left it."""

    async def test_what_is_put_is_got(self, backend: Backend) -> None:
        given = memory(
            "I moved to Lisbon.",
            scope=ALICE,
            session="s1",
            kind="fact",
            key="home",
            body={"subject": "alice"},
            importance=0.25,
            valence=-0.5,
            tags=("home", "city"),
            metadata={"confidence": 0.5},
            source=Source(role="document", name="Alice", uri="file:a.txt", span=(3, 9)),
            trust=0.4,
            valid_from=NOON,
            version=7,
            access_count=3,
            last_accessed_at=NOON,
            interaction=2.5,
            state="archived",
        )
        receipt = await apply(backend, Put(given), operation="op-1")
        assert receipt.memories == (given,)
        assert (receipt.created, receipt.operation, receipt.replayed) == ((True,), "op-1", False)
        assert await get(backend, given.id) == given

    async def test_an_id_that_exists_is_a_conflict(self, backend: Backend) -> None:
        first = await put(backend, "first", key="k")
        for again in (memory("second", scope=AGENT, id=first.id), first):
            with pytest.raises(Conflict) as caught:
                await apply(backend, Put(again))
            assert type(caught.value) is Conflict
        assert await get(backend, first.id) == first
        assert await actions(backend) == ["put"]

    async def test_the_same_id_under_another_agent_is_another_memory(self, backend: Backend) -> None:
        mine = await put(backend, "mine")
        theirs = await put(backend, "theirs", scope=OTHER_AGENT, id=mine.id)
        assert await get(backend, mine.id) == mine
        assert await get(backend, mine.id, OTHER_AGENT) == theirs

    async def test_an_id_may_be_put_again_after_its_delete(self, backend: Backend) -> None:
        first = await put(backend, "first")
        await apply(backend, Delete(first.id))
        second = await put(backend, "second", id=first.id)
        assert await get(backend, first.id) == second
        assert [row.seq for row in (await feed(backend)).rows] == [3]

    async def test_a_taken_key_returns_its_holder(self, backend: Backend) -> None:
        holder = await put(backend, "first", key="home")
        receipt = await apply(backend, Put(memory("second", scope=AGENT, key="home")))
        assert (receipt.memories, receipt.created) == ((holder,), (False,))
        assert await backend.matching(AGENT, ANY) == {holder.id}
        assert await actions(backend) == ["put"]

    async def test_a_taken_key_fails_if_asked_to(self, backend: Backend) -> None:
        holder = await put(backend, "first", key="home")
        with pytest.raises(KeyTaken) as caught:
            await apply(backend, Put(memory("second", scope=AGENT, key="home"), existing="fail"))
        assert caught.value.hint
        assert await backend.matching(AGENT, ANY) == {holder.id}

    @pytest.mark.parametrize("state", ["archived", "superseded", "stale", "quarantined"])
    async def test_a_key_is_held_in_any_state(self, backend: Backend, state: str) -> None:
        holder = await put(backend, key="home", state=state)
        receipt = await apply(backend, Put(memory("second", scope=AGENT, key="home")))
        assert receipt.memories == (holder,)

    async def test_a_key_is_free_after_its_holder_is_deleted_or_renamed(self, backend: Backend) -> None:
        first = await put(backend, key="home")
        await apply(backend, Delete(first.id))
        second = await put(backend, key="home")
        await update(backend, second.id, key=None)
        third = await put(backend, key="home")
        assert third.key == "home"

    async def test_users_hold_keys_of_their_own(self, backend: Backend) -> None:
        nobodys = await put(backend, key="home")
        hers = await put(backend, key="home", scope=ALICE)
        his = await put(backend, key="home", scope=BOB)
        for holder, user in ((nobodys, None), (hers, "alice"), (his, "bob")):
            receipt = await apply(backend, Put(memory("again", scope=AGENT, user=user, key="home")))
            assert receipt.memories == (holder,)

    async def test_many_without_a_key_do_not_collide(self, backend: Backend) -> None:
        kept = {(await put(backend)).id for _ in range(3)}
        assert await backend.matching(AGENT, ANY) == kept

    async def test_a_key_put_twice_in_one_batch_is_put_once(self, backend: Backend) -> None:
        first, second = (memory(text, scope=AGENT, key="home") for text in ("one", "two"))
        receipt = await apply(backend, Put(first), Put(second))
        assert receipt.memories == (first, first)
        assert receipt.created == (True, False)

    @pytest.mark.parametrize("owner", [OTHER_AGENT, OTHER_TENANT])
    async def test_a_memory_of_another_agent_is_forbidden(self, backend: Backend, owner: Scope) -> None:
        with pytest.raises(Forbidden):
            await apply(backend, Put(memory(scope=owner)))
        assert await backend.scopes() == []

    async def test_a_user_may_write_for_herself_and_for_all(self, backend: Backend) -> None:
        await apply(backend, Put(memory(scope=ALICE)), Put(memory(scope=AGENT)), scope=ALICE)
        with pytest.raises(Forbidden):
            await apply(backend, Put(memory(scope=BOB)), scope=ALICE)

    async def test_a_batch_is_whole_or_nothing(self, backend: Backend) -> None:
        kept = await put(backend, "kept", key="k")
        other = await put(backend, "other")
        before = (await journal(backend), await feed(backend), await backend.stats(AGENT))
        new = memory("new", scope=AGENT)
        good = (
            Put(new),
            AddLink(Link(source=new.id, relation="next", target=kept.id)),
            Update(kept.id, {"content": "changed"}),
            Delete(other.id),
        )
        bad = (
            Put(memory(scope=OTHER_AGENT)),
            Put(memory(scope=AGENT, key="k"), existing="fail"),
            Put(kept),
            Update(UNKNOWN_ID, {"content": "x"}),
            Update(kept.id, {"content": "x"}, expected_version=99),
            Update(kept.id, {"importance": 7}),
            Delete(UNKNOWN_ID),
            AddLink(Link(source=kept.id, relation="next", target=UNKNOWN_ID)),
        )
        for write in bad:
            with pytest.raises(LongmindError):
                await apply(backend, *good, write)
            assert (await journal(backend), await feed(backend), await backend.stats(AGENT)) == before
            assert await get(backend, kept.id) == kept
            assert await get(backend, new.id) is None

    async def test_later_writes_of_a_batch_see_the_earlier(self, backend: Backend) -> None:
        new, target = memory("new", scope=AGENT), memory("target", scope=AGENT)
        receipt = await apply(
            backend,
            Put(new),
            Put(target),
            Update(new.id, {"content": "changed"}, expected_version=1),
            AddLink(Link(source=new.id, relation="next", target=target.id)),
            Delete(new.id, expected_version=2),
        )
        assert [(m.content, m.version) for m in receipt.memories] == [("new", 1), ("target", 1), ("changed", 2)]
        assert receipt.created == (True, True, True)
        assert await backend.matching(AGENT, ANY) == {target.id}
        assert await actions(backend) == ["put", "put", "update", "link", "unlink", "delete"]
        with pytest.raises(NotFound):
            await apply(backend, Delete(target.id), Update(target.id, {"content": "x"}))

    async def test_a_batch_without_writes_is_fine(self, backend: Backend) -> None:
        receipt = await apply(backend, operation="nothing")
        assert (receipt.operation, receipt.memories, receipt.created) == ("nothing", (), ())
        assert (await backend.head(AGENT)).seq == 0

    async def test_what_the_caller_does_with_a_record_does_not_reach_the_store(self, backend: Backend) -> None:
        given = memory("x", scope=AGENT, body={"list": [1]}, metadata={"a": 1})
        receipt = await apply(backend, Put(given))
        for held in (given, receipt.memories[0], *(await backend.get(AGENT, [given.id]))):
            held.body["list"].append(2)
            held.metadata["a"] = 2
        stored = await get(backend, given.id)
        assert stored is not None
        assert (stored.body, stored.metadata) == ({"list": [1]}, {"a": 1})
