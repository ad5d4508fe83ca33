"""What is archived is found when nothing active answers, and says that it is archived."""

from __future__ import annotations

from longmind import Longmind

PASSPORT = "My passport is in the blue folder."


async def test_an_archived_memory_is_found_when_nothing_active_answers(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    stored = await mem.remember(PASSPORT)
    await mem.remember("The weather was lovely today.")
    await mem.update(stored.id, state="archived")
    hits = await mem.recall("Where is my passport?")
    assert hits[0].memory.id == stored.id
    assert hits[0].memory.state == "archived"
    assert "archived: nothing active answers" in hits[0].why
    line = next(line for line in (await mem.context("Where is my passport?")).splitlines() if "blue folder" in line)
    assert "archived" in line


async def test_the_archive_stays_closed_while_something_active_answers(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    old = await mem.remember("My passport is in the drawer.")
    await mem.update(old.id, state="archived")
    await mem.remember(PASSPORT)
    assert [hit.memory.content for hit in await mem.recall("Where is my passport?")] == [PASSPORT]


async def test_what_fits_no_better_stays_in_the_archive(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    stored = await mem.remember(PASSPORT)
    await mem.update(stored.id, state="archived")
    await mem.remember("The weather was lovely today.")
    assert all(hit.memory.state == "active" for hit in await mem.recall("Who plays the trumpet?"))
    assert not await mem.recall("Where is my passport?", where={"states": ["superseded"]})


async def test_nobody_finds_the_archive_of_another_user(longmind: Longmind) -> None:
    stored = await longmind.agent("a", user="ann").remember(PASSPORT)
    await longmind.agent("a", user="ann").update(stored.id, state="archived")
    assert not await longmind.agent("a", user="bob").recall("Where is my passport?")
