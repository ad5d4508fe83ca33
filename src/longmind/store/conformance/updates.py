"""Updates: compare-and-set, and no change when all fields are equal."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from longmind.errors import InvalidInput, KeyTaken, NotFound, VersionConflict
from longmind.store.base import Backend, Update
from longmind.store.conformance.steps import (
    AGENT,
    ALICE,
    BOB,
    NOON,
    OTHER_AGENT,
    UNKNOWN_ID,
    actions,
    apply,
    feed,
    float16_bytes,
    get,
    put,
    unit_vector,
    update,
    with_space,
)
from longmind.text.index_terms import index_terms
from longmind.types import Source

EVERYTHING: dict[str, Any] = {
    "session": "s2",
    "kind": "fact",
    "key": "k2",
    "content": "Now it says this.",
    "body": {"a": [1, {"b": None}]},
    "importance": 0.125,
    "valence": -0.25,
    "tags": ("x", "y"),
    "metadata": {"m": True},
    "source": Source(role="tool", name="clock", span=(0, 0)),
    "trust": 0.75,
    "occurred_at": NOON - timedelta(days=3),
    "valid_from": NOON,
    "valid_to": NOON + timedelta(days=1),
    "expires_at": NOON + timedelta(days=2),
    "state": "stale",
}


class Updates:
    """An update that changes something makes the next version; one that changes nothing is no change: no version, no
    journal line, and the stored vector stays even if another is given. JSON values differ when their JSON text
    does: true, 1 and "1" are three values. A changed content takes the given vector or loses the one it had; with the
    content unchanged a given vector replaces, and None leaves, the stored one."""

    async def test_every_field_that_may_change_changes(self, backend: Backend) -> None:
        old = await put(backend)
        new = await update(backend, old.id, **EVERYTHING)
        assert new == old.model_copy(update=EVERYTHING | {"version": 2})
        assert await get(backend, old.id) == new

    async def test_changes_may_be_given_as_json(self, backend: Backend) -> None:
        old = await put(backend)
        expected = old.model_copy(update=EVERYTHING | {"version": 2})
        told = {name: expected.model_dump(mode="json")[name] for name in EVERYTHING}
        assert await update(backend, old.id, **told) == expected

    async def test_fields_can_be_cleared(self, backend: Backend) -> None:
        old = await put(backend, **EVERYTHING)
        cleared: dict[str, Any] = {
            "session": None,
            "key": None,
            "valid_from": None,
            "valid_to": None,
            "expires_at": None,
            "tags": (),
            "metadata": {},
        }
        new = await update(backend, old.id, **cleared)
        assert await get(backend, old.id) == new == old.model_copy(update=cleared | {"version": 2})

    async def test_no_difference_is_no_change(self, backend: Backend) -> None:
        old = await put(backend, **EVERYTHING)
        for changes in ({}, EVERYTHING, old.model_dump(mode="json", include=set(EVERYTHING))):
            receipt = await apply(backend, Update(old.id, changes, expected_version=1))
            assert (receipt.memories, receipt.created) == ((old,), (False,))
        assert await actions(backend) == ["put"]

    async def test_true_one_and_its_text_are_three_values(self, backend: Backend) -> None:
        old = await put(backend, metadata={"a": True}, body={"n": [1]})
        for version, value in enumerate((1, "1", True, None, False, 0, 0.5), start=2):
            assert (await update(backend, old.id, metadata={"a": value})).version == version
            stored = await get(backend, old.id)
            assert stored is not None
            assert stored.metadata["a"] == value
            assert type(stored.metadata["a"]) is type(value)
        assert (await update(backend, old.id, body={"n": [True]})).version == 9

    @pytest.mark.parametrize(
        "name",
        [
            "id",
            "version",
            "tenant",
            "agent",
            "user",
            "recorded_at",
            "access_count",
            "last_accessed_at",
            "interaction",
            "x",
        ],
    )
    async def test_other_fields_cannot_be_changed(self, backend: Backend, name: str) -> None:
        old = await put(backend)
        value = old.model_dump(mode="json").get(name, "x")
        with pytest.raises(InvalidInput) as caught:
            await apply(backend, Update(old.id, {"content": "new", name: value}))
        assert name in caught.value.message
        assert await get(backend, old.id) == old

    @pytest.mark.parametrize(
        ("changes", "field"),
        [
            ({"importance": 1.5}, "importance"),
            ({"content": "a\x00b"}, "content"),
            ({"content": None}, "content"),
            ({"kind": "Not a kind"}, "kind"),
            ({"state": "gone"}, "state"),
            ({"tags": ("",)}, "tags"),
            ({"metadata": {"a": float("nan")}}, "metadata"),
            ({"body": {"a": object()}}, "body"),
            ({"source": {"role": "stranger"}}, "source"),
            ({"occurred_at": "yesterday"}, "occurred_at"),
            ({"valid_from": NOON, "valid_to": NOON - timedelta(1)}, "valid_to"),
        ],
    )
    async def test_what_makes_no_valid_memory_is_refused(
        self, backend: Backend, changes: dict[str, Any], field: str
    ) -> None:
        old = await put(backend)
        with pytest.raises(InvalidInput) as caught:
            await apply(backend, Update(old.id, changes))
        assert field in caught.value.message
        assert await get(backend, old.id) == old
        assert await actions(backend) == ["put"]

    async def test_a_change_is_judged_with_what_is_stored(self, backend: Backend) -> None:
        old = await put(backend, valid_from=NOON)
        with pytest.raises(InvalidInput):
            await update(backend, old.id, valid_to=NOON - timedelta(seconds=1))

    async def test_an_update_may_expect_a_version(self, backend: Backend) -> None:
        old = await put(backend)
        new = (await apply(backend, Update(old.id, {"content": "two"}, expected_version=1))).memories[0]
        with pytest.raises(VersionConflict) as caught:
            await apply(backend, Update(old.id, {"content": "three"}, expected_version=1))
        told = caught.value.details
        assert (told["id"], told["expected"], told["actual"]) == (old.id, 1, 2)
        assert await get(backend, old.id) == new

    async def test_an_expected_version_counts_even_if_nothing_would_change(self, backend: Backend) -> None:
        old = await put(backend)
        with pytest.raises(VersionConflict):
            await apply(backend, Update(old.id, {"content": old.content}, expected_version=2))

    async def test_what_is_not_in_scope_cannot_be_updated(self, backend: Backend) -> None:
        hers = await put(backend, scope=ALICE)
        for scope, id in ((ALICE, UNKNOWN_ID), (ALICE, "no id"), (BOB, hers.id), (OTHER_AGENT, hers.id)):
            with pytest.raises(NotFound):
                await apply(backend, Update(id, {"content": "x"}, expected_version=1), scope=scope)
        assert await get(backend, hers.id) == hers

    async def test_a_taken_key_cannot_be_taken_over(self, backend: Backend) -> None:
        await put(backend, key="home", state="archived")
        old = await put(backend, key="work")
        with pytest.raises(KeyTaken):
            await update(backend, old.id, key="home")
        assert await get(backend, old.id) == old
        hers = await put(backend, scope=ALICE)
        assert (await update(backend, hers.id, key="home")).key == "home"

    async def test_two_keys_can_change_hands_in_one_batch(self, backend: Backend) -> None:
        one, two = await put(backend, key="one"), await put(backend, key="two")
        await apply(
            backend, Update(one.id, {"key": None}), Update(two.id, {"key": "one"}), Update(one.id, {"key": "two"})
        )
        assert [m.key for m in await backend.get(AGENT, [one.id, two.id])] == ["two", "one"]

    async def test_terms_follow_what_they_are_made_of(self, backend: Backend) -> None:
        old = await put(backend, "The harbour.", source=Source(name="Ann"), tags=("a",))
        for changes in (
            {"content": "The mountain."},
            {"tags": ("hiking",)},
            {"source": Source(name="Zoe")},
            {"occurred_at": NOON - timedelta(days=400)},
            {"body": {"headings": ["Alps"]}},
        ):
            before = (await feed(backend)).rows[0].terms
            new = await update(backend, old.id, **changes)
            after = (await feed(backend)).rows[0].terms
            assert after == index_terms(new) != before

    async def test_the_vector_follows_the_content(self, backend: Backend) -> None:
        await with_space(backend)
        first, second, third = unit_vector(1, 0, 0, 0), unit_vector(1, 2, 3, 4), unit_vector(0, 0, 0, 1)

        async def vector() -> bytes | None:
            return (await feed(backend)).rows[0].vector

        old = await put(backend, vector=first)
        await update(backend, old.id, importance=0.1)
        assert await vector() == float16_bytes(first)
        await apply(backend, Update(old.id, {"importance": 0.2}, vector=second))
        assert await vector() == float16_bytes(second)
        await apply(backend, Update(old.id, {"importance": 0.2}, vector=third))
        assert await vector() == float16_bytes(second), "an update that changes nothing leaves the vector as well"
        await apply(backend, Update(old.id, {"content": "new"}, vector=third))
        assert await vector() == float16_bytes(third)
        await update(backend, old.id, content="newer")
        assert await vector() is None
        await apply(backend, Update(old.id, {"tags": ("t",)}, vector=first))
        assert await vector() == float16_bytes(first)
