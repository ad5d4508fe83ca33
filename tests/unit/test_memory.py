"""The six verbs and the plain ones, on every backend."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longmind import Document, Filter, Forgotten, Longmind, Message, Settings
from longmind.errors import (
    Conflict,
    InvalidInput,
    InvalidSetting,
    KeyTaken,
    ModelUnavailable,
    NotFound,
    StoreUnavailable,
    VersionConflict,
)
from longmind.recall.standing import standing_memories
from longmind.store.base import Space
from longmind.testing import FakeClock, ScriptedModel
from longmind.types import Link


class Pointing:
    """An embedder of which only the name matters."""

    dimensions = 4

    def __init__(self, name: str) -> None:
        self.name = name

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.full((len(texts), self.dimensions), 0.5, np.float32)

    async def close(self) -> None:
        """Nothing to let go of."""


TALK = [
    {"role": "user", "content": "My dog Rex hates rain.", "name": "Alice"},
    {"role": "assistant", "content": "Then take an umbrella for Rex."},
]


async def test_what_is_remembered_is_recalled_at_once_with_a_reason(longmind: Longmind) -> None:
    mem = longmind.agent("assistant", user="alice")
    stored = await mem.remember("I moved to Lisbon in May.", tags=["home"], metadata={"n": 1}, importance=0.9)
    await mem.remember(TALK, session="s1")
    hits = await mem.recall("who moved to Lisbon?", k=2)
    assert hits[0].memory.id == stored.id
    assert hits[0].why
    assert hits[0].score >= hits[-1].score
    assert (await mem.get(stored.id)) == stored


async def test_the_same_text_in_the_same_place_is_one_memory(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    first = await mem.remember(TALK, session="s1")
    again = await mem.remember(TALK, session="s1")
    elsewhere = await mem.remember(TALK, session="s2")
    assert [m.id for m in first] == [m.id for m in again]
    assert not {m.id for m in first} & {m.id for m in elsewhere}
    assert (await mem.stats()).memories == 4


async def test_remembering_what_was_archived_wakes_it(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    stored = await mem.remember("tea please")
    await mem.update(stored.id, state="archived")
    assert [hit.memory.state for hit in await mem.recall("tea")] == ["archived"]
    assert (await mem.remember("tea please")).state == "active"
    assert [hit.memory.state for hit in await mem.recall("tea")] == ["active"]


async def test_an_operation_id_makes_a_repeated_call_harmless(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    first = await mem.remember("once", occurred_at=datetime(2024, 1, 1, tzinfo=UTC), operation="op-1")
    await mem.update(first.id, content="changed since")
    again = await mem.remember("once", occurred_at=datetime(2024, 1, 1, tzinfo=UTC), operation="op-1")
    assert (again.id, again.content) == (first.id, "changed since")
    with pytest.raises(Conflict):
        await mem.remember("something else", operation="op-1")


async def test_agents_tenants_and_users_are_apart(longmind: Longmind) -> None:
    secret = await longmind.agent("assistant", user="alice").remember("the code is 4711")
    for other in (
        longmind.agent("assistant", user="bob"),
        longmind.agent("assistant"),
        longmind.agent("other", user="alice"),
        longmind.agent("assistant", user="alice", tenant="elsewhere"),
    ):
        assert await other.get(secret.id) is None
        assert not await other.recall("the code is 4711")
        assert (await other.list()).items == ()
        with pytest.raises(NotFound):
            await other.forget(secret.id)
        with pytest.raises(NotFound):
            await other.update(secret.id, content="mine")
        with pytest.raises(NotFound):
            await other.history(secret.id)
    everybody = longmind.agent("assistant", all_users=True)
    assert await everybody.get(secret.id) == secret
    assert [hit.memory.id for hit in await everybody.recall("the code is 4711")] == [secret.id]
    assert (await everybody.remember("for all")).user is None
    with pytest.raises(InvalidInput, match="all_users"):
        longmind.agent("assistant", user="alice", all_users=True)


async def test_a_run_over_what_is_nobodys_leaves_the_users_memories_to_be_read(longmind: Longmind) -> None:
    await longmind.agent("assistant", user="alice").remember("I live in Lisbon.")
    await longmind.agent("assistant").remember("I live in Porto.")
    assert (await longmind.agent("assistant").consolidate()).read == 1
    assert (await longmind.agent("assistant", all_users=True).consolidate()).read == 2
    assert (await longmind.agent("assistant", all_users=True).consolidate()).read == 0


async def test_update_is_compare_and_set_and_is_searched(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    stored = await mem.remember("I live in Lisbon")
    changed = await mem.update(stored.id, content="I live in Porto", expected_version=1, reason="moved")
    assert changed.version == 2
    with pytest.raises(VersionConflict):
        await mem.update(stored.id, content="I live in Faro", expected_version=1)
    assert (await mem.recall("Porto"))[0].memory.content == "I live in Porto"
    assert not [h for h in await mem.recall("Lisbon") if h.memory.content == "I live in Lisbon"]
    put, update = await mem.history(stored.id)
    assert (put.action, update.action, update.reason) == ("put", "update", "moved")
    assert update.before is not None
    assert update.before["content"] == "I live in Lisbon"
    assert update.after is not None
    assert update.after["content"] == "I live in Porto"


async def test_what_was_changed_may_be_said_again(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    first = await mem.remember("I live in Lisbon.")
    await mem.update(first.id, content="I live in Porto.")
    again = await mem.remember("I live in Lisbon.")
    assert again.id != first.id
    assert {m.content for m in (await mem.list()).items} == {"I live in Lisbon.", "I live in Porto."}


async def test_a_moment_without_a_zone_is_utc(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("assistant")
    stored = await mem.remember("now")
    naive = face_clock.now().replace(tzinfo=None)
    assert await mem.get(stored.id, as_of=naive) == stored
    assert await mem.recall("now", until=naive)
    assert not await mem.recall("now", since=naive)


async def test_forgetting_can_be_undone_and_erasing_cannot(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    stored = await mem.remember("my password is swordfish")
    assert (await mem.forget(stored.id)).count == 1
    assert not await mem.recall("swordfish")
    forgotten = (await mem.history(stored.id))[-1]
    assert len((await mem.undo(forgotten.operation)).changes) == 1
    assert (await mem.recall("swordfish"))[0].memory.content == stored.content
    await mem.forget(stored.id, erase=True)
    history = await mem.history(stored.id)
    assert "swordfish" not in str(history)
    with pytest.raises(Conflict):
        await mem.undo(forgotten.operation)


async def test_what_was_forgotten_can_still_be_erased(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    stored = await mem.remember("my password is swordfish")
    await mem.forget(stored.id)
    assert "swordfish" in str(await mem.history(stored.id))
    assert (await mem.forget(stored.id, erase=True)).count == 1
    assert "swordfish" not in str(await mem.history(stored.id))
    assert (await mem.list()).items == ()
    with pytest.raises(NotFound):
        await mem.forget(stored.id, erase=True)


async def test_erasing_takes_what_was_derived_along(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    told, summary, summary_of_it = [await mem.remember(t) for t in ("told", "a summary", "its summary")]
    await mem.store.link(mem.scope, Link(source=summary.id, relation="derived_from", target=told.id))
    await mem.store.link(mem.scope, Link(source=summary_of_it.id, relation="derived_from", target=summary.id))
    assert (await mem.forget(told.id, erase=True)).count == 3
    assert (await mem.list()).items == ()


async def test_forget_returns_the_operation_that_undo_takes(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    first, second = await mem.remember(["one", "two"])
    forgotten = await mem.forget([first.id, second.id])
    assert (forgotten.count, forgotten.ids, forgotten.erased) == (2, (first.id, second.id), False)
    assert forgotten.operation is not None
    assert len((await mem.undo(forgotten.operation)).ids("restored")) == 2
    assert await mem.forget(where={"tags_any": ["none has it"]}) == Forgotten(count=0, ids=())
    erased = await mem.forget(first.id, erase=True)
    assert (erased.count, erased.operation, erased.erased) == (1, None, True)


@pytest.mark.parametrize("empty", [{}, Filter(), {"tags_any": None}, {"metadata": {}}])
async def test_an_empty_filter_forgets_nothing(longmind: Longmind, empty: Any) -> None:
    mem = longmind.agent("assistant")
    await mem.remember("keep")
    with pytest.raises(InvalidInput, match="empty"):
        await mem.forget(where=empty)
    assert (await mem.stats()).memories == 1
    assert (await mem.forget(where={"states": None})).count == 1


async def test_forgetting_by_filter_needs_one(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    await mem.remember("keep")
    await mem.remember("drop", tags=["x"])
    for nothing in ({}, {"which": "a", "where": {}}):
        with pytest.raises(InvalidInput):
            await mem.forget(**nothing)
    with pytest.raises(InvalidInput, match="tags_any"):
        await mem.forget(where={"tag": "x"})
    assert (await mem.forget(where={"tags_any": ["x"]})).count == 1
    assert [m.content for m in (await mem.list()).items] == ["keep"]


async def test_undo_is_refused_when_something_was_changed_since(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    stored = await mem.remember("one")
    operation = (await mem.history(stored.id))[0].operation
    await mem.update(stored.id, content="two")
    with pytest.raises(Conflict, match="changed again"):
        await mem.undo(operation)
    with pytest.raises(NotFound):
        await mem.undo("no-such-operation")


async def test_time_travel(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("assistant")
    before = face_clock.now()
    stored = await mem.remember("first")
    other = await mem.remember("other")
    between = face_clock.now()
    await mem.update(stored.id, content="second", importance=0.3)
    await mem.forget(other.id)
    await mem.remember("later")
    assert await mem.get(stored.id, as_of=before) is None
    then = await mem.get(stored.id, as_of=between)
    assert then == stored
    assert {m.content for m in await mem.store.all_at(mem.scope, between)} == {"first", "other"}
    assert {m.content for m in await mem.store.all_at(mem.scope, face_clock.now())} == {"second", "later"}


async def test_operations_are_undone_one_after_the_other_the_last_first(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    memory = await mem.remember("one")
    await mem.update(memory.id, content="two")
    await mem.update(memory.id, content="three")
    *_, second, third = [change.operation for change in await mem.history(memory.id)]
    await mem.undo(third)
    await mem.undo(second)
    with pytest.raises(Conflict):
        await mem.undo(third)
    found = await mem.get(memory.id)
    assert found is not None
    assert found.content == "one"


async def test_runs_of_consolidation_are_undone_one_after_the_other(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    await mem.remember([{"role": "user", "name": "Ann", "content": "I live in Lisbon."}], session="s1")
    before = {m.id async for m in longmind.store.scan_all(mem.scope) if m.kind == "fact"}
    first = await mem.consolidate()
    await mem.remember([{"role": "user", "name": "Ann", "content": "I work for the city library."}], session="s2")
    second = await mem.consolidate()
    await mem.undo(second.id)
    await mem.undo(first.id)
    assert {m.id async for m in longmind.store.scan_all(mem.scope) if m.kind == "fact"} == before


async def test_consolidation_reports_and_is_undone(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    first = await mem.remember("Tea without sugar, please.")
    second = await mem.remember("Please, without sugar: tea!")
    dry = await mem.consolidate(dry_run=True)
    assert [p.memory_id for p in dry.proposed] == [first.id]
    assert (await mem.stats()).by_state == {"active": 2}
    report = await mem.consolidate()
    assert [h.memory.id for h in await mem.recall("tea without sugar")] == [second.id]
    assert (await mem.consolidate()).proposed == ()
    await mem.undo(report.id)
    assert len(await mem.recall("tea without sugar")) == 2
    assert (await mem.stats()).links == 0


async def test_an_agent_configures_itself_for_good(longmind: Longmind) -> None:
    mem = longmind.agent("assistant", user="alice")
    for word in ("red apples", "green apples", "ripe apples"):
        await mem.remember(word)
    await mem.configure(recall_k=1)
    await mem.configure(context_tokens=400)
    assert len(await longmind.agent("assistant", all_users=True).recall("apples")) == 1
    assert (await longmind.agent("assistant").configuration()).context_tokens == 400
    assert (await longmind.agent("another").configuration()).recall_k == 10
    with pytest.raises(InvalidSetting):
        await mem.configure(recall_k=-1)


async def test_lists_come_in_pages(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    made = await mem.remember([f"note {n}" for n in range(7)])
    seen, cursor = [], None
    while True:
        page = await mem.list(limit=3, cursor=cursor)
        seen += [m.id for m in page.items]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == [m.id for m in reversed(made)]
    with pytest.raises(InvalidInput):
        await mem.list(limit=0)


async def test_documents_are_found_by_passage(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    text = "# Cooking\n\nBoil the pasta for nine minutes.\n\n# Garden\n\nWater the tomatoes at dusk."
    stored = await mem.remember(Document(content=text, title="Handbook", uri="book.md"))
    assert len(stored) == 2
    hit = (await mem.recall("when should tomatoes get water?"))[0].memory
    assert hit.source.span is not None
    assert text[slice(*hit.source.span)] == hit.content
    assert hit.body["headings"] == ["Handbook", "Garden"]


async def test_context_fits_the_budget_and_quotes(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    await mem.remember([f"Fact number {n} about the harbour of Lisbon is remarkable." for n in range(50)])
    text = await mem.context("harbour of Lisbon", tokens=200)
    assert "harbour" in text
    assert len(text) < 200 * 8


async def test_filters_narrow_recall(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    await mem.remember("apples in spring", occurred_at=datetime(2024, 4, 1, tzinfo=UTC), metadata={"n": 1})
    await mem.remember("apples in autumn", occurred_at=datetime(2024, 10, 1, tzinfo=UTC), metadata={"n": True})
    late = await mem.recall("apples", since=datetime(2024, 6, 1, tzinfo=UTC))
    assert [h.memory.content for h in late] == ["apples in autumn"]
    one = await mem.recall("apples", where={"metadata": {"n": 1}})
    assert [h.memory.content for h in one] == ["apples in spring"]
    assert not await mem.recall("apples", where=Filter(kinds=("fact",)))
    with pytest.raises(InvalidInput):
        await mem.recall("apples", where={"nonsense": 1})


@pytest.mark.parametrize("name", ["", " x", "a\nb", "x" * 201])
async def test_a_bad_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="agent"):
        Longmind.open("memory:").agent(name)


async def test_what_is_remembered_after_another_changed_the_embedder_gets_a_vector_of_the_new(tmp_path: Path) -> None:
    url, settings = str(tmp_path / "m.db"), Settings.load({})
    async with (
        Longmind.open(url, embedder=Pointing("first"), settings=settings) as one,
        Longmind.open(url, embedder=Pointing("first"), settings=settings) as other,
    ):
        other.embedding._asked = Pointing("second")  # what the other process finds when it looks for the new embedder
        await one.agent("a").remember("cats purr")
        await one.reembed(Pointing("second"))
        kept = await other.agent("a").remember(["dogs bark", "cows moo"], operation="once")
        assert await other.agent("a").remember(["dogs bark", "cows moo"], operation="once") == kept
        stats = await one.agent("a").stats()
        assert stats.vectors == stats.memories == 3
        assert other.embedding.embedder is not None
        assert other.embedding.embedder.name == "second"


async def test_a_remembering_that_the_store_does_not_refuse_asks_it_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Longmind.open(
        str(tmp_path / "m.db"), embedder=Pointing("first"), settings=Settings.load({})
    ) as longmind:
        asked: list[str] = []
        real = longmind.store.backend.space

        async def space() -> Space | None:
            asked.append("space")
            return await real()

        monkeypatch.setattr(longmind.store.backend, "space", space)
        await longmind.agent("a").remember("cats purr")
        assert asked == []
        assert (await longmind.agent("a").stats()).vectors == 1


async def test_everything_is_back_after_a_restart(tmp_path: Path) -> None:
    url = str(tmp_path / "m.db")
    async with Longmind.open(url, settings=Settings.load({})) as longmind:
        mem = longmind.agent("assistant", user="alice")
        await mem.remember(TALK, session="s1")
        await mem.configure(recall_k=1)
        before = (await mem.stats(), await longmind.store.content_hash(mem.scope), await mem.recall("rain"))
    async with Longmind.open(url, settings=Settings.load({})) as longmind:
        mem = longmind.agent("assistant", user="alice")
        after = (await mem.stats(), await longmind.store.content_hash(mem.scope), await mem.recall("rain"))
    assert before[:2] == after[:2]
    assert [h.memory.id for h in before[2]] == [h.memory.id for h in after[2]]


async def test_a_closed_store_says_so() -> None:
    longmind = await Longmind.open("memory:")
    await longmind.close()
    await longmind.close()
    with pytest.raises(StoreUnavailable, match="not open"):
        await longmind.agent("a").remember(Message(content="x"))


async def test_what_cannot_be_closed_keeps_nothing_else_open(tmp_path: Path) -> None:
    class Stubborn(ScriptedModel):
        async def close(self) -> None:
            raise ModelUnavailable("It does not hang up.")

    longmind = await Longmind.open(str(tmp_path / "memory.db"))
    store = longmind.store
    vars(longmind)["chat"] = Stubborn().chat()
    with pytest.raises(ModelUnavailable):
        await longmind.close()
    with pytest.raises(StoreUnavailable):
        await store.backend.scopes()
    await longmind.close()


async def test_tags_as_one_text_and_a_moment_as_text_are_read_or_refused(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    with pytest.raises(InvalidInput, match="put it into a list"):
        await mem.remember("I moved.", tags="home")
    with pytest.raises(InvalidInput, match="occurred_at"):
        await mem.remember("I moved.", occurred_at="some day")  # type: ignore[call-overload]
    told = await mem.remember("I moved.", occurred_at="2026-01-01T00:00:00Z")  # type: ignore[call-overload]
    assert told.occurred_at == datetime(2026, 1, 1, tzinfo=UTC)
    again = await mem.remember("I moved.", occurred_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert again.id == told.id


async def test_what_stands_whatever_the_task_is(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    assert await standing_memories(mem.store, mem.scope) == []
    await mem.remember("The printer is in room 4.")
    learn = await mem.goals.create("Learn Portuguese", priority=0.9)
    rest = await mem.goals.create("Rest", priority=0.2)
    over = await mem.goals.create("Sing", priority=0.5)
    await mem.goals.abandon(over.id, "No voice.")
    assert [memory.id for memory in await standing_memories(mem.store, mem.scope)] == [learn.id, rest.id]
    ben = longmind.agent("a", user="ben")
    assert await standing_memories(ben.store, ben.scope) == []


async def test_recall_and_context_read_the_conversation_beside_the_question(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    await mem.remember("My sister Nora is allergic to peanuts.")
    said = await mem.remember("I want to bake a cake for Nora with peanuts.")
    await mem.remember("The printer is on the second floor.")
    talk = [{"role": "user", "content": said.content}]
    assert said.id in [hit.memory.id for hit in await mem.recall("What should I know about Nora?", k=2)]
    hits = await mem.recall("What should I know?", k=1, conversation=talk, min_score=0.1)
    assert [hit.memory.content for hit in hits] == ["My sister Nora is allergic to peanuts."]
    text = await mem.context("What should I know?", 300, conversation=talk)
    assert "allergic to peanuts" in text
    assert said.content not in text
    assert said.content in await mem.context("bake a cake for Nora", 300)
    with pytest.raises(InvalidInput, match="role"):
        await mem.recall("x", conversation=[{"role": "nobody", "content": "x"}])


async def test_a_dict_is_stored_as_a_record_under_a_key(longmind: Longmind) -> None:
    mem = longmind.agent("assistant", user="alice")
    first = await mem.remember({"theme": "dark", "sizes": [1, 2]}, key="settings")
    assert (first.kind, first.key, first.body) == ("record", "settings", {"theme": "dark", "sizes": [1, 2]})
    assert (await mem.recall("dark theme"))[0].memory.id == first.id
    again = await mem.remember({"theme": "light"}, key="settings")
    assert (again.id, again.version, again.body) == (first.id, 2, {"theme": "light"})
    assert await mem.get(key="settings") == again
    assert await mem.get(key="nothing") is None
    assert (await mem.remember({"theme": "light"}, key="settings")).version == 2
    text = await mem.remember("The alarm code is with Bob.", key="alarm")
    assert (text.kind, (await mem.get(key="alarm")) == text) == ("message", True)


async def test_a_key_is_for_one_memory_of_ones_own(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    with pytest.raises(InvalidInput, match="list"):
        await mem.remember(["a", "b"], key="k")
    with pytest.raises(InvalidInput, match="not a message"):
        await mem.remember({"theme": "dark"})
    with pytest.raises(InvalidInput, match="said:"):
        await mem.remember("a", key="said:a")
    with pytest.raises(InvalidInput):
        await mem.get()
    await mem.configure(recall_k=5)
    taken = (await mem.list(kinds=["configuration"])).items[0].key
    with pytest.raises(KeyTaken):
        await mem.remember({"recall_k": 7}, key=taken)
    assert (await mem.configuration()).recall_k == 5


async def test_a_store_that_does_not_exist_is_not_created_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "no" / "memory.db"
    with pytest.raises(NotFound, match="no store"):
        await Longmind.open(str(path), create=False, embedder="none")
    assert not path.parent.exists()
    async with Longmind.open(str(path), embedder="none"):
        pass
    async with Longmind.open(str(path), create=False, embedder="none") as longmind:
        assert await longmind.agents() == []


async def test_bookkeeping_is_listed_only_when_asked_for(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    said = await mem.remember("I moved to Lisbon.")
    await mem.configure(recall_k=5)
    assert [m.id for m in (await mem.list()).items] == [said.id]
    (settings,) = (await mem.list(kinds=["configuration"])).items
    assert [m.id for m in (await mem.list(where={"ids": [settings.id]})).items] == [settings.id]


async def test_metadata_is_filtered_by_range(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    for price in (4, 5, 9.5, 10):
        await mem.remember(f"Coffee for {price}", metadata={"price": price})
    where = {"metadata": {"price": {"gte": 5, "lt": 10}}}
    assert {m.metadata["price"] for m in (await mem.list(where=where)).items} == {5, 9.5}
    assert {hit.memory.metadata["price"] for hit in await mem.recall("coffee", where=where)} == {5, 9.5}
    for wrong in ({}, {"over": 5}, {"gt": True}, {"gt": 1, "lt": "2"}):
        with pytest.raises(InvalidInput):
            await mem.list(where={"metadata": {"price": wrong}})


async def test_users_and_conversations_are_listed(longmind: Longmind) -> None:
    for user in ("ben", "ann"):
        await longmind.agent("assistant", user).remember(["One.", "Two."], session="s1")
    mem = longmind.agent("assistant", all_users=True)
    assert await mem.users() == ["ann", "ben"]
    listed = await mem.conversations()
    assert {(summary.id, summary.user, summary.messages) for summary in listed} == {("s1", "ann", 2), ("s1", "ben", 2)}


async def test_changes_are_watched_and_resumed(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    first = await mem.remember("before")
    changes = mem.watch(after=0, poll_seconds=60)
    seen = await anext(changes)
    assert seen.memory_id == first.id
    waiting = asyncio.ensure_future(anext(changes))
    await asyncio.sleep(0)
    second = await mem.remember("while it waits")
    assert (await asyncio.wait_for(waiting, 30)).memory_id == second.id
    await changes.aclose()  # type: ignore[attr-defined]
    assert mem.store.listeners == []
    resumed = mem.watch(after=seen.seq)
    assert (await anext(resumed)).memory_id == second.id
    await resumed.aclose()  # type: ignore[attr-defined]


async def test_memories_and_hits_are_plain_dicts_and_readable(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    await mem.remember("I moved to Lisbon in May.")
    (hit,) = await mem.recall("Lisbon")
    assert json.loads(json.dumps(hit.to_dict()))["memory"]["content"] == "I moved to Lisbon in May."
    assert repr(hit).startswith(f"Hit({hit.score:.2f}, Memory({hit.memory.id}, message, user, ")
    assert "'I moved to Lisbon in May.'" in str(hit.memory)
