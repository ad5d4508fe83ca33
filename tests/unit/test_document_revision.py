"""A document that is ingested again replaces its former version."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from longmind import Document, Longmind

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
