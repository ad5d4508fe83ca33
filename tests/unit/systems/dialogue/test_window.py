"""Short-term memory: what comes in, what leaves, and what two writers at once do to it, on every backend."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from longmind.errors import InvalidInput, NotFound
from longmind.systems.dialogue import DialogueMemory, PageDraft
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock
from longmind.types import Filter, Source


async def test_the_eighth_page_moves_the_first_to_a_segment(dialogue: DialogueMemory, scoped: ScopedStore) -> None:
    ids = [(await dialogue.add(f"question {n}", f"answer {n}")).pages[0].id for n in range(7)]
    assert [page.id for page in await dialogue.short_term()] == ids
    assert await dialogue.segments() == ()
    added = await dialogue.add("question 7", "answer 7")
    assert [page.id for page in await dialogue.short_term()] == [*ids[1:], added.pages[0].id]
    (moved,) = added.moved
    assert (moved.page, moved.created) == (ids[0], True)
    assert (await dialogue.page(ids[0])).segment == moved.segment
    (segment,) = await dialogue.segments()
    assert [page.id for page in await dialogue.pages(segment)] == [ids[0]]
    links = await scoped.store.links(scoped.scope, [ids[0]], relation="part_of")
    assert [link.target for link in links] == [moved.segment]


async def test_a_page_holds_what_was_said(dialogue: DialogueMemory, scoped: ScopedStore, clock: FakeClock) -> None:
    added = await dialogue.add("I moved to Lisbon.", "How is the city?", session="s1", importance=0.9)
    page = await dialogue.page(added.pages[0].id)
    assert [(turn.who, turn.text) for turn in page.turns] == [
        ("user", "I moved to Lisbon."),
        ("assistant", "How is the city?"),
    ]
    assert (page.session, page.importance, page.at, page.segment) == ("s1", 0.9, clock.now(), None)
    assert page.text == "I moved to Lisbon.\nHow is the city?"
    assert [hit.memory.id for hit in await scoped.search("Lisbon", kinds=["page"])] == [page.id]


async def test_a_page_of_messages_points_to_them(dialogue: DialogueMemory, scoped: ScopedStore) -> None:
    asked = scoped.new("message", "I moved to Lisbon.", source=Source(role="user", name="Alice"), session="s1")
    reply = scoped.new("message", "How is it?", importance=0.8)
    await scoped.store.put(scoped.scope, asked)
    await scoped.store.put(scoped.scope, reply)
    added = await dialogue.add(messages=[asked.id, reply.id])
    (page,) = added.pages
    assert [(turn.who, turn.text, turn.memory) for turn in page.turns] == [
        ("Alice", "I moved to Lisbon.", asked.id),
        ("assistant", "How is it?", reply.id),
    ]
    assert (page.session, page.importance) == ("s1", 0.8)
    stored = await scoped.store.get(scoped.scope, page.id)
    assert stored is not None
    assert stored.content == "", "the text is stored once, in the messages"
    links = await scoped.store.links(scoped.scope, [page.id], relation="derived_from")
    assert {link.target for link in links} == {asked.id, reply.id}
    again = await dialogue.add(messages=[asked.id, reply.id])
    assert again.pages == (page,)
    assert len(await dialogue.short_term()) == 1


async def test_a_message_is_in_one_page_only(dialogue: DialogueMemory, scoped: ScopedStore) -> None:
    said = [scoped.new("message", f"Sentence {n}.") for n in range(3)]
    for message in said:
        await scoped.store.put(scoped.scope, message)
    one, two, three = (message.id for message in said)
    await dialogue.add(messages=[one, two])
    with pytest.raises(InvalidInput, match="in a page already"):
        await dialogue.add(messages=[two, three])
    with pytest.raises(InvalidInput, match="in a page already"):
        await dialogue.add_many([{"messages": [three]}, {"messages": [scoped.clock.new_id(), three]}])
    assert len(await dialogue.short_term()) == 1


async def test_a_message_that_was_forgotten_has_no_text_any_more(dialogue: DialogueMemory, scoped: ScopedStore) -> None:
    asked, reply = scoped.new("message", "Secret."), scoped.new("message", "I see.")
    for message in (asked, reply):
        await scoped.store.put(scoped.scope, message)
    page = (await dialogue.add(messages=[asked.id, reply.id])).pages[0]
    await scoped.store.delete(scoped.scope, asked.id)
    assert (await dialogue.page(page.id)).text == "I see."


async def test_what_cannot_be_a_page(dialogue: DialogueMemory, scoped: ScopedStore) -> None:
    with pytest.raises(InvalidInput, match="give what the user said"):
        await dialogue.add()
    with pytest.raises(InvalidInput, match="give what the user said"):
        await dialogue.add("  ", "")
    fact = scoped.new("fact", "not a message")
    await scoped.store.put(scoped.scope, fact)
    for id in (fact.id, scoped.clock.new_id()):
        with pytest.raises(NotFound, match="no message"):
            await dialogue.add(messages=[id])
    with pytest.raises(InvalidInput, match="in a page once"):
        await dialogue.add(messages=[fact.id, fact.id])
    assert await dialogue.short_term() == ()


async def test_a_key_is_one_page(dialogue: DialogueMemory) -> None:
    first = await dialogue.add("one", "two", key="turn-1")
    again = await dialogue.add("something else", "now", key="turn-1")
    assert again.pages == first.pages
    both = await dialogue.add_many(
        [{"user": "x", "reply": "y", "key": "turn-2"}, {"user": "x", "reply": "y", "key": "turn-2"}]
    )
    assert both.pages[0] == both.pages[1]
    assert len(await dialogue.short_term()) == 2


async def test_an_added_page_is_one_operation(dialogue: DialogueMemory, scoped: ScopedStore, talk: Any) -> None:
    for name in talk.names:
        await talk(name, 2)
    last = (await scoped.store.stats(scoped.scope)).changes
    await dialogue.add("one more", "page")
    changes = await scoped.store.journal(scoped.scope, after=last, limit=1000)
    assert {"put", "update", "link"} <= {change.action for change in changes}
    assert len({change.operation for change in changes}) == 1


async def test_many_pages_at_once_are_as_many_one_by_one(scoped_stores: Any, scoped: ScopedStore, talk: Any) -> None:
    drafts = [PageDraft(user=said[0], reply=said[1]) for said in talk.segments.values() for _ in range(3)]
    one, other = (
        DialogueMemory(await scoped_stores.open(user="one")),
        DialogueMemory(await scoped_stores.open(user="other")),
    )
    for draft in drafts:
        await one.add(draft.user, draft.reply)
    added = await other.add_many(drafts)
    assert [page.text for page in added.pages] == [f"{draft.user}\n{draft.reply}" for draft in drafts]
    assert [page.text for page in await one.short_term()] == [page.text for page in await other.short_term()]
    assert len(added.moved) == 8
    assert sorted(s.length for s in await one.segments()) == sorted(s.length for s in await other.segments())


async def test_writers_at_once_never_overfill_the_window(dialogue: DialogueMemory, scoped: ScopedStore) -> None:
    rivals = [DialogueMemory(scoped) for _ in range(4)]
    added = await asyncio.gather(*(rivals[n % 4].add(f"question {n}", f"answer {n}") for n in range(12)))
    ids = {one.pages[0].id for one in added}
    assert len(ids) == 12
    window = {page.id for page in await dialogue.short_term()}
    assert len(window) == 7
    inside = [page.id for segment in await dialogue.segments() for page in await dialogue.pages(segment)]
    assert len(inside) == len(set(inside)) == 5
    assert window | set(inside) == ids


async def test_the_same_page_from_two_writers_is_one(scoped: ScopedStore) -> None:
    rivals = [DialogueMemory(scoped) for _ in range(3)]
    added = await asyncio.gather(*(rival.add("hello", "hi", key="greeting") for rival in rivals))
    assert len({one.pages[0].id for one in added}) == 1
    assert len(await rivals[0].short_term()) == 1


async def test_users_have_windows_of_their_own(scoped_stores: Any, scoped: ScopedStore) -> None:
    alice, bob = (
        DialogueMemory(await scoped_stores.open(user="alice")),
        DialogueMemory(await scoped_stores.open(user="bob")),
    )
    nobody = DialogueMemory(scoped)
    await alice.add("I like tea", "noted")
    await bob.add("I like coffee", "noted")
    page = (await nobody.add("a note to self", "kept")).pages[0]
    assert [p.text for p in await alice.short_term()] == ["I like tea\nnoted"]
    assert [p.text for p in await nobody.short_term()] == ["a note to self\nkept"]
    for _ in range(8):
        await alice.add("more", "talk")
        await nobody.add("other", "things")
    for mine in (alice, nobody):
        inside = [page for segment in await mine.segments() for page in await mine.pages(segment)]
        assert len(inside) == 2
    assert await bob.segments() == ()
    with pytest.raises(NotFound, match="not of this user"):
        await alice.page(page.id)


async def test_messages_of_another_user_are_refused(scoped_stores: Any, scoped: ScopedStore) -> None:
    alice = await scoped_stores.open(user="alice")
    message = alice.new("message", "hello")
    await alice.store.put(alice.scope, message)
    with pytest.raises(NotFound):
        await DialogueMemory(scoped).add(messages=[message.id])
    with pytest.raises(InvalidInput, match="another user"):
        await DialogueMemory(await scoped_stores.open(all_users=True)).add(messages=[message.id])


async def test_the_window_is_there_after_a_restart(scoped_stores: Any, dialogue: DialogueMemory, talk: Any) -> None:
    for name in talk.names:
        await talk(name, 2)
    before = await dialogue.short_term(), await dialogue.segments(), await dialogue.chain()
    again = DialogueMemory(await scoped_stores.restart())
    assert (await again.short_term(), await again.segments(), await again.chain()) == before


async def test_a_forgotten_page_leaves_the_window(dialogue: DialogueMemory, scoped: ScopedStore, talk: Any) -> None:
    ids = await talk("garden", 3)
    await scoped.store.delete(scoped.scope, ids[1])
    assert [page.id for page in await dialogue.short_term()] == [ids[0], ids[2]]
    await talk("trains", 5)
    assert len(await dialogue.short_term()) == 7
    assert await dialogue.segments() == ()


async def test_old_pages_leave_the_window_with_a_time_limit(
    dialogue: DialogueMemory, clock: FakeClock, talk: Any
) -> None:
    ids = await talk("garden", 2)
    clock.advance(timedelta(hours=3))
    young = await talk("trains")
    assert (await dialogue.upkeep()).moved == ()
    await dialogue.configure(window_hours=2)
    kept = await dialogue.upkeep()
    assert [moved.page for moved in kept.moved] == ids
    assert [page.id for page in await dialogue.short_term()] == young
    assert (await dialogue.upkeep()).operations == (), "a second round has nothing to do"


async def test_a_smaller_window_is_kept_at_the_next_page(
    dialogue: DialogueMemory, scoped: ScopedStore, talk: Any
) -> None:
    await talk("garden", 6)
    await dialogue.configure(window=2)
    added = await dialogue.add("and now", "this")
    assert len(added.moved) == 5
    assert len(await dialogue.short_term()) == 2
    everything = await scoped.store.backend.matching(scoped.scope, Filter(kinds=("page",)))
    assert len(everything) == 7


async def test_two_processes_share_a_window(scoped_stores: Any, dialogue: DialogueMemory) -> None:
    if scoped_stores.backend == "inmem":
        pytest.skip("what lives in one process has no second one")
    other = DialogueMemory(await scoped_stores.another())
    added = await asyncio.gather(
        *(mine.add(f"question {n}", "answer") for n in range(6) for mine in (dialogue, other)),
    )
    ids = {one.pages[0].id for one in added}
    window = {page.id for page in await other.short_term()}
    inside = [page.id for segment in await dialogue.segments() for page in await dialogue.pages(segment)]
    assert (len(ids), len(window), len(inside)) == (12, 7, 5)
    assert window | set(inside) == ids
