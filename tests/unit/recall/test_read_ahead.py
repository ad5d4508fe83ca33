"""Reading ahead: what was said is read in the background, in the same words as a question asks for it."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from longmind import AgentMemory, Document, Longmind
from longmind.config import Settings
from longmind.errors import ModelError
from longmind.models import small_models
from longmind.models.rerank_small import Numbers, SmallReranker, TextInContext
from longmind.recall import read_ahead as module
from longmind.recall.rerank import ContextReranker, KeepsTexts, ReadsAhead

installed = pytest.mark.skipif(bool(small_models.missing()), reason="longmind-models is not installed")
FILLER = " ".join(f"On day {n} nothing much happened at the office of the harbour." for n in range(30))


class ListingReranker:
    """Notes what it is given to read, ahead and for questions."""

    name = "listing"

    def __init__(self) -> None:
        self.ahead: list[TextInContext] = []
        self.asked: list[TextInContext] = []
        self.has_room = True
        self.before_reading: Callable[[], Any] | None = None
        """Called before texts are read ahead; may return something to wait for."""

    async def depth(self) -> int:
        return 60

    async def read(self, question: str, texts: Sequence[TextInContext]) -> Numbers:
        self.asked += texts
        return [0.0] * len(texts)

    async def read_ahead(self, texts: Sequence[TextInContext]) -> None:
        if self.before_reading is not None and (waited_for := self.before_reading()) is not None:
            await waited_for
        self.ahead += texts

    async def close(self) -> None:
        """Nothing goes on in the background."""

    def forget(self) -> None:
        self.ahead.clear()

    @property
    def contents(self) -> list[str]:
        """What was read ahead, without who said it."""
        return [text.text.partition(": ")[2] for text in self.ahead]


@asynccontextmanager
async def opened(reranker: ListingReranker, most: int = 1_000) -> AsyncIterator[tuple[Longmind, AgentMemory]]:
    settings = Settings(read_ahead=most)
    async with Longmind.open("memory:", embedder="none", settings=settings, reranker=reranker) as longmind:
        yield longmind, longmind.agent("a", "ana")


async def read(longmind: Longmind, mem: AgentMemory) -> None:
    async with asyncio.timeout(60):
        await (await longmind.recaller()).read_ahead(mem.scope)


async def settled(longmind: Longmind) -> None:
    """Wait until nothing is read ahead any more, without beginning anything."""
    ahead = (await longmind.recaller())._ahead
    assert ahead is not None
    async with asyncio.timeout(60):
        await ahead.finish()


def turns(*contents: str) -> list[dict[str, str]]:
    return [{"role": "user", "name": "Ana", "content": content} for content in contents]


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE", 0.0)


def test_the_small_reranker_reads_ahead() -> None:
    assert isinstance(SmallReranker(), ReadsAhead)
    listing = ListingReranker()
    assert all(isinstance(listing, protocol) for protocol in (ContextReranker, ReadsAhead, KeepsTexts))


# -- with the model -------------------------------------------------------------------------------------------------


@installed
@pytest.mark.parametrize("url", ["memory:", "store.db"])
async def test_a_question_reads_nothing_that_was_read_ahead(url: str, tmp_path: Path) -> None:
    url = url if url == "memory:" else str(tmp_path / url)
    async with Longmind.open(url, settings=Settings(rerank_ms=10_000, read_ahead=100)) as longmind:
        mem = longmind.agent("a", "ana")
        for session in ("one", "two"):
            said = [f"In garden {session} I have {n} cats and tall trees." for n in range(5)]
            await mem.remember(turns(*said, f"{FILLER} My parrot Kiwi speaks Danish. {FILLER}"), session=session)
        await mem.remember("My cat likes trees.")
        await mem.remember(Document(title="Cats", content=f"Cats climb trees. {FILLER}"))
        await read(longmind, mem)
        reranker = (await longmind.recaller()).reranker
        assert isinstance(reranker, SmallReranker)
        kept = len(reranker._kept)
        assert kept > 14
        for question in ("How many cats?", "What does the parrot Kiwi speak?", "Which office is at the harbour?"):
            hits = await mem.recall(question, explain=True)
            assert all("reranker" in hit.parts for hit in hits), "every candidate was compared"
        assert len(reranker._kept) == kept


@installed
async def test_an_erasure_leaves_nothing_that_is_being_read() -> None:
    async with Longmind.open("memory:", settings=Settings(rerank_ms=60, read_ahead=1_000)) as longmind:
        mem = longmind.agent("a", "ana")
        await mem.remember(turns(*(f"I have {n} cats and tall trees." for n in range(300))), session="s")
        await mem.recall("How many cats?")
        reranker = (await longmind.recaller()).reranker
        assert isinstance(reranker, SmallReranker)
        async with asyncio.timeout(60):
            while len(reranker._kept) < 80:  # noqa: ASYNC110 - more than the question could ask for
                await asyncio.sleep(0.01)
        await longmind.erase_user("ana")
        assert len(reranker._kept) == 0
        await settled(longmind)
        await asyncio.sleep(0.1)
        assert len(reranker._kept) == 0  # not even what was under way


@installed
def test_a_process_that_ends_while_it_reads_ahead_says_nothing(tmp_path: Path) -> None:
    code = (
        "import time\n"
        "from longmind.sync import Longmind\n"
        "longmind = Longmind.open('memory:')\n"
        "mem = longmind.agent('a')\n"
        "mem.remember([f'I have {n} cats and tall trees.' for n in range(900)])\n"
        "mem.recall('How many cats?')\n"
        "time.sleep(1)\n"
    )
    environment = {**os.environ, "LONGMIND_RERANK_MS": "60", "LONGMIND_READ_AHEAD": "1000"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# -- what is queued -------------------------------------------------------------------------------------------------


async def test_texts_are_those_that_a_question_asks_for() -> None:
    reranker = ListingReranker()
    async with opened(reranker) as (longmind, mem):
        for session in ("one", "two"):
            await mem.remember(turns(*(f"Cat {n} of garden {session}." for n in range(8))), session=session)
        await mem.remember("A cat without a session.")
        await mem.remember(Document(title="Cats", content=f"Cats climb trees. {FILLER * 2}"))
        await mem.recall("cat garden trees", k=20)
        await read(longmind, mem)
        assert len(reranker.asked) > 17
        assert set(reranker.asked) <= set(reranker.ahead)
        assert len(set(reranker.ahead)) == len(reranker.ahead)
        assert TextInContext("Ana: Cat 3 of garden one.", "Ana: Cat 2 of garden one.", "Ana: Cat 4 of garden one.") in (
            reranker.ahead
        )


async def test_the_newest_messages_come_first_and_no_more_than_were_asked_for() -> None:
    reranker = ListingReranker()
    async with opened(reranker, most=5) as (longmind, mem):
        await mem.remember(turns(*(f"Cat {n}." for n in range(40))), session="s")
        await read(longmind, mem)
        assert reranker.contents == [f"Cat {n}." for n in (39, 38, 37, 36, 35)]


async def test_the_queue_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_QUEUED", 10)
    monkeypatch.setattr(module, "BATCH", 4)
    reranker = ListingReranker()
    async with opened(reranker) as (longmind, mem):
        await mem.remember(turns(*(f"Cat {n}." for n in range(40))), session="s")
        await read(longmind, mem)
        assert reranker.contents == [f"Cat {n}." for n in range(39, 29, -1)]


async def test_a_new_message_is_read_when_the_next_one_has_come() -> None:
    reranker = ListingReranker()
    async with opened(reranker) as (longmind, mem):
        await mem.remember(turns("First.", "Second."), session="s")
        await read(longmind, mem)
        reranker.ahead.clear()
        await mem.remember(turns("Third."), session="s")
        await settled(longmind)
        assert reranker.ahead == [TextInContext("Ana: Second.", "Ana: First.", "Ana: Third.")]
        reranker.ahead.clear()
        await mem.remember(turns("Fourth."), session="s")
        await settled(longmind)
        assert reranker.ahead == [TextInContext("Ana: Third.", "Ana: Second.", "Ana: Fourth.")]
        reranker.ahead.clear()
        await mem.remember("Outside of any session.")
        await settled(longmind)
        assert reranker.contents == ["Outside of any session."]


async def test_a_message_that_arrives_late_changes_those_beside_it() -> None:
    reranker = ListingReranker()
    async with opened(reranker) as (longmind, mem):
        days = [{"role": "user", "content": f"Day {n}.", "occurred_at": f"2024-03-0{n}T10:00:00Z"} for n in (1, 3, 4)]
        await mem.remember(days, session="s")
        await read(longmind, mem)
        reranker.ahead.clear()
        await mem.remember({"role": "user", "content": "Day 2."}, session="s", occurred_at="2024-03-02T10:00:00Z")
        await settled(longmind)
        assert {text.text: (text.before, text.after) for text in reranker.ahead} == {
            "user: Day 1.": ("", "user: Day 2."),
            "user: Day 2.": ("user: Day 1.", "user: Day 3."),
            "user: Day 3.": ("user: Day 2.", "user: Day 4."),
        }


async def test_what_is_written_where_nothing_was_asked_is_not_read() -> None:
    reranker = ListingReranker()
    async with opened(reranker) as (longmind, mem):
        await mem.remember(turns("Mine.", "Mine too."), session="s")
        await read(longmind, mem)
        reranker.ahead.clear()
        await longmind.agent("a", "ben").remember(turns("His.", "His too."), session="s")
        await settled(longmind)
        assert reranker.ahead == []


async def test_facts_and_goals_are_not_read() -> None:
    reranker = ListingReranker()
    async with opened(reranker) as (longmind, mem):
        await mem.recall("cats")
        await mem.goals.create("Feed the cats")
        await mem.remember({"cats": 3}, key="cats")
        await settled(longmind)
        assert reranker.ahead == []


@pytest.mark.parametrize("most", [0, 10])
async def test_nothing_is_there_where_it_is_off(most: int) -> None:
    async with opened(ListingReranker(), most=0) as (longmind, mem):
        await mem.remember(turns("One cat.", "Two cats."), session="s")
        await mem.recall("cats")
        recaller = await longmind.recaller()
        await recaller.read_ahead(mem.scope)
        assert recaller._ahead is None
        assert len(longmind.store.listeners) == 1  # that of shared memory
    async with Longmind.open("memory:", settings=Settings(rerank_ms=0, read_ahead=most)) as longmind:
        assert (await longmind.recaller())._ahead is None


# -- what stops it --------------------------------------------------------------------------------------------------


async def test_an_erasure_empties_the_queue_and_drops_what_was_fetched() -> None:
    reranker, fetched, go_on = ListingReranker(), asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        fetched.set()
        await go_on.wait()

    async with opened(reranker) as (longmind, mem):
        await mem.remember(turns(*(f"Cat {n}." for n in range(100))), session="s")
        reranker.before_reading = wait
        await mem.recall("cat")
        await fetched.wait()
        erasure = asyncio.create_task(longmind.erase_user("ana"))
        await asyncio.sleep(0.05)
        assert not erasure.done()  # it waits for what is being read, so that it finds the store unused
        go_on.set()
        async with asyncio.timeout(60):
            await erasure
        await settled(longmind)
        assert len(reranker.ahead) <= module.BATCH  # the batch that the reranker had already: it drops that itself
        reranker.before_reading = None
        reranker.ahead.clear()
        await mem.remember(turns("New.", "Newer."), session="s")
        await read(longmind, mem)  # it begins anew
        assert reranker.contents == ["Newer.", "New."]


async def test_what_was_fetched_before_an_erasure_is_not_read_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    reranker = ListingReranker()
    async with opened(reranker) as (longmind, mem):
        await mem.remember(turns("One cat.", "Two cats."), session="s")
        recaller, get_all = await longmind.recaller(), longmind.store.get_all
        erasures: list[asyncio.Task[None]] = []

        async def erased_meanwhile(*arguments: Any) -> Any:
            memories = await get_all(*arguments)
            erasures.append(asyncio.create_task(recaller.forget_texts()))
            await asyncio.sleep(0)
            return memories

        with monkeypatch.context() as patched:
            patched.setattr(longmind.store, "get_all", erased_meanwhile)
            await read(longmind, mem)
        assert len(await asyncio.gather(*erasures)) == 1
        assert reranker.ahead == []


async def test_erasing_one_memory_lets_go_of_what_was_read() -> None:
    reranker = ListingReranker()
    async with opened(reranker) as (longmind, mem):
        first, *_ = await mem.remember(turns("One cat.", "Two cats."), session="s")
        await read(longmind, mem)
        await mem.forget(first.id)
        assert len(reranker.ahead) == 2
        await mem.forget(first.id, erase=True)
        assert reranker.ahead == []


async def test_what_is_gone_meanwhile_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    reranker = ListingReranker()
    async with opened(reranker) as (longmind, mem):
        stored = await mem.remember(turns("One cat.", "Two cats.", "Three cats."), session="s")
        get_all = longmind.store.get_all

        async def deleted_meanwhile(scope: Any, ids: Any) -> Any:
            return [memory for memory in await get_all(scope, ids) if memory.id != stored[1].id]

        with monkeypatch.context() as patched:
            patched.setattr(longmind.store, "get_all", deleted_meanwhile)
            await read(longmind, mem)
        assert reranker.ahead == [TextInContext("Ana: Three cats."), TextInContext("Ana: One cat.")]


async def test_closing_does_not_wait_for_it() -> None:
    reranker, fetched = ListingReranker(), asyncio.Event()

    async def wait_forever() -> None:
        fetched.set()
        await asyncio.Event().wait()

    async with opened(reranker) as (longmind, mem):
        await mem.remember(turns("One cat.", "Two cats."), session="s")
        reranker.before_reading = wait_forever
        await mem.recall("cats")
        await fetched.wait()
        ahead = (await longmind.recaller())._ahead
        assert ahead is not None
        async with asyncio.timeout(10):
            await longmind.close()
        assert ahead._task is not None
        assert ahead._task.cancelled()
        assert reranker.ahead == []


async def test_it_stops_where_there_is_no_room() -> None:
    reranker = ListingReranker()

    def fill() -> None:
        reranker.has_room = False

    async with opened(reranker) as (longmind, mem):
        await mem.remember(turns(*(f"Cat {n}." for n in range(100))), session="s")
        reranker.before_reading = fill
        await read(longmind, mem)
        assert len(reranker.ahead) == module.BATCH
        await mem.remember(turns("One more.", "And one more."), session="s")
        await settled(longmind)
        assert len(reranker.ahead) == module.BATCH


async def test_a_model_that_fails_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    reranker = ListingReranker()

    def fail() -> None:
        raise ModelError("The small model is away.")

    async with opened(reranker) as (longmind, mem):
        await mem.remember(turns("One cat.", "Two cats."), session="s")
        reranker.before_reading = fail
        with caplog.at_level(logging.WARNING):
            await read(longmind, mem)
            await mem.remember(turns("Three cats.", "Four cats."), session="s")
            await mem.recall("cats")
            await read(longmind, longmind.agent("a", "ben"))
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        assert "The small model is away." in caplog.text


async def test_any_other_error_is_logged_and_ends_only_what_waits(caplog: pytest.LogCaptureFixture) -> None:
    reranker = ListingReranker()

    def fail() -> None:
        raise ZeroDivisionError

    async with opened(reranker) as (longmind, mem):
        await mem.remember(turns("One cat.", "Two cats."), session="s")
        reranker.before_reading = fail
        await read(longmind, mem)
        assert "ZeroDivisionError" in caplog.text
        reranker.before_reading = None
        await mem.remember(turns("Three cats."), session="s")
        await settled(longmind)
        assert reranker.contents == ["Two cats."]
