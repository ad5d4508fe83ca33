"""A document that is ingested again replaces its former version."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from longmind import Document, Longmind, OperationMismatch

FIRST = "# Bins\n\nTuesdays.\n\n# Noise\n\nNot after ten.\n\n# Pets\n\nNo snakes."
SECOND = "A preface.\n\n# Bins\n\nTuesdays.\n\n# Noise\n\nNot after eleven."


@pytest.fixture
async def longmind() -> AsyncIterator[Longmind]:
    async with await Longmind.open("memory:") as opened:
        yield opened


@pytest.mark.parametrize("place", [{"uri": "file:rules.md"}, {"title": "House rules"}])
async def test_unchanged_passages_stay_changed_ones_supersede_removed_ones_are_archived(
    longmind: Longmind, place: dict[str, str]
) -> None:
    mem = longmind.agent("house")
    bins, noise, pets = await mem.remember(Document(content=FIRST, **place))
    preface, kept, changed = await mem.remember(Document(content=SECOND, **place))
    assert kept.id == bins.id
    assert kept.source.span is not None
    assert SECOND[slice(*kept.source.span)] == kept.content
    assert [m.body["passage"] for m in (preface, kept, changed)] == [0, 1, 2]
    states = {m.id: m.state for m in await longmind.store.get_all(mem.scope, [noise.id, pets.id])}
    assert states == {noise.id: "superseded", pets.id: "archived"}
    links = await longmind.store.links(mem.scope, [changed.id], relation="supersedes")
    assert [link.target for link in links] == [noise.id]
    hits = await mem.recall("snakes", kinds=["document"])
    assert all("snakes" not in hit.memory.content for hit in hits)


async def test_the_former_version_can_come_back(longmind: Longmind) -> None:
    mem = longmind.agent("house")
    first = await mem.remember(Document(content=FIRST, title="House rules"))
    second = await mem.remember(Document(content=SECOND, title="House rules"))
    again = await mem.remember(Document(content=FIRST, title="House rules"))
    assert [m.id for m in again] == [m.id for m in first]
    assert {m.state for m in again} == {"active"}
    active = {m.content for m in (await mem.list(limit=50)).items if m.state == "active"}
    assert active == {m.content for m in first}
    assert await mem.remember(Document(content=FIRST, title="House rules")) == again
    assert second[2].id not in {m.id for m in again}


async def test_other_documents_users_and_sessions_are_left_alone(longmind: Longmind) -> None:
    mine, theirs = longmind.agent("house", user="anna"), longmind.agent("house", user="ben")
    for mem in (mine, theirs):
        await mem.remember(Document(content=FIRST, title="House rules"))
        await mem.remember(Document(content="Untouched.", title="Other"))
        await mem.remember(Document(content="No title, no place."))
    await mine.remember(Document(content="Only this.", title="House rules"))
    assert {m.content for m in (await mine.list()).items if m.state == "active"} == {
        "Only this.",
        "Untouched.",
        "No title, no place.",
    }
    assert len((await theirs.list()).items) == 5


async def test_the_same_passage_twice_in_a_document_is_two(longmind: Longmind) -> None:
    mem = longmind.agent("house")
    text = "# A\n\nSame.\n\n# A\n\nSame."
    stored = await mem.remember(Document(content=text, title="Twice"))
    assert len({m.id for m in stored}) == 2
    assert await mem.remember(Document(content=text, title="Twice")) == stored


async def test_context_shows_title_and_heading(longmind: Longmind) -> None:
    mem = longmind.agent("house")
    await mem.remember(Document(content=FIRST, title="House rules", uri="rules.md"))
    assert "House rules > Noise" in await mem.context("noise after ten")


async def test_a_new_version_is_one_operation_that_undo_takes_back_whole(longmind: Longmind) -> None:
    mem = longmind.agent("house")
    await mem.remember(Document(content=FIRST, title="House rules"))
    before = {m.id: (m.state, m.body) async for m in longmind.store.scan_all(mem.scope)}
    preface, *_ = await mem.remember(Document(content=SECOND, title="House rules"))
    lines = await longmind.store.journal(mem.scope, after=len(before), limit=100)
    assert len({line.operation for line in lines}) == 1
    undone = await mem.undo(lines[0].operation)
    assert preface.id in undone.ids("removed")
    assert {m.id: (m.state, m.body) async for m in longmind.store.scan_all(mem.scope)} == before


async def test_unchanged_passages_get_the_tags_and_metadata_of_the_new_version(longmind: Longmind) -> None:
    mem = longmind.agent("house")
    first = await mem.remember(Document(content=FIRST, title="House rules", metadata={"edition": 1}), tags=["draft"])
    again = await mem.remember(Document(content=FIRST, title="House rules", metadata={"edition": 2}), tags=["final"])
    assert [m.id for m in again] == [m.id for m in first]
    assert {(m.tags, m.metadata["edition"]) for m in again} == {(("final",), 2)}


async def test_a_passage_that_comes_back_is_no_longer_marked_as_replaced(longmind: Longmind) -> None:
    mem = longmind.agent("house")
    _, noise, _ = await mem.remember(Document(content=FIRST, title="House rules"))
    await mem.remember(Document(content=SECOND, title="House rules"))
    await mem.remember(Document(content=FIRST, title="House rules"))
    assert not await longmind.store.links(mem.scope, [noise.id], relation="supersedes", direction="in")


async def test_a_retry_of_a_new_version_changes_nothing(longmind: Longmind) -> None:
    mem = longmind.agent("house")
    first = await mem.remember(Document(content=FIRST, title="House rules"), operation="v1")
    assert await mem.remember(Document(content=FIRST, title="House rules"), operation="v1") == first
    second = await mem.remember(Document(content=SECOND, title="House rules"), operation="v2")
    head = await longmind.store.backend.head(mem.scope)
    assert await mem.remember(Document(content=SECOND, title="House rules"), operation="v2") == second
    assert await longmind.store.backend.head(mem.scope) == head
    with pytest.raises(OperationMismatch):
        await mem.remember(Document(content="Another text.", title="House rules"), operation="v2")


async def test_two_tasks_that_ingest_one_document_leave_one_version(longmind: Longmind) -> None:
    mem = longmind.agent("house")
    texts = [f"# Bins\n\nTuesdays.\n\n# Noise\n\nNot after {hour}." for hour in ("nine", "ten", "eleven")]
    await asyncio.gather(*(mem.remember(Document(content=text, title="House rules")) for text in texts))
    active = {m.content for m in (await mem.list()).items if m.state == "active"}
    assert active in [{"# Bins\n\nTuesdays.", f"# Noise\n\nNot after {hour}."} for hour in ("nine", "ten", "eleven")]


async def test_progress_goes_up_to_the_total(longmind: Longmind) -> None:
    seen: list[tuple[int, int]] = []
    text = "\n\n".join(f"# Part {n}\n\nText {n}." for n in range(2_500))
    stored = await longmind.agent("house").remember(
        Document(content=text, title="Long"), progress=lambda done, total: seen.append((done, total))
    )
    assert [done for done, _ in seen] == [1_000, 2_000, 2_500]
    assert {total for _, total in seen} == {len(stored)} == {2_500}
