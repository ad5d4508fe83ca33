"""Clusters of similar episodes, each with a summary.

Episodes are compared by their vectors if there is an embedder, else by their words (cosine of tf-idf weights), and by
the words of their titles, so that what succeeded and what failed at the same task can be compared.
Average-linkage clustering joins the two most similar groups until none is similar enough. It is deterministic.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from longmind.errors import InvalidInput
from longmind.systems.episodic import reading
from longmind.systems.episodic.models import Cluster, Episode, EpisodeSummariser, Event, Outcome
from longmind.systems.episodic.narrative import WORDS, narrate, summarise_text
from longmind.systems.scoped_store import ScopedStore
from longmind.text.analysis import STOP_WORDS, stem, words
from longmind.text.quoting import quote

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

MOST = 1_000
ALIKE_BY_VECTOR = 0.55
ALIKE_BY_WORDS = 0.15
ALIKE_BY_TITLE = 0.5
"""The average similarity from which episodes are joined: by vectors, by words, and by the words of their titles."""
_EVENTS = 20
_TERMS = 5
_TITLES = 3


async def cluster_episodes(
    scoped: ScopedStore,
    episodes: Sequence[Episode],
    *,
    alike: float | None,
    smallest: int,
    summariser: EpisodeSummariser | None,
) -> list[Cluster]:
    """Return these episodes in clusters, the largest first."""
    if alike is not None and not 0 < alike <= 1:
        raise InvalidInput(f"How alike episodes must be runs from 0 to 1, and {alike} does not.")
    ordered = sorted(episodes, key=lambda e: (e.start, e.id))
    if not ordered:
        return []
    events = [[event async for event in reading.iterate_events(scoped, e.id, limit=_EVENTS)] for e in ordered]
    texts = [_text(episode, own) for episode, own in zip(ordered, events, strict=True)]
    counts = [_counts(text) for text in texts]
    said = [_counts(_said(episode, own)) for episode, own in zip(ordered, events, strict=True)]
    similar, threshold = await _similarity(scoped, texts, counts)
    similar = np.maximum(similar, _title_similarities([e.title for e in ordered]) * (threshold / ALIKE_BY_TITLE))
    groups = [g for g in join_groups(similar, threshold if alike is None else alike) if len(g) >= smallest]
    clusters = [await _cluster(group, similar, ordered, events, said, summariser) for group in groups]
    return sorted(clusters, key=lambda c: (-len(c.episodes), min((e.start, e.id) for e in c.episodes)))


def _title_similarities(titles: Sequence[str]) -> Matrix:
    """Return how alike titles are by their words; two titles that share fewer than two words are not alike.

    A title says what was to be done, the rest how it went: episodes of one task belong together however they went.
    """
    stems = [Counter(stem(word) for word in _counts(title)) for title in titles]
    table = word_similarities(stems)
    names = [frozenset(count) for count in stems]
    for a, first in enumerate(names):
        for b, second in enumerate(names):
            if len(first & second) < 2:
                table[a, b] = 0.0
    return table


async def _similarity(
    scoped: ScopedStore, texts: Sequence[str], counts: Sequence[Counter[str]]
) -> tuple[Matrix, float]:
    vectors, _ = await scoped.embed(texts)
    if all(vector is not None for vector in vectors):
        rows = np.stack([np.asarray(vector, np.float64) for vector in vectors])
        return np.clip(rows @ rows.T, 0.0, 1.0), ALIKE_BY_VECTOR
    return word_similarities([Counter(map(stem, c.elements())) for c in counts]), ALIKE_BY_WORDS


def word_similarities(counts: Sequence[Counter[str]]) -> Matrix:
    """Return the cosine similarities of texts by their words, with rare words weighing more."""
    names = sorted({term for count in counts for term in count})
    place = {term: n for n, term in enumerate(names)}
    table = np.zeros((len(counts), max(len(names), 1)))
    for row, count in enumerate(counts):
        for term, n in count.items():
            table[row, place[term]] = 1 + math.log(n)
    table *= np.log1p(len(counts) / np.maximum((table > 0).sum(axis=0), 1))
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    table /= np.where(lengths == 0, 1, lengths)
    return np.clip(table @ table.T, 0.0, 1.0)


def join_groups(similar: Matrix, threshold: float) -> list[list[int]]:
    """Return groups of row numbers, joined by average linkage while the similarity reaches the threshold."""
    near = similar.astype(np.float64).copy()
    np.fill_diagonal(near, -np.inf)
    groups: dict[int, list[int]] = {n: [n] for n in range(len(near))}
    while len(groups) > 1:
        a, b = sorted(divmod(int(np.argmax(near)), len(near)))
        if near[a, b] < threshold:
            break
        of_a, of_b = len(groups[a]), len(groups[b])
        near[a] = (of_a * near[a] + of_b * near[b]) / (of_a + of_b)
        near[:, a] = near[a]
        near[a, a] = -np.inf
        near[b], near[:, b] = -np.inf, -np.inf
        groups[a] += groups.pop(b)
    return [sorted(group) for group in groups.values()]


async def _cluster(
    group: Sequence[int],
    similar: Matrix,
    episodes: Sequence[Episode],
    events: Sequence[Sequence[Event]],
    said: Sequence[Counter[str]],
    summariser: EpisodeSummariser | None,
) -> Cluster:
    """Return the cluster of a group; ``said`` are the words of each episode."""
    inner = similar[np.ix_(group, group)]
    centrality = inner.mean(axis=1)
    order = sorted(range(len(group)), key=lambda n: (-round(float(centrality[n]), 9), n))
    members = [episodes[group[n]] for n in order]
    pairs = len(group) * (len(group) - 1)
    cohesion = (float(inner.sum()) - float(np.trace(inner))) / pairs if pairs else 1.0
    terms = _common_terms([said[n] for n in group], said)
    outcomes: dict[Outcome, int] = dict(sorted(Counter(e.outcome for e in members).items()))
    summary = _summary(members, [events[n] for n in group], terms, outcomes)
    if summariser is not None:
        accounts = "\n\n".join(narrate(episodes[n], events[n], "medium") for n in group[:20])
        summary = await summarise_text(summariser, accounts, WORDS["medium"])
    return Cluster(
        label=members[0].title,
        summary=summary,
        episodes=tuple(members),
        terms=tuple(terms),
        outcomes=outcomes,
        cohesion=min(max(cohesion, 0.0), 1.0),
    )


def _said(episode: Episode, events: Sequence[Event]) -> str:
    """Return the texts of an episode without the types of its events, which are names for programs."""
    return "\n".join((episode.title, episode.description, episode.note, *(event.what[:200] for event in events)))


def _text(episode: Episode, events: Sequence[Event]) -> str:
    parts = [episode.title, episode.description, episode.note, " ".join(episode.tags)]
    parts += [f"{event.type} {event.what[:200]}" for event in events]
    return "\n".join(part for part in parts if part)


def _counts(text: str) -> Counter[str]:
    return Counter(word for word in words(text) if word not in STOP_WORDS and not word.isdigit())


def _common_terms(own: Sequence[Counter[str]], everyone: Sequence[Counter[str]]) -> list[str]:
    """Return the words that are in most of these texts and in few of the others, one for each stem."""
    forms: dict[str, Counter[str]] = {}
    for count in own:
        for word, n in count.items():
            forms.setdefault(stem(word), Counter())[word] += n
    frequency = Counter(s for count in own for s in {stem(word) for word in count})
    spread = Counter(s for count in everyone for s in {stem(word) for word in count})

    def weight(term: str) -> float:
        return frequency[term] / len(own) * math.log1p(len(everyone) / spread[term])

    shared = [term for term in frequency if frequency[term] * 2 > len(own)]
    best = sorted(shared, key=lambda term: (-weight(term), term))[:_TERMS]
    return [min(forms[term], key=lambda word: (-forms[term][word], word)) for term in best]


def _summary(
    members: Sequence[Episode],
    events: Sequence[Sequence[Event]],
    terms: Sequence[str],
    outcomes: dict[Outcome, int],
) -> str:
    first, last = min(e.start for e in members), max(e.start for e in members)
    days = f"on {first:%Y-%m-%d}" if first.date() == last.date() else f"from {first:%Y-%m-%d} to {last:%Y-%m-%d}"
    came_out = ", ".join(f"{n} {outcome}" for outcome, n in outcomes.items())
    sentences = [f"{len(members)} episode{'' if len(members) == 1 else 's'} {days}: {came_out}."]
    if terms:
        sentences.append(f"In common: {', '.join(terms)}.")
    seen = Counter(kind for own in events for kind in {event.type for event in own})
    usual = sorted((kind for kind, n in seen.items() if n * 2 > len(events)), key=lambda kind: (-seen[kind], kind))
    if usual:
        sentences.append(f"Usual events: {', '.join(usual[:_TERMS])}.")
    sentences.append(f"For example: {', '.join(quote(e.title, 80) for e in members[:_TITLES])}.")
    return " ".join(sentences)
