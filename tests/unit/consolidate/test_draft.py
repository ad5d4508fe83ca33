"""A draft shows its own writes, leaves the store alone, and becomes one batch."""

from typing import TYPE_CHECKING, Any, cast

import pytest

from benchmarks.cycle import CountingBackend
from longmind import Longmind
from longmind.consolidate.draft import Draft
from longmind.errors import KeyTaken, NotFound, VersionConflict
from longmind.store.base import AddLink, Batch, Delete, Put, RemoveLink, Update, Write
from longmind.testing import memory
from longmind.types import Filter, Link, Scope

if TYPE_CHECKING:
    from longmind.store.base import Backend

SCOPE = Scope(agent="a", all_users=True)


def batch(longmind: Longmind, *writes: Write) -> Batch:
    return Batch(SCOPE, longmind.clock.new_id(), longmind.clock.now(), writes)


async def stored(longmind: Longmind, text: str, **fields: Any) -> str:
    made = memory(text, scope=SCOPE, **fields)
    return (await longmind.store.put(SCOPE, made)).id


async def test_writes_are_seen_here_and_nowhere_else(longmind: Longmind) -> None:
    old = await stored(longmind, "old", key="k:1")
    draft = Draft(longmind.store.backend, SCOPE)
    new = memory("new", scope=SCOPE, key="k:2")
    link = Link(source=new.id, relation="about", target=old)
    await draft.apply(batch(longmind, Put(new), Update(old, {"state": "stale"}, 1), AddLink(link)))
    assert [m.content for m in (await draft.scan(SCOPE, Filter(keys=("k:1", "k:2"), states=None))).items] != []
    assert (await draft.get(SCOPE, [old]))[0].state == "stale"
    assert await draft.links(SCOPE, [old], relation="about", direction="in", limit=10) == [link]
    assert await longmind.store.get(SCOPE, new.id) is None
    assert (await longmind.store.stats(SCOPE)).links == 0
    await longmind.store.apply(SCOPE, draft.writes())
    assert (await longmind.store.get(SCOPE, old) or new).state == "stale"
    assert await longmind.store.links(SCOPE, [new.id]) == [link]


async def test_many_changes_of_a_record_are_one_write(longmind: Longmind) -> None:
    id = await stored(longmind, "one")
    draft = Draft(longmind.store.backend, SCOPE)
    for text in ("two", "three", "four"):
        await draft.apply(batch(longmind, Update(id, {"content": text})))
    assert [w for w in draft.writes() if isinstance(w, Update) and w.changes] == [Update(id, {"content": "four"}, 1)]


async def test_what_ends_as_it_began_is_no_write(longmind: Longmind) -> None:
    id = await stored(longmind, "one")
    draft = Draft(longmind.store.backend, SCOPE)
    made = memory("gone again", scope=SCOPE)
    link = Link(source=made.id, relation="about", target=id)
    await draft.apply(batch(longmind, Put(made), AddLink(link)))
    await draft.apply(batch(longmind, RemoveLink(link.source, link.relation, link.target), Delete(made.id)))
    assert not draft.changed
    assert draft.writes() == []


async def test_a_key_is_let_go_before_it_is_taken(longmind: Longmind) -> None:
    first = await stored(longmind, "first", key="k")
    second = await stored(longmind, "second")
    draft = Draft(longmind.store.backend, SCOPE)
    third = memory("third", scope=SCOPE)
    await draft.apply(batch(longmind, Update(first, {"key": None}), Update(second, {"key": "k"})))
    await draft.apply(batch(longmind, Update(second, {"key": None}), Put(third.model_copy(update={"key": "k"}))))
    await longmind.store.apply(SCOPE, draft.writes())
    assert (await longmind.store.by_key(SCOPE, "k") or third).content == "third"


async def test_the_batch_fails_if_what_was_read_has_changed(longmind: Longmind) -> None:
    premise = await stored(longmind, "premise")
    draft = Draft(longmind.store.backend, SCOPE)
    await draft.apply(batch(longmind, Update(premise, {}, 1), Put(memory("conclusion", scope=SCOPE))))
    await longmind.store.update(SCOPE, premise, {"content": "something else"})
    with pytest.raises(VersionConflict):
        await longmind.store.apply(SCOPE, draft.writes())
    assert (await longmind.store.stats(SCOPE)).memories == 1


