"""The reranker of our own: the order changes, the fits are shared out."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmind import Longmind
from longmind.config import Settings
from longmind.models import small_models
from longmind.models.rerank_small import Reranked, SmallReranker, TextInContext, open_reranker
from longmind.recall.rerank import new_order

installed = pytest.mark.skipif(bool(small_models.missing()), reason="longmind-models is not installed")


@given(
    st.lists(st.tuples(st.floats(0.01, 1), st.floats(-12, 12), st.integers(1, 400)), max_size=20), st.integers(0, 20)
)
def test_the_order_is_one_of_those_that_were_read(candidates, count):
    scores = sorted((score for score, _, _ in candidates), reverse=True)
    read = Reranked([n for _, n, _ in candidates][:count], [length for *_, length in candidates][:count])
    assert sorted(new_order(scores, read)) == list(range(min(count, len(candidates))))


def test_a_better_number_moves_a_candidate_up_and_long_texts_move_less():
    numbers = [-4.0, 4.0]
    assert new_order([1.0, 0.9], Reranked(numbers, [20, 20])) == [1, 0]
    assert new_order([1.0, 0.9], Reranked(numbers, [900, 900])) == [0, 1]
    assert new_order([1.0, 0.9], Reranked([-9.0, -8.0], [20, 20])) == [0, 1]


@installed
async def test_a_budget_bounds_what_is_read_and_one_is_always_read():
    texts = [TextInContext(f"user: I have {n} cats and a garden with tall trees.") for n in range(40)]
    small, large = SmallReranker(0.001), SmallReranker(10_000)
    assert len((await small.read("How many cats?", texts)).numbers) == 1
    assert len((await large.read("How many cats?", texts)).numbers) == 40
    assert await small.depth() == 1
    again = await large.read("How many cats?", texts[:5])
    assert again == await large.read("How many cats?", texts[:5])


@installed
async def test_questions_at_the_same_time_share_the_budget():
    texts = [TextInContext(f"user: I have {n} cats and a garden with tall trees.") for n in range(60)]
    reranker = SmallReranker(60)
    alone = len((await reranker.read("How many cats?", texts)).numbers)
    fetched = await reranker.depth()
    reading = asyncio.gather(*(reranker.read("How many cats?", texts) for _ in range(40)))
    await asyncio.sleep(0)  # all of them have begun
    assert await reranker.depth() < fetched
    together = await reading
    counts = [len(read.numbers) for read in together]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == alone
    assert counts[1] <= alone // 2 + 1
    assert counts[-1] < counts[1]
    assert len((await reranker.read("How many cats?", texts)).numbers) == alone


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
