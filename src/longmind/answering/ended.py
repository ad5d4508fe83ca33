"""Words of memories that state what holds no more: they answer no question about now."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from longmind.answering.candidates import Candidate
from longmind.store.store import Store
from longmind.systems.semantic import Fact
from longmind.types import Memory, Scope

Places = Mapping[str, Sequence[tuple[int, int]]]
"""Spans of characters, by the id of the memory."""


async def ended_places(store: Store, scope: Scope, memories: Mapping[str, Memory], now: datetime) -> Places:
    """Return where memories state the values of facts that have ended, and of none that holds.

    "I weigh 92 kg and live in Porto" is no evidence for a weight any more once another is known, but for Porto it is.
    """
    links = await store.all_links(scope, sorted(memories), relation="derived_from", direction="in")
    if not links:
        return {}
    records = await store.get_all(scope, list(dict.fromkeys(link.source for link in links)))
    over: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    holding: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for fact in (Fact.of(record) for record in records if record.kind == "fact"):
        if fact.retracted:
            continue
        places = over if fact.valid_to is not None and fact.valid_to <= now else holding
        for evidence in fact.evidence:
            if evidence.memory in memories and evidence.span is not None:
                places[evidence.memory].append(_value(memories[evidence.memory].content, evidence.span, fact))
    return {
        id: [place for place in places if not any(_touch(place, other) for other in holding[id])]
        for id, places in over.items()
    }


def states_ended(candidate: Candidate, ended: Places) -> bool:
    """Whether words that may answer a question stand where a memory states what has ended."""
    places = ended.get(candidate.source.memory.id, ())
    return any(_touch((candidate.start, candidate.end), place) for place in places)


def _touch(place: tuple[int, int], other: tuple[int, int]) -> bool:
    return place[0] < other[1] and other[0] < place[1]


def _value(text: str, span: tuple[int, int], fact: Fact) -> tuple[int, int]:
    """Return where the words of a fact state its value; all of them, where they do so in other words."""
    match = re.compile(re.escape(str(fact.object)), re.IGNORECASE).search(text, *span)
    return span if match is None else match.span()