async def test_a_draft_keeps_the_rules_of_a_store(longmind: Longmind) -> None:
    id = await stored(longmind, "one", key="k")
    draft = Draft(longmind.store.backend, SCOPE)
    again = memory("two", scope=SCOPE, key="k")
    receipt = await draft.apply(batch(longmind, Put(again)))
    assert (receipt.memories[0].id, receipt.created) == (id, (False,))
    with pytest.raises(KeyTaken):
        await draft.apply(batch(longmind, Put(again, existing="fail")))
    with pytest.raises(VersionConflict):
        await draft.apply(batch(longmind, Update(id, {"content": "x"}, 7)))
    with pytest.raises(NotFound):
        await draft.apply(batch(longmind, Update(again.id, {"content": "x"})))


async def test_a_user_sees_its_own_and_nobodys(longmind: Longmind) -> None:
    await stored(longmind, "alice's", user="alice")
    await stored(longmind, "bob's", user="bob")
    draft = Draft(longmind.store.backend, SCOPE)
    await draft.apply(
        batch(longmind, Put(memory("new of bob", scope=SCOPE, user="bob")), Put(memory("all", scope=SCOPE)))
    )
    seen = await draft.scan(Scope(agent="a", user="alice"), Filter(kinds=("message",)), limit=100)
    assert sorted(m.content for m in seen.items) == ["alice's", "all"]


async def test_what_was_read_is_not_read_again(longmind: Longmind) -> None:
    id = await stored(longmind, "tea")
    counted = CountingBackend(longmind.store.backend)
    draft = Draft(cast("Backend", counted), SCOPE)
    (record,) = await draft.get(SCOPE, [id])
    assert await draft.get(SCOPE, [id]) == [record]
    assert counted.calls["get"] == 1
    where = Filter(kinds=("message",), metadata={"x": 1})
    for _ in range(3):
        assert (await draft.scan(SCOPE, where)).items == ()
    assert counted.calls["scan"] == 1, "the draft is one reading of the store"
    await draft.apply(batch(longmind, Update(id, {"metadata": {"x": 1}}, record.version)))
    assert [m.id for m in (await draft.scan(SCOPE, where)).items] == [id]
    assert counted.calls["scan"] == 1
    assert [write.expected_version for write in draft.writes() if isinstance(write, Update)] == [record.version]


async def test_known_records_are_used_and_not_copied(longmind: Longmind) -> None:
    ids = [await stored(longmind, text, key=f"k:{text}") for text in ("tea", "figs")]
    known = {m.id: m for m in await longmind.store.get_all(SCOPE, ids)}
    counted = CountingBackend(longmind.store.backend)
    draft = Draft(cast("Backend", counted), SCOPE, known)
    assert not draft.now, "what nobody asks for costs nothing"
    assert draft.has(ids[0])
    assert not draft.has("unknown")
    assert [m.content for m in await draft.get(SCOPE, ids[:1])] == ["tea"]
    assert counted.calls["get"] == 0
    await draft.know_keys(["k:figs"])
    assert draft.now[ids[1]] is known[ids[1]], "the record as the run knows it"


async def test_links_are_found_by_what_their_metadata_says(longmind: Longmind) -> None:
    subject, first, second = [await stored(longmind, text) for text in ("Ana", "Ana likes tea", "Ana likes figs")]
    links = [
        Link(source=fact, relation="about", target=subject, metadata={"predicate": "likes", "value": value})
        for fact, value in ((first, "tea"), (second, "figs"))
    ]
    await longmind.store.apply(SCOPE, [AddLink(links[0])])
    draft = Draft(longmind.store.backend, SCOPE)

    async def described(**metadata: str) -> list[Link]:
        return await draft.links_described(SCOPE, subject, relation="about", metadata=metadata)

    assert await described(predicate="likes") == [links[0]]
    await draft.apply(batch(longmind, AddLink(links[1])))
    assert await described(predicate="likes") == links
    assert await described(predicate="likes", value="figs") == [links[1]]
    assert await described(predicate="likes", value="plums") == []
    changed = links[0].model_copy(update={"metadata": {"predicate": "likes", "value": "green tea"}})
    await draft.apply(batch(longmind, AddLink(changed), RemoveLink(second, "about", subject)))
    assert await described(value="tea") == []
    assert await described(predicate="likes") == [changed]
