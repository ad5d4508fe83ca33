"""What a fleet of agents comes to share: world knowledge and how to do things, and nothing about a person.

Eight invented agents are each told 30 statements: what the world is like, how to do something, and what somebody is,
does or has. Each statement about the world, or about how to do something, is told to four of them; four personal ones
are told to all. Then each agent consolidates, as it does by itself, and a newcomer asks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality import Figure
from longmind.memory import Longmind
from longmind.types import Message

FOLDER = Path(__file__).parent / "sharing_data"
LISTS = ("labelled", "labelled_later")
"""The second list was written after the first rules, and they were corrected by it: neither list is held out."""
LABELS = ("personal", "world", "how-to")
AGENTS = 8
_TOLD = {"world": 20, "how-to": 16}
"""Statements of the fleet by what they are about, half of them from each list. Each is told to half of the agents."""
_EVERYBODYS = 4
"""Personal statements that are told to all agents."""
_OWN = 8
"""Personal statements of one agent alone."""
_FOUND_AMONG = 3
_REPLY = Message(role="assistant", content="Noted.")


@dataclass(frozen=True, slots=True)
class Fleet:
    """What each agent is told, and what enough of them are told."""

    told: tuple[tuple[str, ...], ...]
    general: dict[str, tuple[str, ...]]
    personal: frozenset[str]


def statements(name: str) -> dict[str, list[str]]:
    """Return the statements of a list, by what they are about."""
    lists: dict[str, list[str]] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return lists


def fleet() -> Fleet:
    """Return the fleet: the same at every call."""
    lists = [statements(name) for name in LISTS]
    general = {
        label: tuple(text for each in lists for text in _spread(each[label], count // len(lists)))
        for label, count in _TOLD.items()
    }
    personal = [text for each in lists for text in each["personal"]]
    everybodys = personal[:: len(personal) // _EVERYBODYS][:_EVERYBODYS]
    others = [text for text in personal if text not in everybodys]
    told: list[list[str]] = [[] for _ in range(AGENTS)]
    for texts in general.values():
        for number, text in enumerate(texts):
            for step in range(AGENTS // 2):
                told[(number + 2 * step) % AGENTS].append(_as_told(text, step))
    for number, own in enumerate(told):
        own += [*everybodys, *others[number * _OWN : (number + 1) * _OWN]]
    return Fleet(tuple(map(tuple, told)), general, frozenset(personal))


def _spread(texts: Sequence[str], count: int) -> list[str]:
    return [texts[number * len(texts) // count] for number in range(count)]


def _as_told(text: str, step: int) -> str:
    """Return a statement as one of several agents is told it: with other spaces, marks or capitals."""
    return (text, text.rstrip("."), f"  {text.replace(' ', '  ', 1)}", text[0].lower() + text[1:])[step % 4]


async def share(longmind: Longmind, whole: Fleet, progress: Callable[[float], None]) -> None:
    """Tell the agents their statements in conversations with users, and let each consolidate."""
    for number, own in enumerate(whole.told):
        mem = longmind.agent(f"agent-{number}", user=f"user-{number}")
        turns = [message for text in own for message in (Message(content=text), _REPLY)]
        await mem.remember(turns, session="talk")
        await mem.consolidate()
        progress((number + 1) / len(whole.told))


async def figures(longmind: Longmind, whole: Fleet) -> list[Figure]:
    """Return how much of what enough agents were told is shared and found by a newcomer, and what leaked."""
    candidates = await longmind.shared().list(None)
    approved = {_plain(entry.text) for entry in candidates if entry.status == "approved"}
    newcomer, rows = longmind.agent("newcomer"), list[Figure]()
    for label, texts in whole.general.items():
        shared = [text for text in texts if await _is_shared(longmind, text, approved)]
        found = 0
        for text in shared:
            found += any(hit.shared for hit in await newcomer.recall(text, _FOUND_AMONG))
        rows += [
            (f"{label}: told to four agents", len(texts), "statements"),
            (f"{label}: shared", len(shared), "statements"),
            (f"{label}: found by a newcomer", found, "statements"),
        ]
    personal = {_plain(text) for text in whole.personal}
    rows += [
        ("personal: told", sum(_plain(text) in personal for own in whole.told for text in own), "times"),
        ("personal: kept as candidates", sum(_plain(entry.text) in personal for entry in candidates), "statements"),
        ("personal: shared", len(personal & approved), "statements"),
    ]
    return rows


async def _is_shared(longmind: Longmind, text: str, approved: set[str]) -> bool:
    """Return whether a statement is shared, in its words or as the fact that was extracted from it."""
    if _plain(text) in approved:
        return True
    for number in range(AGENTS):
        mem = longmind.agent(f"agent-{number}", all_users=True)
        facts = (await mem.list(kinds=["fact"], limit=200)).items
        said = {m.id: _plain(m.content) for m in (await mem.list(kinds=["message"], limit=200)).items}
        for fact in facts:
            cited = {said.get(evidence["memory"]) for evidence in fact.body.get("evidence", ())}
            if _plain(text) in cited and _plain(fact.content) in approved:
                return True
    return False


def _plain(text: str) -> str:
    return " ".join(text.lower().rstrip(" .").split())
