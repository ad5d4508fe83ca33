"""Whatever uses a topic is a visit to it, through the public face."""

from __future__ import annotations

from typing import Any

from longmind import Longmind
from longmind.testing import FakeClock

GARDEN = ("The tomatoes in the greenhouse need compost and water.", "Tomatoes love compost and plenty of water.")
TRAINS = ("The express train to Vienna leaves from platform nine.", "Express trains to Vienna stop at platform nine.")


async def talk(mem: Any, texts: tuple[str, str], session: str, pages: int) -> None:
    """Remember pages on one topic, each of a user's turn and a reply."""
    turns = [
        {"role": role, "content": f"{text} Part {n}."}
        for n in range(pages)
        for role, text in zip(("user", "assistant"), texts, strict=True)
    ]
    await mem.remember(turns, session=session)


async def consolidated(longmind: Longmind, user: str = "ana") -> Any:
    """Return the memory of a user with a topic in mid-term memory, and another in the window."""
    mem = longmind.agent("gardener", user=user)
    await talk(mem, GARDEN, f"{user}: garden", 3)
    await talk(mem, TRAINS, f"{user}: trains", 7)
    await mem.consolidate()
    return mem


async def test_every_recall_that_uses_a_topic_is_a_visit(longmind: Longmind) -> None:
    mem = await consolidated(longmind)
    (garden,) = [segment for segment in await mem.dialogue.segments() if "compost" in segment.keywords]
    before = garden.all_visits
    for _ in range(3):
        hits = await mem.recall("compost for the tomatoes", k=4)
        assert len(hits) > 1, "several hits of one topic are one visit"
    assert (await mem.dialogue.segment(garden.id)).all_visits == before + 3
    assert (await mem.dialogue.segment(garden.id)).heat >= garden.heat + 2.9


async def test_a_context_is_a_visit(longmind: Longmind) -> None:
    mem = await consolidated(longmind)
    (garden,) = [segment for segment in await mem.dialogue.segments() if "compost" in segment.keywords]
    await mem.context("what do the tomatoes need?", tokens=300)
    assert (await mem.dialogue.segment(garden.id)).all_visits == garden.all_visits + 1


async def test_what_a_context_has_no_room_for_is_not_visited(longmind: Longmind) -> None:
    mem = await consolidated(longmind)
    (garden,) = [segment for segment in await mem.dialogue.segments() if "compost" in segment.keywords]
    question = "From which platform does the express train to Vienna leave, with tomatoes on board?"
    assert any(hit.memory.content.startswith(GARDEN) for hit in await mem.recall(question, k=30))
    garden = await mem.dialogue.segment(garden.id)
    assert "compost" not in await mem.context(question, tokens=150)
    turns = mem.conversation("today")
    await turns.add({"role": "user", "content": question})
    shown = await turns.context(tokens=220)
    assert "platform nine" in shown
    assert "compost" not in shown
    assert (await mem.dialogue.segment(garden.id)).all_visits == garden.all_visits


async def test_the_pages_of_the_hits_count_as_read(longmind: Longmind) -> None:
    mem = await consolidated(longmind)
    (garden,) = [segment for segment in await mem.dialogue.segments() if "compost" in segment.keywords]
    await mem.recall("compost for the tomatoes, part 1", k=2)
    await mem.dialogue.segments()
    pages = [page.id for page in await mem.dialogue.pages(garden)]
    assert sum(m.access_count for m in await mem.store.get_all(mem.scope, pages)) >= 1


async def test_a_topic_of_another_user_is_not_visited(longmind: Longmind) -> None:
    ana, ben = await consolidated(longmind, "ana"), await consolidated(longmind, "ben")
    before = await ben.dialogue.segments()
    await ana.recall("compost for the tomatoes")
    await ana.dialogue.segments()
    assert [s.all_visits for s in await ben.dialogue.segments()] == [s.all_visits for s in before]


async def test_visits_alone_make_a_topic_hot_and_the_next_run_promotes_it(longmind: Longmind) -> None:
    mem = await consolidated(longmind)
    (garden,) = [segment for segment in await mem.dialogue.segments() if "compost" in segment.keywords]
    assert garden.analysed_at is None, "three pages are not hot"
    for _ in range(60):
        await mem.recall("compost for the tomatoes", k=2)
    await talk(mem, TRAINS, "more trains", 1)
    await mem.consolidate()
    assert (await mem.dialogue.segment(garden.id)).analysed_at is not None


async def test_a_topic_that_is_not_used_is_archived_by_the_daily_run_and_still_recalled() -> None:
    clock = FakeClock()
    async with Longmind.open("memory:", clock=clock) as longmind:
        mem = await consolidated(longmind)
        (garden,) = [segment for segment in await mem.dialogue.segments() if "compost" in segment.keywords]
        for day in range(5):
            clock.advance(8 * 86_400)
            await talk(mem, TRAINS, f"trains again {day}", 8)
            await mem.consolidate()
        assert (await mem.dialogue.segment(garden.id)).archived
        hits = await mem.recall("compost for the tomatoes", k=3)
        assert "compost" in hits[0].memory.content
        assert (await mem.dialogue.recall("compost for the tomatoes")).mid_term[0].segment.id == garden.id
