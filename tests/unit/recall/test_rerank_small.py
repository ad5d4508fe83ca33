"""The reranker of our own: the order changes, the fits are shared out."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmind import Longmind
from longmind.config import Settings
from longmind.models import small_models
from longmind.models.kept_texts import KeptTexts, TextVectors
from longmind.models.rerank_small import (
    MOST,
    MOST_LONG,
    Numbers,
    SmallReranker,
    TextInContext,
    open_reranker,
)
from longmind.recall import ranking
from longmind.recall.rerank import ENOUGH, new_order

installed = pytest.mark.skipif(bool(small_models.missing()), reason="longmind-models is not installed")


@given(st.lists(st.tuples(st.floats(0.01, 1), st.none() | st.floats(-12, 12)), min_size=1, max_size=20))
def test_the_order_has_every_candidate_once(candidates):
    scores = sorted((score for score, _ in candidates), reverse=True)
    order = new_order(scores, [number for _, number in candidates])
    assert sorted(order) == list(range(len(candidates)))
    if all(number is None for _, number in candidates):
        assert order == sorted(order)


def test_a_better_number_moves_a_candidate_up_and_one_that_was_not_read_is_between():
    assert new_order([1.0, 0.9], [-4.0, 4.0]) == [1, 0]
    assert new_order([1.0, 0.9], [-8.0, -8.5]) == [0, 1]
    assert new_order([1.0, 0.99, 0.98, 0.97, 0.5], [-6.0, None, 6.0, 0.0, -1.0]) == [2, 3, 1, 0, 4]


def _cats(count: int) -> list[TextInContext]:
    return [TextInContext(f"user: I have {n} cats and a garden with tall trees.") for n in range(count)]


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - the reader has no event to wait for
            await asyncio.sleep(0.01)


def _read(numbers: Numbers) -> int:
    return sum(number is not None for number in numbers)


@installed
async def test_a_budget_bounds_what_is_read_anew_and_what_was_read_costs_nothing():
    texts = _cats(MOST + 5)
    kept = KeptTexts()
    small, large = SmallReranker(0.001, kept), SmallReranker(10_000, kept)
    unread = await small.read("How many cats?", texts)
    assert unread == [None] * MOST
    everything = await large.read("How many cats?", texts)
    assert _read(everything) == MOST
    assert await small.read("How many cats?", texts) == everything
    assert len(kept) == MOST


@installed
async def test_fewer_candidates_are_compared_where_texts_are_long():
    reranker = SmallReranker(60_000)
    long_texts = [TextInContext(f"{text.text} " * 8) for text in _cats(MOST)]
    assert len(await reranker.read("How many cats?", long_texts)) == MOST_LONG
    mixed = [*_cats(MOST)[:18], *long_texts[:2], *_cats(MOST)[18:50]]
    assert len(await reranker.read("How many cats?", mixed)) == len(mixed)


@installed
async def test_what_a_question_leaves_over_is_read_while_nothing_is_asked():
    kept = KeptTexts()
    reranker, texts = SmallReranker(25, kept), _cats(MOST)
    first = await reranker.read("How many cats?", texts)
    assert 0 < _read(first) < MOST
    await _until(lambda: len(kept) == MOST)
    second = await SmallReranker(0.001, kept).read("How many cats?", texts)
    assert _read(second) == MOST
    assert [number for number in first if number is not None] == second[: _read(first)]
    await reranker.close()


@installed
async def test_closing_and_erasing_stop_what_waits():
    kept = KeptTexts()
    reranker = SmallReranker(0.001, kept)
    await reranker.read("How many cats?", _cats(MOST))
    await reranker.close()
    count = len(kept)
    await asyncio.sleep(0.1)
    assert count <= len(kept) <= count + 1  # one may have been under way
    await reranker.read("How many cats?", _cats(MOST))  # it goes on after that
    await _until(lambda: len(kept) > 0)
    reranker.forget()
    await reranker.close()
    await asyncio.sleep(0.1)
    assert len(kept) == 0  # not even what was under way


@installed
async def test_what_was_read_ahead_costs_a_question_nothing():
    filler = " ".join(f"On day {n} nothing much happened at the office." for n in range(60))
    long_text = TextInContext(f"user: {filler} My parrot Kiwi speaks Danish. {filler}", "user: Hello.", "user: Bye.")
    texts, kept = [*_cats(10), long_text], KeptTexts()
    await SmallReranker(60, kept).read_ahead(texts)
    assert len(kept) > 20  # the passages of the long text
    count, questions = len(kept), ("How many cats?", "What does the parrot speak?", "What was on day 59?", "?")
    for question in questions:
        unbounded = await SmallReranker(10_000).read(question, texts)
        assert await SmallReranker(0.001, kept).read(question, texts) == unbounded
    assert len(kept) == count
    await SmallReranker(60, kept).read_ahead(texts)
    assert len(kept) == count


@installed
async def test_texts_are_read_ahead_while_nothing_is_asked(monkeypatch):
    kept, asked, answered = KeptTexts(), threading.Event(), threading.Event()
    reranker, read = SmallReranker(60, kept), SmallReranker._read

    def read_slowly(*arguments):
        asked.set()
        assert answered.wait(60)
        return read(*arguments)

    monkeypatch.setattr(SmallReranker, "_read", read_slowly)
    question = asyncio.create_task(reranker.read("How many cats?", _cats(1)))
    await asyncio.to_thread(asked.wait)
    ahead = asyncio.create_task(reranker.read_ahead(_cats(5)[1:]))
    await asyncio.sleep(0.2)
    assert len(kept) == 0
    answered.set()
    await asyncio.gather(question, ahead)
    assert len(kept) == 5


@installed
async def test_what_a_question_left_over_is_read_before_what_is_read_ahead(monkeypatch):
    order: list[str] = []

    def note(name: str) -> None:
        read = getattr(SmallReranker, name)
        monkeypatch.setattr(SmallReranker, name, lambda *arguments: (order.append(name), read(*arguments))[1])

    note("_read_one")
    note("_read_passage")
    kept = KeptTexts()
    reranker, texts = SmallReranker(0.001, kept), _cats(20)
    await reranker.read("How many cats?", texts[:10])
    await reranker.read_ahead(texts[10:])
    assert order == ["_read_one"] * 10 + ["_read_passage"] * 10
    assert len(kept) == 20


@installed
async def test_no_more_is_read_ahead_than_there_is_room_for():
    kept = KeptTexts(20_000)
    reranker = SmallReranker(60, kept)
    await reranker.read_ahead(_cats(40))
    assert not reranker.has_room
    count = len(kept)
    assert 2 < count < 40
    await reranker.read_ahead(_cats(50)[40:])
    assert len(kept) == count
    first = await SmallReranker(0.001, kept).read("How many cats?", _cats(40))
    assert _read(first[:count]) == count  # nothing was pushed out
    reranker.forget()
    assert reranker.has_room


@installed
async def test_reading_ahead_ends_where_something_is_erased():
    kept = KeptTexts()
    reranker = SmallReranker(60, kept)
    reading = asyncio.create_task(reranker.read_ahead(_cats(300)))
    await _until(lambda: len(kept) > 0)
    reranker.forget()
    async with asyncio.timeout(60):
        await reading
    assert len(kept) == 0


@installed
async def test_an_erasure_leaves_nothing_that_was_read():
    async with Longmind.open("memory:", settings=Settings(rerank_ms=60)) as longmind:
        mem = longmind.agent("a", "ana")
        for n in range(6):
            await mem.remember(f"I have {n} cats and a garden with tall trees.")
        await mem.recall("How many cats?")
        reranker = (await longmind.recaller()).reranker
        assert isinstance(reranker, SmallReranker)
        assert len(reranker._kept) > 0
        await longmind.erase_user("ana")
        assert len(reranker._kept) == 0


@installed
async def test_a_number_does_not_depend_on_what_was_read_with_it_or_before():
    texts = _cats(8)
    together = await SmallReranker(10_000).read("Who has three cats?", texts)
    alone = [await SmallReranker(10_000).read("Who has three cats?", [text]) for text in texts]
    assert together == [result[0] for result in alone]


@installed
async def test_of_a_long_text_the_passage_that_fits_is_compared():
    filler = " ".join(f"On day {n} nothing much happened at the office." for n in range(60))
    text = TextInContext(f"user: {filler} My parrot Kiwi speaks Danish. {filler}")
    reranker = SmallReranker(10_000)
    parrot = await reranker.read("Which language does the parrot Kiwi speak?", [text])
    other = await reranker.read("Which instrument does the mayor of Lyon play?", [text])
    assert parrot[0] is not None
    assert other[0] is not None
    assert parrot[0] > other[0]
    assert await reranker.read("Which language does the parrot Kiwi speak?", [text]) == parrot


@installed
async def test_questions_at_the_same_time_share_the_budget():
    reranker = SmallReranker(60)
    batches = [
        [TextInContext(f"user: I have {n} cats and {batch} gardens with tall trees.") for n in range(MOST)]
        for batch in range(40)
    ]
    together = await asyncio.gather(*(reranker.read("How many cats?", texts) for texts in batches))
    counts = [_read(read) for read in together]
    assert counts[0] == max(counts), "whoever is first has the whole budget"
    assert counts[0] > 2 * sorted(counts)[len(counts) // 2]


def test_what_was_not_used_for_longest_goes_first():
    text = TextVectors(np.zeros((10, 96), np.int8), np.ones(10, np.float32), 10)
    kept = KeptTexts(3 * (text.nbytes + 200))
    for key in (b"a", b"b", b"c"):
        kept.add(key, text, 0)
    assert kept.get(b"a") is text
    kept.add(b"d", text, 0)
    assert [kept.get(key) is not None for key in (b"a", b"b", b"c", b"d")] == [True, False, True, True]
    assert len(kept) == 3


@installed
async def test_recall_puts_the_answer_before_words_that_only_match():
    said = [
        "The train to the coast leaves from platform four.",
        "What train did your parents take to the coast, and who paid?",
        "Train stations on the coast are lovely, a train there is slow.",
        "My mother drove us to the sea in her old van.",
    ]
    question, orders, fits = "From which platform does the train to the coast go?", {}, {}
    for milliseconds in (0.0, 5_000.0):
        async with Longmind.open("memory:", settings=Settings(rerank_ms=milliseconds)) as longmind:
            mem = longmind.agent("a")
            for text in said:
                await mem.remember(text)
            hits = await mem.recall(question, explain=True)
            orders[milliseconds] = [hit.memory.content for hit in hits]
            fits[milliseconds] = sorted(round(hit.fit, 6) for hit in hits)
            assert all(("reranker" in hit.parts) == bool(milliseconds) for hit in hits)
    assert orders[5_000.0][0] == said[0]
    assert fits[0.0] == fits[5_000.0]


def test_it_is_off_without_a_budget_or_without_the_package(monkeypatch):
    assert open_reranker(0) is None
    monkeypatch.setattr(small_models, "PACKAGES", ("no_such_package",))
    assert open_reranker(60) is None


def test_few_numbers_count_less_than_many() -> None:
    scores = [1.0 - place / 100 for place in range(ENOUGH)]
    swapped = [-1.0, 0.0, *[None] * (ENOUGH - 2)]  # two of ten were read: too little to turn the first two around
    assert new_order([1.0, 0.95, *scores[2:]], swapped)[0] == 0
    assert new_order([1.0, 0.95, *scores[2:]], [-1.0, 0.0, *[-3.0] * (ENOUGH - 2)])[0] == 1


def test_a_text_with_more_of_the_words_of_the_question_moves_up() -> None:
    scores, numbers = [1.0, 0.9, *[0.1] * ENOUGH], [-1.0, -1.0, *[-3.0] * ENOUGH]
    covered = [0.1, 0.9, *[0.0] * ENOUGH]
    assert new_order(scores, numbers)[0] == 0
    assert new_order(scores, numbers, covered)[0] == 1
    assert new_order(scores[:2], numbers[:2], covered[:2])[0] == 0, "where little was read, the order of the arms holds"
    assert new_order(scores, [None] * len(scores), covered) == list(range(len(scores)))


async def test_recall_tells_how_much_of_the_question_each_candidate_has(monkeypatch) -> None:
    class Fixed:
        name = "fixed"

        async def depth(self) -> int:
            return MOST

        async def read(self, question: str, texts: Sequence[TextInContext]) -> Numbers:
            return [0.0] * len(texts)

    shares: list[float] = []

    def recorded(scores: Sequence[float], numbers: Numbers, covered: Sequence[float] = ()) -> list[int]:
        shares.extend(covered)
        return new_order(scores, numbers, covered)

    monkeypatch.setattr(ranking, "new_order", recorded)
    async with Longmind.open("memory:", reranker=Fixed()) as longmind:
        mem = longmind.agent("a")
        for text in ("Leek soup is fine.", "Bread and leek soup for everybody.", "We like bread."):
            await mem.remember(text)
        await mem.recall("leek soup with bread")
    assert max(shares) == pytest.approx(1.0)
    assert 0 < min(shares) < 0.7
