"""Hypothesis strategies for the state machine: writes, filters, and the existing records that writes are aimed at.

The pools are small, so that writes collide, miss and contradict each other all the time. Eight ids, two keys, two
operation ids, two users and three agents are enough for every rule to be broken by chance. Needs hypothesis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from longmind.store.base import AddLink, Delete, Put, RemoveLink, Space, Touch, Update, Write
from longmind.store.inmem import InmemBackend
from longmind.testing import FakeClock, memory
from longmind.types import STATES, Filter, Link, Scope

if TYPE_CHECKING:
    from longmind.store.base import Vector

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
AGENT = Scope(tenant="acme", agent="assistant", all_users=True)
NOBODY = Scope(tenant="acme", agent="assistant")
ALICE = Scope(tenant="acme", agent="assistant", user="alice")
BOB = Scope(tenant="acme", agent="assistant", user="bob")
OTHER = Scope(tenant="acme", agent="o'ther %", all_users=True)
STRANGER = Scope(tenant="globex", agent="assistant", all_users=True)
SCOPES = (AGENT, NOBODY, ALICE, BOB, OTHER)
SCOPE = st.sampled_from((AGENT, AGENT, NOBODY, ALICE, ALICE, BOB, OTHER))
CLOCK = FakeClock(seed=1)
IDS = tuple(CLOCK.new_id() for _ in range(8))
SPACES = (Space("small", 4), Space("large", 6), Space("third", 3))
ANY = Filter(states=None)


def pick(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


IDENTITY = st.sampled_from(IDS)
CONTENTS = pick("harbour", "mountain walk", 'O\'Neil said "100%"; --', "\u202eשלום 😀", "", "harbour walk")
MOMENTS = pick(NOON, NOON + timedelta(microseconds=1), NOON - timedelta(days=400), datetime(1, 1, 1, tzinfo=UTC),
               datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))  # fmt: skip
JSONS = pick({}, {"a": 1}, {"a": True}, {"a": 1.5, 'it\'s "x"': "100%"}, {"a": None, "b": [1, {"c": "d"}]}, {"a": "1"})
KEYS = pick(None, None, "k1", "k2")
SOURCES = pick(
    {"role": "user"}, {"role": "tool", "name": "o'clock"}, {"role": "document", "uri": "file:x", "span": (1, 2)}
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "content": CONTENTS,
    "session": pick(None, "s1", "s'2"),
    "kind": pick("message", "fact"),
    "key": KEYS,
    "body": JSONS,
    "importance": pick(0.0, 0.1, 0.5, 1.0),
    "valence": pick(-1.0, 0.0, 1 / 3),
    "tags": pick((), ("a",), ("b", "a"), ('x,"y', "%")),
    "metadata": JSONS,
    "source": SOURCES,
    "trust": pick(0.0, 0.8),
    "occurred_at": MOMENTS,
    "valid_from": st.none() | MOMENTS,
    "expires_at": st.none() | MOMENTS,
    "state": st.sampled_from(STATES),
}
INVALID = pick(
    {"importance": 2.0}, {"version": 9}, {"nonsense": 1}, {"content": "a\x00b"}, {"state": "gone"}, {"user": "bob"}
)
VERSIONS = pick(None, None, None, None, 1, 2, 3)
RELATIONS = pick("next", "é", "B")
FITS = pick("right", "right", "right", "right", "none", "none", "wrong")
"""Whether a write brings a vector, and whether that fits the space which is active when it is made."""
OPERATIONS = pick(*[("free", False)] * 6, ("op1", True), ("op2", True), ("op1", False))
WHY = pick(("user", ""), ("o'neil", "because; --"))


@dataclass(frozen=True)
class DrawnWrite:
    """A write as it was drawn. Unless it is wild, it is aimed at existing records before it is applied."""

    write: Write
    wild: bool = False
    fit: str = "none"


WILD = pick(False, False, False, False, True)


@st.composite
def puts(draw: st.DrawFn, scope: Scope) -> DrawnWrite:
    """A memory that mostly belongs to the scope, and sometimes to somebody else."""
    owner = draw(pick(*[scope] * 6, AGENT, ALICE, BOB, STRANGER))
    fields = draw(st.fixed_dictionaries({}, optional=FIELDS | {"version": pick(1, 4)}))
    values = {"occurred_at": NOON, "recorded_at": draw(MOMENTS)} | fields
    new = memory(scope=owner, id=draw(IDENTITY), **values)
    return DrawnWrite(Put(new, existing=draw(pick("return", "return", "fail"))), draw(WILD), draw(FITS))


@st.composite
def updates(draw: st.DrawFn) -> DrawnWrite:
    changes = draw(st.fixed_dictionaries({}, optional=FIELDS))
    if draw(st.integers(0, 9)) == 9:
        changes |= draw(INVALID)
    return DrawnWrite(Update(draw(IDENTITY), changes, draw(VERSIONS)), draw(WILD), draw(FITS))


@st.composite
def deletes(draw: st.DrawFn) -> DrawnWrite:
    return DrawnWrite(Delete(draw(IDENTITY), draw(VERSIONS), erase=draw(st.booleans())), draw(WILD))


@st.composite
def edges(draw: st.DrawFn) -> DrawnWrite:
    """A link, or once in a while its removal."""
    source, relation, target = draw(IDENTITY), draw(RELATIONS), draw(IDENTITY)
    if draw(st.integers(0, 3)) == 3:
        return DrawnWrite(RemoveLink(source, relation, target), draw(WILD))
    link = Link(
        source=source,
        relation=relation,
        target=target,
        weight=draw(pick(1.0, 0.5, 0.0)),
        metadata=draw(JSONS),
        valid_to=draw(st.none() | MOMENTS),
    )
    return DrawnWrite(AddLink(link), draw(WILD))


@st.composite
def touches(draw: st.DrawFn) -> DrawnWrite:
    ids = draw(st.lists(IDENTITY, min_size=1, max_size=3))
    return DrawnWrite(Touch(tuple(ids), draw(MOMENTS), draw(pick(0.0, 0.5))), draw(WILD))


@st.composite
def mixtures(draw: st.DrawFn, scope: Scope) -> list[DrawnWrite]:
    """Writes of one batch."""
    write = st.one_of(puts(scope), updates(), deletes(), edges(), touches())
    return [draw(write) for _ in range(draw(pick(2, 2, 3, 4)))]


def in_scope(writes: Callable[[Scope], st.SearchStrategy[Any]]) -> st.SearchStrategy[tuple[Scope, Any]]:
    return SCOPE.flatmap(lambda scope: st.tuples(st.just(scope), writes(scope)))


FILTERS = st.builds(
    Filter,
    ids=st.none() | st.lists(IDENTITY, max_size=3).map(tuple),
    kinds=st.none() | pick((), ("fact",), ("fact", "message")),
    states=st.none() | st.lists(st.sampled_from(STATES), max_size=4).map(tuple),
    keys=st.none() | pick(("k1",), ("k1", "k2")),
    users=st.none() | pick(("alice",), ("alice", "bob")),
    tags_any=st.none() | pick((), ("a",), ("%", "b")),
    tags_all=st.none() | pick((), ("a", "b"), ("a",)),
    speakers=st.none() | pick(("o'clock",)),
    since=st.none() | MOMENTS,
    recorded_until=st.none() | MOMENTS,
    valid_at=st.none() | MOMENTS,
    expired=st.none() | st.booleans(),
    expired_at=st.none() | MOMENTS,
    min_importance=st.none() | pick(0.1, 0.5),
    metadata=st.none() | pick({"a": 1}, {"a": True}, {"a": "1"}, {"a": 1.5}, {'it\'s "x"': "100%"}, {}),
)


@dataclass(frozen=True)
class Targets:
    """The records of a scope at which drawn writes are aimed, so that most of them are not refused."""

    seen: list[str]
    free: list[str]
    links: list[Link]

    @classmethod
    async def at(cls, model: InmemBackend, scope: Scope) -> Targets:
        agent = scope.of_all_users()
        taken = await model.matching(agent, ANY)
        seen = sorted(await model.matching(scope, ANY))
        links = await model.links(scope, seen, relation=None, direction="out", limit=100)
        return cls(seen or [IDS[0]], [id for id in IDS if id not in taken] or [IDS[0]], links)

    def aim(self, write: Write) -> Write:
        match write:
            case Put():
                return replace(write, memory=write.memory.model_copy(update={"id": _nth(self.free, write.memory.id)}))
            case Update() | Delete():
                return replace(write, id=_nth(self.seen, write.id))
            case AddLink(link=link):
                ends = {"source": _nth(self.seen, link.source), "target": _nth(self.seen, link.target)}
                return AddLink(link.model_copy(update=ends))
            case RemoveLink() if self.links:
                link = _nth(self.links, write.source)
                return RemoveLink(link.source, link.relation, link.target)
            case Touch():
                return replace(write, ids=tuple(_nth(self.seen, id) for id in write.ids))
        return write


def _nth(values: list[Any], id: str) -> Any:
    return values[IDS.index(id) % len(values)]


def vector(text: str, space: Space) -> Vector:
    """Return a unit vector that depends on the text."""
    numbers = np.random.default_rng(len(text)).normal(size=space.dimensions).astype(np.float32)
    return numbers / np.linalg.norm(numbers)


def with_vector(write: Write, fit: str, space: Space | None) -> Write:
    """Return the write with a vector that fits the active space, one that does not, or none."""
    if fit == "none" or not isinstance(write, Put | Update) or (fit == "right" and space is None):
        return write
    text = write.memory.content if isinstance(write, Put) else repr(write.changes)
    right = space or SPACES[0]
    return replace(write, vector=vector(text, right if fit == "right" else Space("", right.dimensions + 1)))
