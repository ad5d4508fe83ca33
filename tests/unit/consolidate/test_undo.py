"""Taking back a run that others came after: it takes its own with it, theirs stays, and nothing is passed over."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from longmind import Longmind
from longmind.config import AgentSettings
from longmind.consolidate.bookmarks import MODEL_KEY, RUN_KEY, SHARED, Bookmarks, ModelBookmark, RunBookmark
from longmind.consolidate.cycle import Cycle
from longmind.errors import Conflict
from longmind.memory import AgentMemory
from longmind.types import ConsolidationReport, Filter, Link

HOME, WORK, SEA = "I live in Lisbon.", "I work as a nurse.", "I love the ocean."
AT_HOME, AT_WORK, AT_SEA = "Ann lives in Lisbon", "Ann works as nurse", "Ann likes the ocean"


async def told(mem: AgentMemory, text: str, session: str) -> ConsolidationReport:
    """Something is said, and consolidated."""
    await mem.remember([{"role": "user", "name": "Ann", "content": text}], session=session)
    return await mem.consolidate()


async def trivial(mem: AgentMemory) -> ConsolidationReport:
    """A run that finds something new to read and nothing to make of it."""
    await mem.remember("Hm?")
    report = await mem.consolidate()
    assert report.read
    assert report.proposed == ()
    return report


async def facts(mem: AgentMemory) -> list[str]:
    found = [m async for m in mem.store.scan_all(mem.scope, Filter(kinds=("fact",), states=None))]
    return sorted(m.content for m in found)


async def contents(mem: AgentMemory) -> list[tuple[str, str, str]]:
    """All that is known, but for what consolidation keeps for itself."""
    found = [(m.kind, m.content, m.state) async for m in mem.store.scan_all(mem.scope)]
    return sorted(one for one in found if one[0] != "configuration")


async def linked(mem: AgentMemory) -> list[tuple[str, str, str]]:
    """All links, with what is told at their ends."""
    told = {m.id: m.content async for m in mem.store.scan_all(mem.scope)}
    links = await mem.store.links(mem.scope, list(told))
    return sorted((told[link.source], link.relation, told[link.target]) for link in links)


def test_what_a_run_keeps_of_its_way_is_known_to_undo() -> None:
    for key, field in SHARED.bookmarks.items():
        body = ModelBookmark if key.startswith(MODEL_KEY) else RunBookmark
        assert key.startswith(RUN_KEY)
        assert field in body.model_fields


@pytest.mark.parametrize("before", [0, 1], ids=["the first run", "a later run"])
async def test_a_run_is_undone_after_one_that_changed_nothing(longmind: Longmind, before: int) -> None:
    mem = longmind.agent("a", user="ann")
    if before:
        await told(mem, SEA, "s0")
    known = await facts(mem)
    report = await told(mem, HOME, "s1")
    all_known = await contents(mem)
    await trivial(mem)
    with_trivial = await contents(mem)
    assert len(with_trivial) == len(all_known) + 1
    await mem.undo(report.id)
    assert await facts(mem) == known
    again = await mem.consolidate()
    assert sorted((p.stage, p.action, p.content) for p in again.proposed) == sorted(
        (p.stage, p.action, p.content) for p in report.proposed
    )
    assert await contents(mem) == with_trivial
    assert (await mem.consolidate()).stages == ()


async def test_what_later_runs_found_stays_and_is_not_found_twice(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    first = await told(mem, HOME, "s1")
    await told(mem, WORK, "s2")
    everything, links = await contents(mem), await linked(mem)
    kept = {
        m.id: m.version async for m in mem.store.scan_all(mem.scope, Filter(kinds=("fact",))) if m.content == AT_WORK
    }
    await mem.undo(first.id)
    assert await facts(mem) == [AT_WORK]
    assert await linked(mem) == [link for link in links if link[0] == AT_WORK]
    again = await mem.consolidate()
    assert [p.content for p in again.proposed if p.kind == "fact"] == [AT_HOME]
    assert (await contents(mem), await linked(mem)) == (everything, links)
    assert {m.id: m.version for m in await mem.store.get_all(mem.scope, list(kept))} == kept


async def test_what_later_runs_lean_on_is_not_taken_away(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    first = await told(mem, HOME, "s1")
    fact = next(p.memory_id for p in first.proposed if p.kind == "fact")
    note = await mem.remember("Lisbon is by the sea.")
    second = await mem.consolidate()
    await mem.store.link(mem.scope, Link(source=note.id, relation="explains", target=fact), generated="mine")
    known = await mem.store.content_hash(mem.scope)
    with pytest.raises(Conflict, match="linked with another") as caught:
        await mem.undo(first.id)
    assert (caught.value.details["memory_id"], caught.value.details["operation"]) == (fact, "mine")
    assert await mem.store.content_hash(mem.scope) == known
    await mem.undo("mine")
    await mem.undo(second.id)
    await mem.undo(first.id)
    assert {m.kind async for m in mem.store.scan_all(mem.scope)} == {"message", note.kind}


async def test_runs_are_undone_in_any_order_and_all_is_read_again(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    first, second = await told(mem, HOME, "s1"), await told(mem, WORK, "s2")
    everything = await contents(mem)
    await mem.undo(first.id)
    await mem.undo(second.id)
    assert await facts(mem) == []
    await mem.consolidate()
    assert await contents(mem) == everything


async def test_the_mark_does_not_go_forward_when_a_run_behind_it_is_undone(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    await told(mem, SEA, "s0")
    first, second = await told(mem, HOME, "s1"), await told(mem, WORK, "s2")
    await mem.undo(first.id)
    back = await Bookmarks(longmind.store, mem.scope, longmind.clock).run.read()
    await mem.undo(second.id)
    assert await Bookmarks(longmind.store, mem.scope, longmind.clock).run.read() == back
    await mem.consolidate()
    assert await facts(mem) == sorted([AT_HOME, AT_SEA, AT_WORK])


async def test_a_mark_that_was_made_anew_goes_back_too(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    first, second = await told(mem, HOME, "s1"), await told(mem, WORK, "s2")
    await mem.undo(first.id)
    await mem.consolidate()
    assert await facts(mem) == [AT_HOME, AT_WORK]
    await mem.undo(second.id)
    assert await facts(mem) == [AT_HOME]
    await mem.consolidate()
    assert await facts(mem) == [AT_HOME, AT_WORK]


async def test_bringing_an_undone_run_back_passes_nothing_over(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    first, second = await told(mem, HOME, "s1"), await told(mem, WORK, "s2")
    fact = next(p.memory_id for p in first.proposed if p.kind == "fact")
    everything = await contents(mem)
    await mem.undo(first.id)
    await mem.undo(second.id)
    await mem.undo((await mem.history(fact))[-1].operation)
    assert await facts(mem) == [AT_HOME]
    await mem.consolidate()
    assert await contents(mem) == everything


async def test_each_user_has_a_mark_of_their_own(longmind: Longmind) -> None:
    ann, ben = longmind.agent("a", user="ann"), longmind.agent("a", user="ben")
    await told(ben, SEA, "s0")
    mark = await Bookmarks(longmind.store, ben.scope, longmind.clock).run.read()
    report = await told(ann, HOME, "s1")
    await trivial(ann)
    await longmind.agent("a", all_users=True).undo(report.id)
    assert await Bookmarks(longmind.store, ben.scope, longmind.clock).run.read() == mark
    assert (await Bookmarks(longmind.store, ann.scope, longmind.clock).run.read()).through == 0


async def test_what_waits_for_the_model_goes_back_with_the_run(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    store, scope = longmind.store, mem.scope

    async def reads(after: int, operation: str) -> None:
        waits = Bookmarks(store, scope, longmind.clock).model
        await waits.read()
        write = waits.write(ModelBookmark(after=after))
        assert write is not None
        await store.apply(scope, [write], generated=operation)

    for number, operation in enumerate(("zero", "one", "two", "three"), 1):
        await reads(10 * number, operation)
    assert await Bookmarks(store, scope, longmind.clock).model.read() == ModelBookmark(after=40)
    for operation, left in (("two", 20), ("one", 10), ("three", 10), ("zero", None)):
        await mem.undo(operation)
        assert (await Bookmarks(store, scope, longmind.clock).model.read()).after == left


@pytest.mark.parametrize("point", ["extract: write", "finish"])
async def test_a_run_does_not_pass_over_what_was_undone_meanwhile(longmind: Longmind, point: str) -> None:
    mem = longmind.agent("a", user="ann")
    await told(mem, SEA, "s0")
    first = await told(mem, HOME, "s1")
    await mem.remember([{"role": "user", "name": "Ann", "content": WORK}], session="s2")
    await interrupted(longmind, mem, point, first.id)
    assert AT_HOME not in await facts(mem)
    await mem.consolidate()
    assert await facts(mem) == sorted([AT_HOME, AT_SEA, AT_WORK])


async def interrupted(longmind: Longmind, mem: AgentMemory, point: str, operation: str) -> None:
    """A run during which, at a point of it, another operation is undone."""
    cycle = Cycle(longmind.store, mem.scope, AgentSettings(), longmind.clock, longmind.embedding.embed)
    apply: Callable[..., object] = cycle.store.apply
    reached: list[str] = []
    cycle.watch = reached.append

    class Meddled:
        """The store, where somebody undoes the operation just before the write after the point."""

        def __getattr__(self, name: str) -> object:
            return getattr(longmind.store, name)

        async def apply(self, *given: object, **how: object) -> object:
            if reached[-1:] == [point]:
                reached.append("meddled")
                await mem.undo(operation)
            return await apply(*given, **how)  # type: ignore[misc]

    cycle.store = Meddled()  # type: ignore[assignment]
    with pytest.raises(Conflict, match="undone while"):
        await cycle.run()
    assert "meddled" in reached
