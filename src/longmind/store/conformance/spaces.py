"""Vector spaces: the active one, and perhaps a second that is being built."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from longmind.errors import ModelError, ModelMismatch
from longmind.store.base import (
    Backend,
    Batch,
    Delete,
    ExclusiveReembedBackend,
    Put,
    Receipt,
    ReembedBackend,
    Space,
    Update,
)
from longmind.store.conformance.steps import (
    AGENT,
    ALICE,
    ANY,
    LARGE,
    OTHER_TENANT,
    SMALL,
    actions,
    apply,
    feed,
    float16_bytes,
    put,
    require_reembed,
    unit_vector,
    update,
    with_space,
)
from longmind.testing import START, memory
from longmind.types import Scope

if TYPE_CHECKING:
    from longmind.store.base import Vector

ONE, TWO = unit_vector(1, 2, 3, 4), unit_vector(4, 3, 2, 1)


def large(text: str) -> Vector:
    """What the embedder of the large space says of a text."""
    return unit_vector(len(text), 1, 2, 3, 4, 5)


class Spaces:
    """A store has no space until one is declared; declaring the active one again has no effect, another is
    ``ModelMismatch``. A vector needs a space and its length. The epoch counts the changes of the active space, for all
    agents alike."""

    async def test_none_until_declared(self, backend: Backend) -> None:
        assert await backend.space() is None
        able = require_reembed(backend)
        for _ in range(2):
            await able.declare_space(SMALL)
            assert await backend.space() == SMALL
            for scope in (AGENT, ALICE, OTHER_TENANT):
                assert await backend.head(scope) == (0, 1)

    async def test_another_space_is_a_mismatch(self, backend: Backend) -> None:
        able = await with_space(backend)
        for other in (LARGE, Space("small", 5), Space("Small", 4)):
            with pytest.raises(ModelMismatch):
                await able.declare_space(other)
        assert await backend.space() == SMALL
        assert (await backend.head(AGENT)).epoch == 1

    async def test_many_openers_declare_at_once(self, backend: Backend) -> None:
        able = require_reembed(backend)
        await asyncio.gather(*(able.declare_space(SMALL) for _ in range(5)))
        assert await backend.head(AGENT) == (0, 1)

    async def test_a_vector_needs_a_space(self, backend: Backend) -> None:
        old = await put(backend)
        for write in (Put(memory(scope=AGENT), ONE), Update(old.id, {"content": "x"}, vector=ONE)):
            with pytest.raises(ModelMismatch):
                await apply(backend, write)
        assert await actions(backend) == ["put"]

    async def test_a_vector_needs_the_right_length(self, backend: Backend) -> None:
        await with_space(backend)
        old = await put(backend, vector=ONE)
        for wrong in (unit_vector(1, 2, 3), unit_vector(1, 2, 3, 4, 5)):
            for write in (Put(memory(scope=AGENT), wrong), Update(old.id, {"content": "x"}, vector=wrong)):
                with pytest.raises(ModelMismatch):
                    await apply(backend, write)
        assert await backend.get(AGENT, [old.id]) == [old]
        assert [row.vector for row in (await feed(backend)).rows] == [float16_bytes(ONE)]

    async def test_memories_with_and_without_vectors(self, backend: Backend) -> None:
        before = await put(backend)
        await with_space(backend)
        with_one, without = await put(backend, vector=ONE), await put(backend)
        told = {row.id: row.vector for row in (await feed(backend)).rows}
        assert told == {before.id: None, with_one.id: float16_bytes(ONE), without.id: None}
        assert (await backend.stats(AGENT)).vectors == 1

    async def test_numbers_of_a_vector_are_rounded_to_half_precision(self, backend: Backend) -> None:
        await with_space(backend)
        given = [unit_vector(0.1, -0.2, 1e-3, 1), unit_vector(1 / 3, 1e-6, -1e-7, 0), unit_vector(0, 0, 0, -1)]
        for vector in given:
            await put(backend, vector=vector)
        assert [row.vector for row in (await feed(backend)).rows] == [float16_bytes(vector) for vector in given]


class Reembedding:
    """While a second space is built, reads use the first. A memory is missing in a space when it says something and has
    no vector there; a changed content makes it missing again. Vectors of texts that changed or went are skipped. Those
    put into the active space raise the epoch. Activation is refused with ``ModelMismatch`` while any is missing; it
    drops the vectors of the other space and counts one epoch; activating the active space has no effect. To begin a
    third space drops what was built of the second; the active one cannot be built again, least of all with another
    length. Nothing of this is journalled.

    An ``ExclusiveReembedBackend`` embeds the last memories itself, at most ``limit`` at a time, and activates the space
    when none is left. Whoever writes meanwhile waits, with vectors or without, and then goes on; readers do not wait.
    If embedding fails nothing has happened. So it ends however fast others write, and no memory that was there at the
    switch is without a vector."""

    async def test_from_one_space_to_another(self, backend: Backend) -> None:
        able = await with_space(backend)
        kept = [await put(backend, f"text {n}", scope=scope, vector=ONE) for n, scope in enumerate(_SCOPES)]
        bare = await put(backend, "no vector")
        mute = await put(backend, "")
        await able.begin_space(LARGE)
        assert await _ids_missing(able) == {m.id for m in [*kept, bare]}
        assert await backend.space() == SMALL
        assert len(await able.missing_vectors(LARGE, 1)) == 1
        assert await _embed(able) == len(kept) + 1
        assert [row.vector for row in (await feed(backend)).rows] == [
            float16_bytes(ONE),
            float16_bytes(ONE),
            None,
            None,
        ]
        assert await backend.head(AGENT) == (4, 1)
        await able.activate_space(LARGE)
        assert await backend.space() == LARGE
        assert await backend.head(AGENT) == (4, 2)
        told = {row.id: row.vector for scope in _SCOPES for row in (await feed(backend, scope)).rows}
        assert told == {m.id: float16_bytes(large(m.content)) for m in [*kept, bare]} | {mute.id: None}
        assert (await backend.stats(AGENT)).vectors == 3

    async def test_holes_of_the_active_space_are_filled_and_noticed(self, backend: Backend) -> None:
        able = await with_space(backend)
        bare = await put(backend, "no vector")
        assert await able.missing_vectors(SMALL, 10) == [(AGENT, bare.id, "no vector")]
        before = await backend.head(AGENT)
        assert await able.put_vectors(SMALL, [(AGENT, bare.id, "no vector", ONE)]) == 1
        assert await able.missing_vectors(SMALL, 10) == []
        assert await backend.head(AGENT) == (before.seq, before.epoch + 1)

    async def test_a_batch_says_which_space_its_vectors_are_of(self, backend: Backend) -> None:
        await with_space(backend)
        new = Put(memory("text", scope=AGENT), vector=ONE)
        with pytest.raises(ModelMismatch):
            await backend.apply(_of_space(new, LARGE))
        assert (await feed(backend)).rows == []
        assert (await backend.apply(_of_space(new, SMALL))).created == (True,)

    async def test_missing_tells_the_agent_and_the_text(self, backend: Backend) -> None:
        able = await with_space(backend)
        new = await put(backend, "text", scope=ALICE, vector=ONE)
        await able.begin_space(LARGE)
        ((scope, id, content),) = await able.missing_vectors(LARGE, 10)
        assert (scope.tenant, scope.agent, id, content) == ("acme", "assistant", new.id, "text")

    async def test_early_activation_is_refused(self, backend: Backend) -> None:
        able = await with_space(backend)
        await put(backend, "one", vector=ONE)
        await able.begin_space(LARGE)
        await _embed(able)
        await put(backend, "two", vector=TWO)
        with pytest.raises(ModelMismatch):
            await able.activate_space(LARGE)
        assert await backend.space() == SMALL
        assert [row.vector for row in (await feed(backend)).rows] == [float16_bytes(ONE), float16_bytes(TWO)]
        assert (await backend.head(AGENT)).epoch == 1
        await _embed(able)
        await able.activate_space(LARGE)

    async def test_a_space_that_was_not_begun_cannot_be_used(self, backend: Backend) -> None:
        able = await with_space(backend)
        new = await put(backend, "text", vector=ONE)
        with pytest.raises(ModelMismatch):
            await able.put_vectors(LARGE, [(AGENT, new.id, "text", large("text"))])
        with pytest.raises(ModelMismatch):
            await able.activate_space(LARGE)
        assert await backend.space() == SMALL

    async def test_writes_go_on_while_a_space_is_built(self, backend: Backend) -> None:
        able = await with_space(backend)
        stays, changes, loses, goes = [await put(backend, text, vector=ONE) for text in ("s", "c", "l", "g")]
        await able.begin_space(LARGE)
        await _embed(able)
        await apply(
            backend,
            Update(stays.id, {"importance": 0.9}),
            Update(changes.id, {"content": "C"}, vector=TWO),
            Update(loses.id, {"content": "L"}),
            Delete(goes.id),
        )
        late = await put(backend, "late", vector=TWO)
        assert await _ids_missing(able) == {changes.id, loses.id, late.id}
        await _embed(able)
        await able.activate_space(LARGE)
        told = {row.id: row.vector for row in (await feed(backend)).rows}
        assert told == {
            stays.id: float16_bytes(large("s")),
            changes.id: float16_bytes(large("C")),
            loses.id: float16_bytes(large("L")),
            late.id: float16_bytes(large("late")),
        }

    async def test_vectors_of_old_texts_are_skipped(self, backend: Backend) -> None:
        able = await with_space(backend)
        changed, gone, kept = [await put(backend, text, vector=ONE) for text in ("one", "two", "three")]
        await able.begin_space(LARGE)
        rows = [(scope, id, text, large(text)) for scope, id, text in await able.missing_vectors(LARGE, 10)]
        await apply(backend, Update(changed.id, {"content": "new"}, vector=TWO), Delete(gone.id))
        stranger = (Scope(tenant="x", agent="y"), kept.id, "three", large("three"))
        assert await able.put_vectors(LARGE, [*rows, stranger]) == 1
        assert await _ids_missing(able) == {changed.id}
        assert await able.put_vectors(LARGE, []) == 0

    async def test_the_length_is_checked_while_building(self, backend: Backend) -> None:
        able = await with_space(backend)
        new = await put(backend, "text", vector=ONE)
        await able.begin_space(LARGE)
        with pytest.raises(ModelMismatch):
            await able.put_vectors(LARGE, [(AGENT, new.id, "text", ONE)])
        assert await _ids_missing(able) == {new.id}

    async def test_building_may_be_begun_again(self, backend: Backend) -> None:
        able = await with_space(backend)
        for text in ("one", "two"):
            await put(backend, text, vector=ONE)
        await able.begin_space(LARGE)
        ((scope, id, text),) = await able.missing_vectors(LARGE, 1)
        await able.put_vectors(LARGE, [(scope, id, text, large(text))])
        await able.begin_space(LARGE)
        assert len(await able.missing_vectors(LARGE, 10)) == 1

    async def test_another_space_begun_takes_the_place_of_the_one_being_built(self, backend: Backend) -> None:
        able = await with_space(backend)
        new = await put(backend, "text", vector=ONE)
        await able.begin_space(LARGE)
        await _embed(able)
        for other in (Space("third", 3), Space("large", 7)):
            await able.begin_space(other)
            assert await able.missing_vectors(other, 10) == [(AGENT, new.id, "text")]
            with pytest.raises(ModelMismatch):
                await able.activate_space(LARGE)
        await able.begin_space(LARGE)
        assert await _ids_missing(able) == {new.id}, "what was built of it was dropped"

    async def test_what_cannot_be_begun(self, backend: Backend) -> None:
        able = require_reembed(backend)
        with pytest.raises(ModelMismatch):
            await able.begin_space(SMALL)
        await able.declare_space(SMALL)
        with pytest.raises(ModelMismatch):
            await able.begin_space(Space("small", 5))
        await able.begin_space(SMALL)
        assert await backend.head(AGENT) == (0, 1)
        assert await able.missing_vectors(SMALL, 10) == []

    async def test_writes_after_activation_use_the_new_space(self, backend: Backend) -> None:
        able = await with_space(backend)
        await able.begin_space(LARGE)
        await able.activate_space(LARGE)
        await able.activate_space(LARGE)
        assert (await backend.head(AGENT)).epoch == 2
        await put(backend, "text", vector=large("text"))
        with pytest.raises(ModelMismatch):
            await apply(backend, Put(memory(scope=AGENT), ONE))
        with pytest.raises(ModelMismatch):
            await able.declare_space(SMALL)
        await able.declare_space(LARGE)

    async def test_there_and_back(self, backend: Backend) -> None:
        able = await with_space(backend)
        new = await put(backend, "text", vector=ONE)
        await able.begin_space(LARGE)
        await _embed(able)
        await able.activate_space(LARGE)
        await able.begin_space(SMALL)
        assert await able.missing_vectors(SMALL, 10) == [(AGENT, new.id, "text")]
        await able.put_vectors(SMALL, [(AGENT, new.id, "text", TWO)])
        await able.activate_space(SMALL)
        assert [row.vector for row in (await feed(backend)).rows] == [float16_bytes(TWO)]
        assert await backend.head(AGENT) == (1, 3)

    async def test_re_embedding_is_not_journalled(self, backend: Backend) -> None:
        able = await with_space(backend)
        new = await put(backend, "text", vector=ONE)
        await update(backend, new.id, importance=0.1)
        await able.begin_space(LARGE)
        await _embed(able)
        await able.activate_space(LARGE)
        assert await actions(backend) == ["put", "update"]
        assert await backend.matching(AGENT, ANY) == {new.id}

    async def test_the_last_vectors_are_made_part_by_part(self, backend: Backend) -> None:
        await with_space(backend)
        able = await _holding(backend)
        for text in ("one", "two", "three", ""):
            await put(backend, text, vector=ONE if text else None)
        assert await able.finish_space(LARGE, _larges, 2) == (2, 1)
        assert await backend.space() == SMALL
        assert await backend.head(AGENT) == (4, 1)
        assert await able.finish_space(LARGE, _larges, 2) == (1, 0)
        assert await backend.space() == LARGE
        assert await backend.head(AGENT) == (4, 2)
        told = [row.vector for row in (await feed(backend)).rows]
        assert told == [*(float16_bytes(large(text)) for text in ("one", "two", "three")), None]
        assert await able.finish_space(LARGE, _larges, 2) == (0, 0)
        assert await backend.head(AGENT) == (4, 2)

    async def test_finishing_the_active_space_fills_its_holes(self, backend: Backend) -> None:
        await with_space(backend)
        able = await _holding(backend)
        await able.finish_space(LARGE, _larges, 2)
        before = await backend.head(AGENT)
        for text in ("one", "two", "three"):
            await put(backend, text)
        assert await able.finish_space(LARGE, _larges, 2) == (2, 1)
        assert (await backend.head(AGENT)).epoch == before.epoch + 1, "views without these vectors are read anew"
        assert await able.finish_space(LARGE, _larges, 2) == (1, 0)
        assert (await backend.head(AGENT)).epoch == before.epoch + 2
        assert (await backend.stats(AGENT)).vectors == 3

    async def test_finishing_that_fails_has_done_nothing(self, backend: Backend) -> None:
        await with_space(backend)
        with pytest.raises(ModelMismatch):
            await (await _holding(backend, begun=False)).finish_space(LARGE, _larges, 2)
        able = await _holding(backend)
        new = await put(backend, "text", vector=ONE)

        async def broken(texts: Sequence[str]) -> list[Vector]:
            raise ModelError("The embedder is down.")

        async def misfit(texts: Sequence[str]) -> list[Vector]:
            return [ONE for _ in texts]

        for embed, error in ((broken, ModelError), (misfit, ModelMismatch)):
            with pytest.raises(error):
                await able.finish_space(LARGE, embed, 2)
            assert await backend.space() == SMALL
            await put(backend, "writers go on", vector=ONE)
        assert new.id in await _ids_missing(require_reembed(backend))
        assert await able.finish_space(LARGE, _larges, 9) == (3, 0)

    async def test_writers_wait_while_a_space_is_finished_and_readers_do_not(self, backend: Backend) -> None:
        await with_space(backend)
        able = await _holding(backend)
        old, other = await put(backend, "old", vector=ONE), await put(backend, "other", vector=ONE)
        fresh = [memory(text, scope=AGENT) for text in ("with a vector", "without", "once", "mixed")]
        batches = [
            _of_space(Put(fresh[0], ONE), SMALL),
            Batch(AGENT, "bare", START, (Put(fresh[1]),)),
            Batch(AGENT, "once", START, (Put(fresh[2]),), idempotent=True),
            Batch(AGENT, "mixed", START, (Put(fresh[3]), Update(other.id, {"importance": 0.9}))),
            Batch(ALICE, "change", START, (Update(old.id, {"content": "new"}),)),
        ]
        writers: list[asyncio.Task[Receipt]] = []

        async def embed(texts: Sequence[str]) -> list[Vector]:
            writers.extend(asyncio.create_task(backend.apply(batch)) for batch in batches)
            for _ in range(10):
                await asyncio.sleep(0.005)
                assert await backend.get(AGENT, [old.id, *(m.id for m in fresh)]) == [old]
                assert [row.vector for row in (await feed(backend)).rows] == [float16_bytes(ONE), float16_bytes(ONE)]
                assert await backend.space() == SMALL
            assert not any(writer.done() for writer in writers)
            return [large(text) for text in texts]

        assert await able.finish_space(LARGE, embed, 9) == (2, 0)
        outcomes = await asyncio.gather(*writers, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [ModelMismatch, *[Receipt] * 4]
        told = {row.id: row.vector for row in (await feed(backend)).rows}
        assert told == {old.id: None, other.id: float16_bytes(large("other"))} | {m.id: None for m in fresh[1:]}

    async def test_finishing_ends_though_others_never_stop_writing(self, backend: Backend) -> None:
        await with_space(backend)
        able = await _holding(backend)
        for n in range(20):
            await put(backend, f"text {n}", vector=ONE)
        over = asyncio.Event()

        async def write(scope: Scope) -> int:
            """Eight memories at a time, of the old space, until that is gone."""
            for count in itertools.count():
                writes = tuple(Put(memory(f"new {count}", scope=scope), ONE) for _ in range(8))
                try:
                    await backend.apply(Batch(scope, f"{count}", START, writes, space=SMALL.name))
                except ModelMismatch:
                    return count * 8
                await asyncio.sleep(0)
            raise AssertionError("counting ends nowhere")

        async def read() -> None:
            while not over.is_set():
                assert await backend.space() in (SMALL, LARGE)
                assert len((await feed(backend)).rows) >= 20
                await asyncio.sleep(0)

        writers = [asyncio.create_task(write(scope)) for scope in _SCOPES]
        reader = asyncio.create_task(read())
        part, left, made = 8, 1, 0
        while left:
            new, left = await able.finish_space(LARGE, _larges, part)
            part, made = part * 2, made + new
            await asyncio.sleep(0)
        written = sum(await asyncio.gather(*writers))
        over.set()
        await reader
        assert await backend.space() == LARGE
        assert made == 20 + written
        assert await require_reembed(backend).missing_vectors(LARGE, 1) == []
        vectors = sum([(await backend.stats(scope)).vectors for scope in (AGENT, OTHER_TENANT)])
        assert vectors == 20 + written


_SCOPES = (AGENT, ALICE, OTHER_TENANT)


async def _holding(backend: Backend, *, begun: bool = True) -> ExclusiveReembedBackend:
    """The backend, building the large space, as one that can hold off writers; skips the test if it cannot."""
    if not isinstance(backend, ExclusiveReembedBackend):
        pytest.skip("this backend does not hold off writers")
    if begun:
        await require_reembed(backend).begin_space(LARGE)
    return backend


async def _larges(texts: Sequence[str]) -> list[Vector]:
    await asyncio.sleep(0.001)
    return [large(text) for text in texts]


def _of_space(write: Put, space: Space) -> Batch:
    return Batch(scope=AGENT, operation="of a space", at=START, writes=(write,), space=space.name)


async def _ids_missing(able: ReembedBackend) -> set[str]:
    return {id for _, id, _ in await able.missing_vectors(LARGE, 1_000)}


async def _embed(able: ReembedBackend) -> int:
    """Embed all that is missing in the large space, two at a time, and tell how many were stored."""
    stored = 0
    while left := await able.missing_vectors(LARGE, 2):
        stored += await able.put_vectors(LARGE, [(scope, id, text, large(text)) for scope, id, text in left])
    return stored
