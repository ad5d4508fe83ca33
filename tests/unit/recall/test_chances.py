"""The score of a hit is a chance: it never rises along the order of the hits, and a strange question has low ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from longmind.models.rerank_small import Numbers, TextInContext
from longmind.recall import chance_weights
from longmind.recall.chances import READ_SIGNS, SIGNS, chances_of

TALK = (
    "Alice adopted a puppy called Biscuit in March.",
    "The puppy chewed the leg of the green armchair.",
    "Trains to the coast were late because of the storm.",
    "Bruno paints the fence of his garden every spring.",
    "We had lentil soup and bread for dinner.",
    "The dentist moved my appointment to Friday.",
    "Her cousin plays the cello in an orchestra.",
    "My bicycle has a flat tyre again.",
    "The library closes at six on Saturdays.",
    "Bruno and Alice planned a hike around the lake.",
)


class ReversingReranker:
    """Reads every candidate and finds the last one best."""

    name = "reversing"

    async def depth(self) -> int:
        return 20

    async def read(self, question: str, texts: list[TextInContext]) -> Numbers:
        return [float(place) for place in range(len(texts))]


async def _told(world: Any) -> None:
    for text in TALK:
        await world.add(text, session="talk")


@pytest.mark.parametrize("reranker", [None, ReversingReranker()])
async def test_scores_never_rise_and_the_order_is_that_of_the_fit(world: Any, reranker: Any) -> None:
    await _told(world)
    world.recaller.reranker = reranker
    for question in ("What is the puppy of Alice called?", "Bruno's garden fence", "When does the library close?"):
        hits = await world.recaller.recall(world.scope, question, explain=True)
        scores, fits = [hit.score for hit in hits], [hit.parts["fit"] for hit in hits]
        assert len(hits) > 3
        assert scores == sorted(scores, reverse=True)
        assert fits == sorted(fits, reverse=True)
        assert all(0 <= score <= 1 for score in scores)
        assert [round(hit.fit, 4) for hit in hits] == fits


async def test_a_question_that_this_memory_cannot_answer_has_a_lower_best_score(world: Any) -> None:
    await _told(world)
    known = await world.recaller.recall(world.scope, "What is the puppy of Alice called?")
    strange = await world.recaller.recall(world.scope, "What did Ingrid's uncle say about the volcano in Iceland?")
    assert known[0].memory.content == TALK[0]
    assert not strange or strange[0].score < known[0].score / 2


async def test_min_score_keeps_the_first_hits_that_are_likely_enough(world: Any) -> None:
    await _told(world)
    hits = await world.recaller.recall(world.scope, "What is the puppy of Alice called?")
    middle = (hits[0].score + hits[-1].score) / 2
    kept = await world.recaller.recall(world.scope, "What is the puppy of Alice called?", min_score=middle)
    assert 0 < len(kept) < len(hits)
    assert [hit.memory.id for hit in kept] == [hit.memory.id for hit in hits if hit.score >= middle]


async def test_the_score_of_a_hit_does_not_depend_on_how_many_are_asked_for(world: Any) -> None:
    await _told(world)
    question = "What is the puppy of Alice called?"
    few = await world.recaller.recall(world.scope, question, k=2)
    many = await world.recaller.recall(world.scope, question, k=8)
    assert [hit.score for hit in few] == pytest.approx([hit.score for hit in many[:2]])


async def test_explain_shows_the_signs_that_the_score_was_made_from(world: Any) -> None:
    await _told(world)
    question = "What is the puppy of Alice called?"
    plain = (await world.recaller.recall(world.scope, question))[0]
    full = (await world.recaller.recall(world.scope, question, explain=True))[0]
    assert set(SIGNS) <= set(full.parts)
    assert not set(SIGNS) & set(plain.parts)
    made = chances_of(np.array([[full.parts[name] for name in SIGNS]]), [None])
    assert full.score == pytest.approx(float(made[0]), abs=2e-3)
    world.recaller.reranker = ReversingReranker()
    assert set(READ_SIGNS) <= set((await world.recaller.recall(world.scope, question, explain=True))[0].parts)


async def test_what_replaces_a_memory_is_as_likely_right_as_what_it_replaces(world: Any) -> None:
    await _told(world)
    before = await world.recaller.recall(world.scope, "What is the puppy of Alice called?")
    old = await world.add("Alice's puppy is called Biscuit", kind="fact", state="superseded")
    new = await world.add("It answers to Waffles now", kind="fact")
    await world.link(new, "supersedes", old)
    after = await world.recaller.recall(world.scope, "What is the puppy of Alice called?", kinds=("fact",))
    assert [hit.memory.content for hit in after] == [new.content, old.content]
    assert after[0].score > before[0].score / 2


def test_there_is_a_weight_for_each_sign() -> None:
    assert len(chance_weights.UNREAD) == len(SIGNS) + 1
    assert len(chance_weights.READ) == len(READ_SIGNS) + 1
