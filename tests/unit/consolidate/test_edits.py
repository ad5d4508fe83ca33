"""What rests on words that were edited or forgotten is put right at the next run."""

from typing import Any

from longmind import Longmind
from longmind.memory import AgentMemory
from longmind.types import Filter, Memory


async def facts(mem: AgentMemory) -> dict[str, str]:
    """Each fact as it is told, with its state."""
    where = Filter(kinds=("fact",), states=None)
    return {m.content: m.state async for m in mem.store.scan_all(mem.scope, where)}


async def summaries(mem: AgentMemory) -> list[Memory]:
    where = Filter(kinds=("summary",), states=None)
    return [m async for m in mem.store.scan_all(mem.scope, where) if "quoted" in m.body]


async def said(mem: AgentMemory, *texts: str, session: str = "s") -> list[Memory]:
    turns: list[dict[str, Any]] = [{"role": "user", "content": text} for text in texts]
    return list(await mem.remember(turns, session=session))


async def test_a_fact_whose_words_were_edited_away_is_stale(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="mel")
    (told,) = await said(mem, "I love tea.")
    await mem.consolidate()
    assert await facts(mem) == {"mel likes tea": "active"}
    await mem.update(told.id, content="I love gum.")
    report = await mem.consolidate()
    assert await facts(mem) == {"mel likes tea": "stale", "mel likes gum": "active"}, "the same span says another thing"
    assert any(change.why == "the words that said so were changed" for change in report.proposed)
    await mem.update(told.id, content="I love gum. I love tea.")
    await mem.consolidate()
    assert await facts(mem) == {"mel likes tea": "active", "mel likes gum": "active"}, "told again, it holds again"


async def test_what_still_says_so_stands(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="mel")
    first, other = await said(mem, "I love tea.", "Yes, I love tea!")
    await mem.consolidate()
    await mem.update(first.id, content="Well, as you know, I love tea.")
    await mem.consolidate()
    assert await facts(mem) == {"mel likes tea": "active"}, "in other words, and in another place"
    await mem.update(first.id, content="Nothing to report today.")
    await mem.consolidate()
    assert await facts(mem) == {"mel likes tea": "active"}, "somebody else says it"
    await mem.update(other.id, content="Nothing at all.")
    await mem.consolidate()
    assert await facts(mem) == {"mel likes tea": "stale"}


async def test_the_wording_that_counts_is_that_of_the_time(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="mel")
    (told,) = await said(mem, "I love tea.")
    await mem.consolidate()
    await mem.update(told.id, content="I lost it.")
    await mem.update(told.id, content="I lost it!!")
    await mem.consolidate()
    assert await facts(mem) == {"mel likes tea": "stale"}, "the last edit left the quoted characters as they were"


async def test_erasing_an_edited_message_erases_what_it_once_said(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="mel")
    (told,) = await said(mem, "I love tea.")
    await mem.consolidate()
    await mem.update(told.id, content="I love gum.")
    await mem.consolidate()
    await mem.forget(told.id, erase=True)
    assert await facts(mem) == {}


TALK = (
    "The pottery class meets every Tuesday evening in the old town.",
    "We fire our bowls in a large wood kiln behind the pottery class.",
    "A secret surprise party for the pottery teacher is planned in June.",
    "The teacher of the pottery class showed us a blue glaze from Japan.",
    "Our bowls with the blue glaze came out of the kiln without a crack.",
)


async def test_a_summary_forgets_what_was_forgotten(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="mel")
    turns = await said(mem, *TALK)
    await mem.consolidate()
    (before,) = await summaries(mem)
    assert "surprise party" in before.content
    await mem.forget(turns[2].id)
    await mem.consolidate()
    (after,) = await summaries(mem)
    assert (after.id, "surprise party" in after.content) == (before.id, False)
    assert turns[2].id not in after.body["quoted"]
    for turn in turns[:2]:
        await mem.forget(turn.id)
    report = await mem.consolidate()
    assert await summaries(mem) == [], "two turns need no summary"
    await mem.undo(report.id)
    assert len(await summaries(mem)) == 1


async def test_an_edited_turn_changes_the_summary(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="mel")
    turns = await said(mem, *TALK)
    await mem.consolidate()
    await mem.update(turns[2].id, content="A long hike for the pottery teacher is planned in June.")
    await mem.consolidate()
    (after,) = await summaries(mem)
    assert "surprise party" not in after.content
    assert "long hike" in after.content


async def test_topics_and_chains_forget_it_too(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="mel")
    await mem.dialogue.configure(window=1)
    turns = [turn for n, text in enumerate(TALK) for turn in await _exchange(mem, n, text)]
    await mem.consolidate()
    assert "secret" in await _told(mem)
    await mem.forget(turns[4].id)
    report = await mem.consolidate()
    assert "secret" not in await _told(mem)
    assert any(change.why == "what it quoted was changed or forgotten" for change in report.proposed)
    await mem.update(turns[2].id, content="We fire our bowls in an electric oven behind the pottery class.")
    await mem.consolidate()
    told = await _told(mem)
    assert "wood kiln" not in told
    assert "electric oven" in told


async def _exchange(mem: AgentMemory, number: int, text: str) -> list[Memory]:
    turns = [{"role": "user", "content": text}, {"role": "assistant", "content": f"Answer {number} about the pottery."}]
    return list(await mem.remember(turns, session="s"))


async def _told(mem: AgentMemory) -> str:
    """All that topics and chains say."""
    where = Filter(kinds=("segment", "summary"), states=None)
    records = [m async for m in mem.store.scan_all(mem.scope, where) if "quoted" not in m.body]
    return "\n".join(f"{m.content}\n{m.body['summary']}\n{m.body['terms']}" for m in records)
