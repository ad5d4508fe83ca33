"""Each field of a filter, by a scan and by ``matching``."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from longmind.store.base import Backend, Put
from longmind.store.conformance.steps import AGENT, ALICE, ANY, BOB, NOON, apply, matching_ids, put, update
from longmind.testing import memory
from longmind.types import STATES, Filter, Range, Source

SECOND = timedelta(seconds=1)


class Filters:
    """Every field narrows. A list asks for any of its values, so an empty one matches nothing; ``tags_all`` asks for
    every one, so an empty one asks for nothing. ``since`` is inclusive and ``until`` exclusive. Valid at t: from t or
    before, to after t; a side that is open is no bound. What a record does not have equals nothing. Names are compared
    exactly: case counts, % and _ are plain characters."""

    async def test_states(self, backend: Backend) -> None:
        kept = {state: (await put(backend, state=state)).id for state in STATES}
        assert await matching_ids(backend, Filter()) == {kept[s] for s in ("active", "stale", "superseded")}
        assert await matching_ids(backend, ANY) == {*kept.values()}
        assert await matching_ids(backend, Filter(states=())) == set()
        assert await matching_ids(backend, Filter(states=("archived", "quarantined"))) == {
            kept["archived"],
            kept["quarantined"],
        }

    @pytest.mark.parametrize(
        ("field", "stored"),
        [("kinds", "kind"), ("sessions", "session"), ("users", "user"), ("keys", "key"), ("ids", "id")],
    )
    async def test_any_of_these(self, backend: Backend, field: str, stored: str) -> None:
        values: list[Any] = ["one", "two", "t_o", "three"] if stored != "id" else [None] * 4
        kept = [await put(backend, **({} if value is None else {stored: value})) for value in values]
        await put(backend)
        names = [getattr(m, stored) for m in kept]
        assert await matching_ids(backend, Filter(**{field: (names[1],)})) == {kept[1].id}
        assert await matching_ids(backend, Filter(**{field: (names[2],)})) == {kept[2].id}
        assert await matching_ids(backend, Filter(**{field: (names[0], names[3], names[0])})) == {
            kept[0].id,
            kept[3].id,
        }
        assert await matching_ids(backend, Filter(**{field: ()})) == set()
        assert await matching_ids(backend, Filter(**{field: ("nothing",)})) == set()

    async def test_roles_and_speakers(self, backend: Backend) -> None:
        ann = await put(backend, source=Source(role="user", name="Ann"))
        bot = await put(backend, source=Source(role="assistant", name="Bot"))
        tool = await put(backend, source=Source(role="tool"))
        assert await matching_ids(backend, Filter(roles=("user", "tool"))) == {ann.id, tool.id}
        assert await matching_ids(backend, Filter(roles=())) == set()
        assert await matching_ids(backend, Filter(speakers=("Bot",))) == {bot.id}
        assert await matching_ids(backend, Filter(speakers=("ann",))) == set()
        assert await matching_ids(backend, Filter(speakers=("Ann", "Bot"), roles=("assistant",))) == {bot.id}
        assert await matching_ids(backend, Filter(speakers=())) == set()

    async def test_tags(self, backend: Backend) -> None:
        both = await put(backend, tags=("a", "b"))
        one = await put(backend, tags=("a",))
        odd = await put(backend, tags=('x,"y', "%", "A", "é'"))
        await put(backend)
        assert await matching_ids(backend, Filter(tags_any=("a",))) == {both.id, one.id}
        assert await matching_ids(backend, Filter(tags_any=("b", "A"))) == {both.id, odd.id}
        assert await matching_ids(backend, Filter(tags_any=())) == set()
        assert await matching_ids(backend, Filter(tags_all=("a", "b"))) == {both.id}
        assert await matching_ids(backend, Filter(tags_all=("a", "a"))) == {both.id, one.id}
        assert await matching_ids(backend, Filter(tags_all=("a", "%"))) == set()
        assert len(await matching_ids(backend, Filter(tags_all=()))) == 4
        for tag in odd.tags:
            assert (
                await matching_ids(backend, Filter(tags_all=(tag,)))
                == await matching_ids(backend, Filter(tags_any=(tag,)))
                == {odd.id}
            )
        for nothing in ("x", '"y', "_", "e'"):
            assert await matching_ids(backend, Filter(tags_any=(nothing,))) == set()

    @pytest.mark.parametrize(
        ("since", "until", "stored"),
        [("since", "until", "occurred_at"), ("recorded_since", "recorded_until", "recorded_at")],
    )
    async def test_times_begin_inclusive_and_end_exclusive(
        self, backend: Backend, since: str, until: str, stored: str
    ) -> None:
        steps = [NOON + n * timedelta(microseconds=1) for n in range(4)]
        fields: list[dict[str, Any]] = [{stored: at} for at in steps]
        kept = [(await put(backend, **given)).id for given in fields]
        assert await matching_ids(backend, Filter(**{since: steps[1]})) == {*kept[1:]}
        assert await matching_ids(backend, Filter(**{until: steps[1]})) == {*kept[:1]}
        assert await matching_ids(backend, Filter(**{since: steps[1], until: steps[3]})) == {*kept[1:3]}
        assert await matching_ids(backend, Filter(**{since: steps[2], until: steps[2]})) == set()

    async def test_validity(self, backend: Backend) -> None:
        always = await put(backend)
        begun = await put(backend, valid_from=NOON)
        ended = await put(backend, valid_to=NOON)
        during = await put(backend, valid_from=NOON - SECOND, valid_to=NOON + SECOND)
        never = await put(backend, valid_from=NOON, valid_to=NOON)
        for at, expected in (
            (NOON - 2 * SECOND, [always, ended]),
            (NOON - SECOND, [always, ended, during]),
            (NOON, [always, begun, during]),
            (NOON + SECOND, [always, begun]),
        ):
            ids = await matching_ids(backend, Filter(valid_at=at))
            assert ids == {m.id for m in expected}
            assert never.id not in ids

    async def test_expiry(self, backend: Backend) -> None:
        lasting = await put(backend)
        expiring = await put(backend, expires_at=NOON)
        for at, expired, expected in (
            (NOON - SECOND, False, [lasting, expiring]),
            (NOON - SECOND, True, []),
            (NOON, False, [lasting]),
            (NOON, True, [expiring]),
            (NOON, None, [lasting, expiring]),
            (None, False, [lasting, expiring]),
        ):
            ids = await matching_ids(backend, Filter(expired=expired, expired_at=at))
            assert ids == {m.id for m in expected}
        await update(backend, expiring.id, expires_at=None)
        assert await matching_ids(backend, Filter(expired=True, expired_at=NOON)) == set()

    async def test_at_least(self, backend: Backend) -> None:
        low = await put(backend, importance=0.1, trust=0.9)
        high = await put(backend, importance=0.9, trust=0.1)
        assert await matching_ids(backend, Filter(min_importance=0.1)) == {low.id, high.id}
        assert await matching_ids(backend, Filter(min_importance=0.1 + 2**-50)) == {high.id}
        assert await matching_ids(backend, Filter(min_trust=0.9)) == {low.id}
        assert await matching_ids(backend, Filter(min_trust=1.0, min_importance=0.0)) == set()

    async def test_fields_narrow_together(self, backend: Backend) -> None:
        fields: dict[str, Any] = {
            "kind": "fact",
            "tags": ("t",),
            "session": "s",
            "metadata": {"n": 1},
            "importance": 0.9,
        }
        right = await put(backend, **fields)
        wrongs: list[dict[str, Any]] = [
            {"kind": "goal"},
            {"tags": ()},
            {"session": "z"},
            {"metadata": {}},
            {"importance": 0},
        ]
        for wrong in wrongs:
            await put(backend, **(fields | wrong))
        where = Filter(
            kinds=("fact",),
            tags_any=("t",),
            sessions=("s",),
            metadata={"n": 1},
            min_importance=0.5,
            until=NOON + 999 * SECOND,
        )
        assert await matching_ids(backend, where) == {right.id}

    async def test_users_within_a_scope(self, backend: Backend) -> None:
        hers, his = await put(backend, scope=ALICE), await put(backend, scope=BOB)
        await put(backend)
        assert await matching_ids(backend, Filter(users=("alice", "bob"))) == {hers.id, his.id}
        assert await matching_ids(backend, Filter(users=("alice", "bob")), ALICE) == {hers.id}
        assert await matching_ids(backend, Filter(users=("alice",)), BOB) == set()


class MetadataFilters:
    """Metadata is compared as JSON: true is not 1 is not "1", but 1 is 1.0. Only top-level keys are looked at, and a
    key is taken as it is, whatever characters it has. Null, lists and objects equal no value."""

    VALUES = (
        True,
        False,
        1,
        0,
        2.5,
        -3,
        "1",
        "true",
        "",
        'it\'s 100% \\ "fine"',
        2**53 + 1,
        2**63 - 1,
        1e300,
        None,
        [1],
        {"a": 1},
    )

    async def test_metadata_is_matched_by_range(self, backend: Backend) -> None:
        values: list[Any] = [4, 5, 7.5, 10, -3, "2026-01-05", "2026-02-01", "é", True, None, [7], {"a": 7}]
        made = [memory(scope=AGENT, metadata={"v": value, "n": 1}) for value in values]
        await apply(backend, *(Put(m) for m in made), Put(memory(scope=AGENT)))
        ids = {m.id: m.metadata["v"] for m in made}

        async def within(**bounds: Any) -> list[Any]:
            matching = await matching_ids(backend, Filter(metadata={"v": Range(**bounds), "n": 1}))
            return [value for id, value in ids.items() if id in matching]

        assert await within(gte=5, lt=10) == [5, 7.5]
        assert await within(gt=5, lte=10.0) == [7.5, 10]
        assert await within(lt=0) == [-3]
        assert await within(gte="2026-01-05", lt="2026-02") == ["2026-01-05"]
        assert await within(gt="z") == ["é"]

    async def test_kinds_can_be_left_out(self, backend: Backend) -> None:
        kept, left = await put(backend, kind="message"), await put(backend, kind="run")
        assert await matching_ids(backend, Filter(without_kinds=("run", "page"))) == {kept.id}
        assert await matching_ids(backend, Filter(without_kinds=())) == {kept.id, left.id}

    async def test_types_count(self, backend: Backend) -> None:
        made = [memory(scope=AGENT, metadata={"v": value}) for value in self.VALUES]
        await apply(backend, *(Put(m) for m in made), Put(memory(scope=AGENT)))
        ids = {repr(m.metadata["v"]): m.id for m in made}
        for value in (v for v in self.VALUES if isinstance(v, (str, int, float))):
            assert await matching_ids(backend, Filter(metadata={"v": value})) == {ids[repr(value)]}, value
        for value, stored in ((1.0, 1), (0.0, 0), (-3.0, -3)):
            assert await matching_ids(backend, Filter(metadata={"v": value})) == {ids[repr(stored)]}
        for nothing in ("null", "None", "[1]", '{"a": 1}', "True", 2, 2.4, 2.0**53, "%", "it_s%", "1.0"):
            assert await matching_ids(backend, Filter(metadata={"v": nothing})) == set(), nothing

    async def test_stored_reals_equal_whole_numbers(self, backend: Backend) -> None:
        real = await put(backend, metadata={"v": 4.0})
        assert await matching_ids(backend, Filter(metadata={"v": 4})) == {real.id}

    async def test_numbers_out_of_range_match_nothing(self, backend: Backend) -> None:
        await put(backend, metadata={"v": 1})
        for value in (2**70, -(2**70), float("inf"), float("nan")):
            assert await matching_ids(backend, Filter(metadata={"v": value})) == set()

    @pytest.mark.parametrize(
        "key",
        ["plain", "", " ", "a.b", "a[0]", "$", "$.a", "it's", 'say "x"', "back\\slash", "100%", "a_b", "ключ", "🔑",
         "'; --", "{", "}", "#", "?", ":a", "a,b", "%s", "a\nb", "\u202eRTL", "0", "null"],
    )  # fmt: skip
    async def test_any_key_will_do(self, backend: Backend, key: str) -> None:
        right = await put(backend, metadata={key: "x", "other": 1})
        await put(backend, metadata={key + "x": "x", "deep": {key: "x"}, "a": [{"b": "x"}]})
        assert await matching_ids(backend, Filter(metadata={key: "x"})) == {right.id}
        assert await matching_ids(backend, Filter(metadata={key: "y"})) == set()

    async def test_every_pair_must_match(self, backend: Backend) -> None:
        right = await put(backend, metadata={"a": 1, "b": "x"})
        await put(backend, metadata={"a": 1})
        everything = await matching_ids(backend, Filter())
        assert await matching_ids(backend, Filter(metadata={"a": 1, "b": "x"})) == {right.id}
        assert await matching_ids(backend, Filter(metadata={"a": 1, "b": "y"})) == set()
        assert await matching_ids(backend, Filter(metadata={})) == everything
