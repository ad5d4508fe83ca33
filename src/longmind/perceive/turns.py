"""Recognise turns of a conversation that were delivered before, so that each turn is stored once and none is left out.

In a conversation the same words said again are another turn. Two deliveries are one when they say so: by the id of a
message, or by place and time: a list repeats the turns that the conversation ends with, or the same is said at the same
stated time with nothing after it. ADR 0020 has the rule and its limits.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from longmind.perceive.intake import BuiltMemories, source_key
from longmind.store.base import MAX_PAGE
from longmind.types import Filter, Memory, Scope

if TYPE_CHECKING:
    from longmind.store.store import Store

_ID_NAMES = ("id", "message_id")
"""Names under which the metadata of a message has its id."""
_SPARE = 20
"""Turns read beyond the length of a delivery, since not every stored turn has to be in it."""
_SHARE, _FEWEST = 0.8, 3
"""The share and the number of equal turns by which a history with turns missing or changed is recognised."""
_MOST_COMPARED = 2_000
"""Turns up to which a history with differences is compared."""
_COMPARED_INLINE = 200
"""Turns that are compared on the event loop; more are in a thread."""

Words = tuple[str, str]
"""Who said it, and what was said."""


@dataclass(slots=True)
class Turn:
    """A turn that was delivered, as a memory with its final key, and the stored memory if it was delivered before."""

    memory: Memory
    known: Memory | None = None


async def recognise_turns(
    store: Store, scope: Scope, built: BuiltMemories, *, listed: bool, metadata: Mapping[str, Any] | None = None
) -> list[Turn]:
    """Return the memories of a delivery with their final keys, and for each the memory it was stored as before.

    ``listed`` is whether they came as a list, which may repeat earlier turns; a message that comes alone is a new turn
    unless its id or its time says otherwise. ``metadata`` is what the call states for all: an id in it names no turn.
    """
    turns = [Turn(memory) for memory in built.memories]
    unplaced: list[Turn] = []
    by_time: dict[datetime, list[Turn]] = defaultdict(list)
    beginning = listed
    for turn in turns:
        memory = turn.memory
        beginning = beginning and memory.source.role == "system"
        if memory.session is None or memory.kind != "message" or beginning:
            continue  # one memory for each text: also the instructions that a list begins with
        if (id := _message_id(memory, metadata if listed else None)) is not None:
            _rekey(turn, "id", id)
        elif memory.id in built.timed:
            by_time[memory.occurred_at].append(turn)
        elif listed:
            unplaced.append(turn)
        else:
            _rekey(turn, "turn", memory.id)
    if by_time:
        at_times = await _turns_at_times(store, scope, by_time)
        for moment, said in by_time.items():
            await _place(said, at_times.get(moment, []))
    if unplaced:
        elsewhere = {turn.known.id for turn in turns if turn.known is not None}
        latest = await _latest_turns(store, scope, unplaced, len(turns) + _SPARE)
        stored = [m for m in latest if m.id not in elsewhere and _message_id(m, None) is None]
        await _place(unplaced, stored, compare=len(turns) > 1 or len(latest) == 1)
    return turns


def _message_id(memory: Memory, stated_for_all: Mapping[str, Any] | None) -> str | None:
    for name in _ID_NAMES:
        id = memory.metadata.get(name)
        if isinstance(id, (str, int)) and not isinstance(id, bool) and id != (stated_for_all or {}).get(name):
            return f"{name}={id!r}"
    return None


def _rekey(turn: Turn, *place: str) -> None:
    """Make the place of a turn a part of its key, beside its words."""
    key = (turn.memory.key or "").split(":")
    turn.memory = turn.memory.model_copy(update={"key": ":".join((*key[:2], _digest(*place)))})


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


# -- what the conversation holds ---------------------------------------------------------------------------------------


async def _latest_turns(store: Store, scope: Scope, turns: Sequence[Turn], wanted: int) -> list[Memory]:
    """Return the last turns of the conversation, the oldest first."""
    stored, cursor = list[Memory](), None
    where = _of_session(scope, turns[0].memory)
    while len(stored) < wanted:
        limit = min(wanted - len(stored), MAX_PAGE)
        page = await store.scan(scope, where, descending=True, limit=limit, cursor=cursor)
        stored += [memory for memory in page.items if memory.user == scope.user]
        cursor = page.cursor
        if cursor is None:
            break
    return stored[::-1]


async def _turns_at_times(
    store: Store, scope: Scope, by_time: Mapping[datetime, Sequence[Turn]]
) -> dict[datetime, list[Memory]]:
    """Return the turns of the conversation that were said at these times, in the order in which they were stored."""
    first = next(iter(by_time.values()))[0].memory
    until = max(by_time) + timedelta(microseconds=1)
    where = _of_session(scope, first).model_copy(update={"since": min(by_time), "until": until})
    stored: dict[datetime, list[Memory]] = defaultdict(list)
    async for memory in store.scan_all(scope, where):
        if memory.occurred_at in by_time and memory.user == scope.user:
            stored[memory.occurred_at].append(memory)
    return stored


def _of_session(scope: Scope, memory: Memory) -> Filter:
    assert memory.session is not None
    users = None if scope.user is None else (scope.user,)
    return Filter(kinds=("message",), sessions=(memory.session,), users=users, states=None, expired=None)


# -- the place in the conversation -------------------------------------------------------------------------------------


async def _place(turns: Sequence[Turn], stored: Sequence[Memory], *, compare: bool = True) -> None:
    """Find the turns that are stored; the others follow the last one.

    Without ``compare`` they are new: a list of one turn is no history, unless it is all that was said so far.
    """
    stored = [memory for memory in stored if memory.key is not None]
    said, there = [_words(turn.memory) for turn in turns], [_words(memory) for memory in stored if compare]
    small = len(said) <= _COMPARED_INLINE
    found = delivered_before(said, there) if small else await asyncio.to_thread(delivered_before, said, there)
    before = stored[-1].id if stored else ""
    for turn, number in zip(turns, found, strict=True):
        if number is not None:
            turn.known = stored[number]
            turn.memory = turn.memory.model_copy(update={"key": stored[number].key})
        else:
            # The same words after the same turn have the same key, so that two deliveries at once are one.
            _rekey(turn, "after", before)
            before = turn.memory.key or ""


def _words(memory: Memory) -> Words:
    return source_key(memory.source), memory.content


def delivered_before(delivered: Sequence[Words], stored: Sequence[Words]) -> list[int | None]:
    """Return for each delivered turn the index of the stored turn that it is, or None for a new one.

    A delivery may begin with the turns that the conversation ends with, word for word. It may also be a history in
    which few turns are missing or changed, on either side.
    """
    overlap = _overlap(delivered, stored)
    if overlap:
        start = len(stored) - overlap
        return [start + n if n < overlap else None for n in range(len(delivered))]
    found: list[int | None] = [None] * len(delivered)
    if len(delivered) > _MOST_COMPARED or len(stored) > _MOST_COMPARED or min(len(delivered), len(stored)) < _FEWEST:
        return found
    blocks = SequenceMatcher(None, stored, delivered, autojunk=False).get_matching_blocks()
    pairs = [(block.a + n, block.b + n) for block in blocks for n in range(block.size)]
    if len(pairs) < _FEWEST:
        return found
    compared = max(len(stored) - pairs[0][0], pairs[-1][1] + 1)
    if len(pairs) < _SHARE * compared:
        return found
    for index, number in pairs:
        found[number] = index
    _match_moved(delivered[: pairs[-1][1]], stored, found)
    return found


def _match_moved(delivered: Sequence[Words], stored: Sequence[Words], found: list[int | None]) -> None:
    """In a history that was sent again, find turns that are stored at another place, such as one stored later."""
    taken = set(found)
    unused: dict[Words, list[int]] = defaultdict(list)
    for index in range(len(stored) - 1, -1, -1):
        if index not in taken:
            unused[stored[index]].append(index)
    for number, words in enumerate(delivered):
        if found[number] is None and unused[words]:
            found[number] = unused[words].pop()


def _overlap(delivered: Sequence[Words], stored: Sequence[Words]) -> int:
    """Return the largest number of turns that end ``stored`` and begin ``delivered`` (Knuth, Morris and Pratt)."""
    borders = [0] * len(delivered)
    length = 0
    for n in range(1, len(delivered)):
        while length and delivered[n] != delivered[length]:
            length = borders[length - 1]
        length += delivered[n] == delivered[length]
        borders[n] = length
    matched = 0
    for words in stored:
        while matched and (matched == len(delivered) or words != delivered[matched]):
            matched = borders[matched - 1]
        matched += bool(delivered) and words == delivered[matched]
    return matched
