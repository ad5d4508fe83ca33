"""What was done in episodes that are told in free text: statements of several episodes that mean the same.

Statements are compared by their vectors, without what all of them have in common, and by their words. A statement and
its negation are never the same. Without an embedder only words count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from longmind.systems.episodic.clusters import join_groups
from longmind.systems.episodic.models import Episode, Event
from longmind.text.analysis import STOP_WORDS, stem, words
from longmind.text.sentences import sentences
from longmind.text.similarity import dice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from longmind.store.store import Embed

MAX_STATEMENTS = 30
"""The most statements of one episode that are compared."""
_MAX_COMPARED = 600
_MAX_CHARS = 200
_COMMON = 0.85
"""A word in more than this share of the episodes is their topic, and says nothing about what was done in one."""
_ALIKE_BY_VECTOR = 0.5
_ALIKE_BY_WORDS = 0.45
_NEGATED = re.compile(
    r"\b(?:not|no|never|without|cannot|nobody|nothing|forgot(?:ten)?|skipp(?:ed|ing)|omitt(?:ed|ing)|neglected|lacked)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)


_MAX_ARGUMENT = 40
_ANSWER = "answer"
"""The type of the event in which an agent says how its run ended: it tells the outcome, not what led to it."""


def described_call(event: Event) -> str | None:
    """Return the call of a tool that an event records, with its arguments and without its result; None if it is none.

    Runs of an agent record their calls as ``tool`` and ``args``.
    """
    tool, args = event.data.get("tool"), event.data.get("args")
    if not isinstance(tool, str) or not isinstance(args, Mapping):
        return None
    values = ", ".join(f"{name}={str(value)[:_MAX_ARGUMENT]}" for name, value in sorted(args.items()))
    return f"{tool}({values})"


class Statement(NamedTuple):
    """A statement of an episode: the episode's number, its words, their stems, and whether it is negated."""

    episode: int
    text: str
    stems: frozenset[str]
    negated: bool


async def shared_deeds(embed: Embed, accounts: Sequence[tuple[Episode, Sequence[Event]]]) -> list[frozenset[str]]:
    """Return for each episode what it did that another did too, each deed named by its most typical wording."""
    deeds: list[set[str]] = [set() for _ in accounts]
    statements = _without_topic(
        [statement for n, account in enumerate(accounts) for statement in _statements(n, *account)], len(accounts)
    )[:_MAX_COMPARED]
    if len(statements) > 1:
        alike = await _similarities(embed, statements)
        for group in join_groups(alike, 1.0):
            holders = {statements[n].episode for n in group}
            if len(holders) > 1:
                central = max(group, key=lambda n: (round(float(alike[n, group].sum()), 6), -len(statements[n].text)))
                for episode in holders:
                    deeds[episode].add(statements[central].text)
    return [frozenset(each) for each in deeds]


def _statements(number: int, episode: Episode, events: Sequence[Event]) -> list[Statement]:
    """Return the statements of an episode's description and of its events, each wording once.

    Calls of tools are compared as such, and their results and the final answer are not what was done.
    """
    by_wording: dict[str, Statement] = {}
    texts = [event.what for event in events if event.type != _ANSWER and described_call(event) is None]
    for text in (episode.description, *texts):
        for sentence in sentences(text):
            wording = " ".join(sentence.text.split())
            content = frozenset(stem(word) for word in words(wording) if word not in STOP_WORDS)
            if content and not sentence.asks and len(wording) <= _MAX_CHARS:
                by_wording.setdefault(wording, Statement(number, wording, content, bool(_NEGATED.search(wording))))
    return list(by_wording.values())[:MAX_STATEMENTS]


def _without_topic(statements: Sequence[Statement], episodes: int) -> list[Statement]:
    """Return the statements without the words that most episodes use; one that has no other words is left out."""
    spread = Counter(term for _, term in {(s.episode, term) for s in statements for term in s.stems})
    topic = {term for term, n in spread.items() if n > _COMMON * episodes}
    return [s._replace(stems=s.stems - topic) for s in statements if s.stems - topic]


async def _similarities(embed: Embed, statements: Sequence[Statement]) -> NDArray[np.float64]:
    """Return how alike statements are; from 1 they count as the same."""
    size = len(statements)
    alike = np.zeros((size, size))
    for a, first in enumerate(statements):
        for b in range(a + 1, size):
            alike[a, b] = alike[b, a] = dice(first.stems, statements[b].stems) / _ALIKE_BY_WORDS
    vectors, _ = await embed([statement.text for statement in statements])
    if all(vector is not None for vector in vectors):
        rows = np.stack([np.asarray(vector, np.float64) for vector in vectors])
        rows -= rows.mean(axis=0)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        alike = np.maximum(alike, rows @ rows.T / _ALIKE_BY_VECTOR)
    negated = np.array([statement.negated for statement in statements])
    alike[negated[:, None] != negated[None, :]] = 0.0
    return alike
