"""Deletes, and erasure, which clears the journal too."""

from __future__ import annotations

import pytest

from longmind.errors import NotFound, VersionConflict
from longmind.store.base import AddLink, Backend, Delete, Put, RemoveLink, Update, Write
from longmind.store.conformance.steps import (
    AGENT,
    ALICE,
    ANY,
    BOB,
    NOON,
    OTHER_AGENT,
    UNKNOWN_ID,
    actions,
    apply,
    clock,
    feed,
    get,
    journal,
    link,
    links,
    put,
    unit_vector,
    update,
    with_space,
)
from longmind.testing import memory
from longmind.types import Link

SECRET = "The password is swordfish."


class Deletes:
    """A delete removes the record, its vectors and its links; each link is unlinked in the journal first, ordered by
    source, relation, target. An erase also empties every journal line about the memory or about a link that names it,
    of its reason too, and adds one line with nothing in it but the reason of the erasure; what others remember stays,
    with the reason, where one batch was about both."""

    async def test_a_deleted_memory_is_gone(self, backend: Backend) -> None:
        kept, gone = await put(backend, "kept"), await put(backend, "gone", tags=("t",))
        receipt = await apply(backend, Delete(gone.id, expected_version=1))
        assert (receipt.memories, receipt.created) == ((), ())
        assert await get(backend, gone.id) is None
        assert await backend.matching(AGENT, ANY) == {kept.id}
        assert [row.id for row in (await feed(backend)).rows] == [kept.id]
        last = (await journal(backend))[-1]
        assert (last.action, last.memory_id, last.after) == ("delete", gone.id, None)
        assert last.before == gone.model_dump(mode="json")

    async def test_a_delete_may_expect_a_version(self, backend: Backend) -> None:
        old = await put(backend)
        for erase in (False, True):
            with pytest.raises(VersionConflict) as caught:
                await apply(backend, Delete(old.id, expected_version=2, erase=erase))
            assert caught.value.details["actual"] == 1
        assert await get(backend, old.id) == old

    @pytest.mark.parametrize("erase", [False, True])
    async def test_what_is_not_in_scope_cannot_be_deleted(self, backend: Backend, erase: bool) -> None:
        hers = await put(backend, scope=ALICE)
        for scope, id in ((ALICE, UNKNOWN_ID), (ALICE, "no id"), (BOB, hers.id), (OTHER_AGENT, hers.id)):
            with pytest.raises(NotFound):
                await apply(backend, Delete(id, erase=erase), scope=scope)
        await apply(backend, Delete(hers.id, erase=erase), scope=ALICE)
        with pytest.raises(NotFound):
            await apply(backend, Delete(hers.id, erase=erase), scope=ALICE)

    async def test_links_are_unlinked_first_and_in_order(self, backend: Backend) -> None:
        a, b, c = [await put(backend) for _ in range(3)]
        for source, relation, target in ((b, "x", c), (b, "x", a), (a, "x", b), (b, "B", c), (b, "é", b), (a, "z", c)):
            await link(backend, source, relation, target)
        start = (await backend.head(AGENT)).seq
        await apply(backend, Delete(b.id))
        told = await journal(backend, after=start)
        unlinked = [change.link for change in told[:-1] if change.link]
        expected = [(a, "x", b), (b, "B", c), (b, "x", a), (b, "x", c), (b, "é", b)]
        assert [(e.source, e.relation, e.target) for e in unlinked] == [(s.id, r, t.id) for s, r, t in expected]
        assert [change.action for change in told] == ["unlink"] * 5 + ["delete"]
        assert [(e.relation, e.target) for e in await links(backend, a.id, b.id, c.id)] == [("z", c.id)]

    async def test_a_deleted_memory_loses_its_vector(self, backend: Backend) -> None:
        await with_space(backend)
        old = await put(backend, vector=unit_vector(1, 1, 1, 1))
        await apply(backend, Delete(old.id))
        assert (await backend.stats(AGENT)).vectors == 0
        await put(backend, id=old.id)
        assert (await feed(backend)).rows[0].vector is None

    async def test_erase_leaves_one_empty_line(self, backend: Backend) -> None:
        gone = await put(backend, SECRET, metadata={"m": "swordfish"}, tags=("swordfish",))
        await update(backend, gone.id, content="It is still swordfish.", session="s")
        await apply(backend, Delete(gone.id, erase=True))
        told = await journal(backend)
        assert [change.action for change in told] == ["put", "update", "erase"]
        assert {change.memory_id for change in told} == {gone.id}
        assert [(change.before, change.after, change.link) for change in told] == [(None, None, None)] * 3
        assert await get(backend, gone.id) is None
        assert (await feed(backend, after=1)).gone == [gone.id]

    async def test_erase_empties_the_lines_of_its_links_and_no_others(self, backend: Backend) -> None:
        a, gone, c = await put(backend, "a"), await put(backend, SECRET), await put(backend, "c")
        for source, relation, target in ((a, "to", gone), (gone, "from", c), (a, "past", gone), (a, "beside", c)):
            await link(backend, source, relation, target, metadata={"why": relation})
        await link(backend, a, "to", gone, weight=0.5)
        await apply(backend, RemoveLink(a.id, "past", gone.id))
        start = (await backend.head(AGENT)).seq
        await apply(backend, Delete(gone.id, erase=True))
        assert await actions(backend, after=start) == ["erase"]
        told = [change for change in await journal(backend) if change.action in ("link", "unlink")]
        assert [change.link.relation if change.link else None for change in told] == [
            None, None, None, "beside", None, None,
        ]  # fmt: skip
        empty = [change for change in told if change.link is None]
        assert [(change.before, change.after) for change in empty] == [(None, None)] * 5
        assert [e.relation for e in await links(backend, a.id, gone.id, c.id)] == ["beside"]
        assert (await journal(backend, memory_id=a.id))[0].after == a.model_dump(mode="json")

    async def test_erase_takes_the_reasons_of_its_operations_and_no_others(self, backend: Backend) -> None:
        """A reason is that of the whole operation, so it may quote what was erased in the lines of other memories."""
        kept, gone, last = await put(backend, "kept"), await put(backend, SECRET), await put(backend, "last")
        await apply(backend, Update(gone.id, {"session": "s"}), reason="it was swordfish")
        together: list[Write] = [Update(kept.id, {"tags": ("a",)}), Update(gone.id, {"tags": ("a",)})]
        together += [Update(gone.id, {"tags": ("b",)}), Update(last.id, {"tags": ("a",)})]
        await apply(backend, *together, operation="both", actor="tester", reason="tags")
        for source, target in ((kept, gone), (gone, kept), (kept, last)):
            new = Link(source=source.id, relation="of", target=target.id)
            await apply(backend, AddLink(new), reason="linked")
        await apply(backend, Delete(gone.id, erase=True), reason="asked for")
        assert [(change.memory_id, change.reason) for change in await journal(backend, after=3)] == [
            (gone.id, ""),
            (kept.id, ""), (gone.id, ""), (gone.id, ""), (last.id, ""),
            (kept.id, ""), (gone.id, ""), (kept.id, "linked"),
            (gone.id, "asked for"),
        ]  # fmt: skip
        assert await journal(backend, operation="both") == []
        told = await journal(backend, operation="erased-5")
        assert [(c.seq, c.actor, c.at, c.reason) for c in told] == [(seq, "tester", NOON, "") for seq in (5, 6, 7, 8)]
        assert [c.reason for c in await journal(backend, memory_id=gone.id)] == ["", "", "", "", "", "asked for"]
        assert [c.reason for c in await journal(backend, memory_id=last.id)] == ["", ""]
        await apply(backend, Delete(kept.id, erase=True))
        await apply(backend, Delete(last.id, erase=True))
        assert {change.reason for change in await journal(backend)} == {"", "asked for"}
        assert [change.seq for change in await journal(backend)] == list(range(1, 15))

    async def test_a_batch_that_erases_tells_why_until_more_of_it_is_erased(self, backend: Backend) -> None:
        gone = await put(backend, SECRET)
        new = memory("new", scope=AGENT, clock=clock)
        writes = (Update(gone.id, {"session": "s"}), Put(new), Delete(gone.id, erase=True))
        await apply(backend, *writes, reason="because")
        told = [(change.action, change.reason) for change in await journal(backend, after=1)]
        assert told == [("update", "because"), ("put", "because"), ("erase", "because")]
        await put(backend, "again", id=gone.id)
        await apply(backend, Delete(gone.id, erase=True))
        told = [(change.action, change.reason) for change in await journal(backend, after=1)]
        assert told == [("update", ""), ("put", ""), ("erase", ""), ("put", ""), ("erase", "")]

    async def test_what_comes_after_an_erase_is_remembered(self, backend: Backend) -> None:
        first = await put(backend, SECRET)
        await apply(backend, Delete(first.id, erase=True))
        second = await put(backend, "nothing secret", id=first.id)
        await apply(backend, Update(second.id, {"content": "still nothing"}))
        told = await journal(backend)
        assert [change.action for change in told] == ["put", "erase", "put", "update"]
        assert told[0].after is None
        assert told[2].after == second.model_dump(mode="json")
        assert (told[3].before, told[3].after) == ({"content": "nothing secret"}, {"content": "still nothing"})
