"""Clusters of similar episodes: by words on every backend, by vectors with an embedder."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from longmind.errors import InvalidInput
from longmind.systems.episodic import EpisodicMemory
from longmind.systems.episodic.clusters import join_groups, word_similarities

STORIES = {
    "travel": ["Book a flight to Lisbon", "Book a flight to Porto", "Change the flight to Lisbon"],
    "kitchen": ["Bake sourdough bread in the oven", "Bake rye bread in the oven"],
    "tax": ["File the tax return"],
}


async def tell(episodic: EpisodicMemory) -> dict[str, str]:
    """The stories, mixed; and for each episode's id its subject."""
    subjects: dict[str, str] = {}
    for turn in range(3):
        for subject, titles in STORIES.items():
            if turn < len(titles):
                async with episodic.episode(titles[turn]) as running:
                    await running.record(f"It was about {subject}", type=subject)
                    if turn == 1:
                        running.conclude("failed")
                subjects[running.id] = subject
    return subjects


@pytest.mark.parametrize("embedder", ["none", "static"])
async def test_similar_episodes_come_together_with_a_summary(scoped_stores: Any, embedder: str) -> None:
    episodic = EpisodicMemory(await scoped_stores.open(embedder=embedder))
    subjects = await tell(episodic)
    found = await episodic.clusters()
    assert [{subjects[e.id] for e in cluster.episodes} for cluster in found] == [{"travel"}, {"kitchen"}]
    travel, kitchen = found
    assert (len(travel.episodes), len(kitchen.episodes)) == (3, 2)
    assert dict(travel.outcomes) == {"failed": 1, "succeeded": 2}
    assert "flight" in travel.terms
    assert "bread" in kitchen.terms
    assert travel.label in STORIES["travel"]
    for word in ("3 episodes on 2026-01-01", "2 succeeded", "flight", "Usual events: travel"):
        assert word in travel.summary
    assert 0 < travel.cohesion < 1
    assert await episodic.clusters() == found
    alone = await episodic.clusters(smallest=1)
    assert sorted(len(c.episodes) for c in alone) == [1, 2, 3]
    assert [len(c.episodes) for c in await episodic.clusters(alike=1.0, smallest=1)] == [1] * 6


async def test_in_common_are_words_that_were_said_and_no_types_of_events(episodic: EpisodicMemory) -> None:
    for town in ("Lisbon", "Porto", "Faro"):
        async with episodic.episode(f"Book a flight to {town}") as running:
            await running.record("Asked the airline", type="tool_call")
            await running.record("Paid by card", type="observation")
    (cluster,) = await episodic.clusters()
    assert {"flight", "airline"} <= set(cluster.terms)
    assert not {"tool", "call", "observation"} & set(cluster.terms)
    common = cluster.summary.partition("In common: ")[2].partition(".")[0]
    assert common == ", ".join(cluster.terms)
    assert "Usual events: observation, tool_call." in cluster.summary


class Titles:
    """A summariser that tells how many accounts it read."""

    async def summarise(self, text: str, *, words: int) -> str:
        return f"{text.count('began on')} accounts"


async def test_a_summariser_tells_a_cluster_instead(episodic: EpisodicMemory) -> None:
    await tell(episodic)
    found = await episodic.clusters(summariser=Titles())
    assert [cluster.summary for cluster in found] == ["3 accounts", "2 accounts"]


async def test_nothing_makes_no_clusters_and_wrong_questions_are_refused(episodic: EpisodicMemory) -> None:
    assert await episodic.clusters() == ()
    with pytest.raises(InvalidInput):
        await episodic.clusters(alike=0)
    with pytest.raises(InvalidInput):
        await episodic.clusters(most=0)


def test_joining_is_by_the_average_over_all_pairs() -> None:
    similar = np.array([[1, 0.9, 0.5, 0], [0.9, 1, 0.1, 0], [0.5, 0.1, 1, 0], [0, 0, 0, 1]])
    assert join_groups(similar, 0.6) == [[0, 1], [2], [3]]
    assert join_groups(similar, 0.3) == [[0, 1, 2], [3]]
    assert join_groups(similar, 0.31) == [[0, 1], [2], [3]]
    assert join_groups(np.ones((1, 1)), 0.5) == [[0]]


def test_words_that_all_texts_share_count_little() -> None:
    near = word_similarities(
        [Counter({"the": 1, "cat": 1}), Counter({"the": 1, "dog": 1}), Counter({"the": 1, "cat": 2})]
    )
    assert near[0, 2] > 0.9 > 0.5 > near[0, 1]
    assert word_similarities([Counter(), Counter({"a": 1})])[0].tolist() == [0.0, 0.0]
