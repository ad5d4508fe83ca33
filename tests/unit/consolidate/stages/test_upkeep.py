"""The upkeep of dialogue memory is part of the cycle, on by its settings, and loses nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from longmind import Longmind
from longmind.testing import FakeClock

WORDS = "apple bridge candle dragon engine forest guitar hammer island jungle kettle ladder marble needle".split()


async def separate(mem: Any, *words: str) -> None:
    """Remember conversations that have nothing in common, a page each."""
    for word in words:
        turns = [{"role": "user", "content": f"{word} {word}ish"}, {"role": "assistant", "content": f"{word}like"}]
        await mem.remember(turns, session=word)


async def words_of(mem: Any, *, archived: bool = False) -> list[str]:
    return sorted(segment.keywords[0] for segment in await mem.dialogue.segments(archived=archived))


async def test_a_run_archives_the_coldest_topics_past_capacity(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a", user="ana")
    await mem.dialogue.configure(window=1)
    await separate(mem, *WORDS[:8])
    await mem.consolidate()
    assert len(await mem.dialogue.segments()) == 7
    await mem.dialogue.configure(segments=3)
    face_clock.advance(timedelta(days=2))
    report = await mem.consolidate()
    assert len(await mem.dialogue.segments()) == 3
    assert len(await mem.dialogue.segments(archived=True)) == 4
    assert sum(change.kind == "segment" and change.action == "archive" for change in report.proposed) == 4
    for word in WORDS[:7]:
        assert word in (await mem.recall(word, k=1))[0].memory.content, "what was said is still found"
    await mem.undo(report.id)
    assert len(await mem.dialogue.segments()) == 7


async def test_a_run_archives_pages_past_their_retention(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a", user="ana")
    await mem.dialogue.configure(window=1, retention_days=30)
    await separate(mem, *WORDS[:4])
    await mem.consolidate()
    assert len(await mem.dialogue.segments()) == 3
    face_clock.advance(timedelta(days=40))
    await mem.consolidate()
    assert await mem.dialogue.segments() == ()
    assert await words_of(mem, archived=True) == WORDS[:3]


async def test_a_run_prunes_what_matters_little_and_was_never_read(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a", user="ana")
    await mem.dialogue.configure(window=1, prune_below=0.9)
    await separate(mem, *WORDS[:4])
    await mem.consolidate()
    await mem.recall("bridge", k=1)
    face_clock.advance(timedelta(days=31))
    await mem.consolidate()
    assert await words_of(mem) == ["bridge"], "it was read"
    assert await words_of(mem, archived=True) == ["apple", "candle"]


async def test_pages_leave_the_window_when_their_time_is_over(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a", user="ana")
    await mem.dialogue.configure(window=2, window_hours=30)
    await separate(mem, *WORDS[:4])
    await mem.consolidate()
    assert len(await mem.dialogue.short_term()) == 2
    face_clock.advance(timedelta(hours=31))
    await mem.consolidate()
    assert await mem.dialogue.short_term() == ()
    assert len(await mem.dialogue.segments()) == 4


async def test_every_user_of_the_agent_is_served(longmind: Longmind, face_clock: FakeClock) -> None:
    mems = [longmind.agent("a", user=user) for user in ("ana", "ben")]
    await mems[0].dialogue.configure(window=1, retention_days=30)
    for mem in mems:
        await separate(mem, *WORDS[:3])
    every = longmind.agent("a", all_users=True)
    await every.consolidate()
    face_clock.advance(timedelta(days=40))
    await every.consolidate()
    for mem in mems:
        assert await mem.dialogue.segments() == ()
        assert await words_of(mem, archived=True) == WORDS[:2]


async def test_upkeep_waits_until_it_is_due_and_can_be_turned_off(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a", user="ana")
    await mem.dialogue.configure(window=1)
    await separate(mem, *WORDS[:4])
    await mem.consolidate()
    await mem.dialogue.configure(segments=1, upkeep_hours=None)
    face_clock.advance(timedelta(days=40))
    await mem.consolidate()
    assert len(await mem.dialogue.segments()) == 3, "turned off"
    await mem.dialogue.configure(upkeep_hours=48)
    await separate(mem, WORDS[4])
    await mem.consolidate()
    assert len(await mem.dialogue.segments()) == 1
    await mem.dialogue.configure(segments=2)
    for hours in (1, 23, 23):
        face_clock.advance(timedelta(hours=hours))
        assert (await mem.consolidate()).proposed == (), "nothing was said and nothing is due"


async def test_an_important_page_promotes_its_topic_as_heat_does(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ana")
    await mem.dialogue.configure(window=1)
    await separate(mem, "apple")
    turns = [
        {"role": "user", "content": "Remember, I'm allergic to peanuts."},
        {"role": "assistant", "content": "I will."},
    ]
    await mem.remember(turns, session="allergy")
    await separate(mem, "bridge")
    await mem.consolidate()
    analysed = {segment.keywords[0]: segment.analysed_at for segment in await mem.dialogue.segments()}
    assert len(analysed) == 2
    assert analysed.pop("apple") is None, "one page is not hot"
    assert all(at is not None for at in analysed.values())
    assert any("peanuts" in entry.text for entry in await mem.persona.knowledge())
    assert await mem.dialogue.hot() == (), "it is promoted once"


async def test_importance_alone_can_be_turned_off(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ana")
    await mem.dialogue.configure(window=1, promote_importance=None)
    await mem.remember([{"role": "user", "content": "Remember, I'm allergic to peanuts."}], session="allergy")
    await mem.remember([{"role": "assistant", "content": "I will."}], session="allergy")
    await separate(mem, "bridge")
    await mem.consolidate()
    assert [segment.analysed_at for segment in await mem.dialogue.segments()] == [None]


async def test_upkeep_is_due_though_other_runs_came_between(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a", user="ana")
    await mem.dialogue.configure(window=1, retention_days=1)
    await separate(mem, *WORDS[:3])
    await mem.consolidate()
    for word in WORDS[3:5]:
        face_clock.advance(timedelta(hours=10))
        await separate(mem, word)
        await mem.consolidate()
    assert await words_of(mem, archived=True) == []
    face_clock.advance(timedelta(hours=10))
    await mem.consolidate()
    assert await words_of(mem, archived=True) == WORDS[:3]
