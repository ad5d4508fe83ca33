"""Whatever is learnt, ended and taken back, in whatever order: semantic memory answers as a plain picture of time does.

The picture has one cell for each day, and after the last one a cell for all time after. It knows nothing of records.
"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from longmind import Longmind
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import Fact, SemanticMemory
from longmind.testing import FakeClock

DAYS = 6
BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
SUBJECTS = ("Alice", "Bob")
VALUES = ("red", "green", "blue")


def day(number: int) -> datetime:
    return BEGIN + timedelta(days=number)


@dataclass(frozen=True)
class Learn:
    subject: str
    many: bool
    value: str
    start: int
    end: int | None


@dataclass(frozen=True)
class Retract:
    which: int


@dataclass(frozen=True)
class End:
    which: int
    at: int


@dataclass
class Picture:
    """What one timeline holds, day by day."""

    cells: list[str | None] = field(default_factory=lambda: [None] * (DAYS + 1))

    def learn(self, value: str, start: int, end: int | None) -> None:
        if end is None:
            later = (n for n in range(start + 1, DAYS + 1) if self.cells[n] and self.cells[n] != self.cells[n - 1])
            end = next(later, DAYS + 1)
        for n in range(start, end):
            self.cells[n] = value

    def clear(self, inside: int, since: int) -> None:
        """Empty the run of equal cells around one of them, from a day on."""
        value, n = self.cells[inside], inside
        while n <= DAYS and self.cells[n] == value:
            if n >= since:
                self.cells[n] = None
            n += 1


@dataclass
class World:
    """All timelines: of a single-valued predicate one for each subject, of the other one for each value too."""

    pictures: dict[tuple[str, ...], Picture] = field(default_factory=dict)

    def of(self, subject: str, many: bool, value: str) -> Picture:
        slot = (subject, "wears", value) if many else (subject, "likes best")
        return self.pictures.setdefault(slot, Picture())

    def told(self, subject: str, many: bool, n: int) -> set[str]:
        values = {self.of(subject, many, value).cells[n] for value in (VALUES if many else VALUES[:1])}
        return {value for value in values if value is not None}

    def copy(self) -> World:
        return World({slot: Picture(list(picture.cells)) for slot, picture in self.pictures.items()})


def learns() -> st.SearchStrategy[Learn]:
    starts = st.integers(0, DAYS - 1)
    return starts.flatmap(
        lambda start: st.builds(
            Learn,
            st.sampled_from(SUBJECTS),
            st.booleans(),
            st.sampled_from(VALUES),
            st.just(start),
            st.none() | st.integers(start + 1, DAYS),
        )
    )


STEPS = st.lists(
    st.one_of(
        learns(),
        learns(),
        st.builds(Retract, st.integers(0, 50)),
        st.builds(End, st.integers(0, 50), st.integers(1, DAYS)),
    ),
    min_size=1,
    max_size=14,
)


def predicate(many: bool) -> str:
    return "wears" if many else "likes best"


async def current(semantic: SemanticMemory) -> list[Fact]:
    """The facts that are part of a timeline, in an order that does not change between runs."""
    found = [f for s in SUBJECTS for many in (False, True) for f in await semantic.history(s, predicate(many))]
    return [f for f in found if not f.retracted and f.valid_from != f.valid_to]


async def step(semantic: SemanticMemory, world: World, what: Learn | Retract | End) -> None:
    if isinstance(what, Learn):
        end = None if what.end is None else day(what.end)
        await semantic.learn(what.subject, predicate(what.many), what.value, valid_from=day(what.start), valid_to=end)
        world.of(what.subject, what.many, what.value).learn(what.value, what.start, what.end)
        return
    facts = await current(semantic)
    if not facts:
        return
    fact = facts[what.which % len(facts)]
    assert fact.valid_from is not None
    first = (fact.valid_from - BEGIN).days
    picture = world.of(fact.subject, fact.predicate == "wears", str(fact.object))
    if isinstance(what, Retract):
        await semantic.retract(fact)
        picture.clear(first, first)
    elif fact.valid_from < day(what.at) and (fact.valid_to is None or day(what.at) < fact.valid_to):
        await semantic.end(fact, day(what.at))
        picture.clear(first, what.at)


async def check(semantic: SemanticMemory, scoped: ScopedStore, world: World) -> None:
    facts = await current(semantic)
    slots: dict[tuple[str, ...], list[Fact]] = {}
    for fact in facts:
        slot = (fact.subject, fact.predicate, *([str(fact.object)] if fact.predicate == "wears" else []))
        slots.setdefault(slot, []).append(fact)
    for slot, timeline in slots.items():
        assert sum(fact.open for fact in timeline) <= 1, f"two open values of {slot}"
        for n in range(DAYS + 1):
            assert sum(fact.holds_at(day(n)) for fact in timeline) <= 1, f"two values of {slot} at once"
        records = await scoped.store.get_all(scoped.scope, [fact.id for fact in timeline])
        keys = [record.key for record in records if record.key is not None]
        assert len(keys) == 1, f"the key of {slot} is held by {len(keys)}"
        held = next(record for record in records if record.key is not None)
        assert held.valid_from == max(fact.valid_from for fact in timeline), "the last one holds the key"
    for subject in SUBJECTS:
        for many in (False, True):
            for n in range(DAYS + 1):
                known = await semantic.know(subject, predicate(many), as_of=day(n))
                assert len(known) == len({f.object for f in known})
                assert {f.object for f in known} == world.told(subject, many, n), (subject, many, n)


async def run(url: str, steps: list[Learn | Retract | End]) -> None:
    clock = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
    async with Longmind.open(url, embedder="none", clock=clock) as longmind:
        mem = longmind.agent("assistant")
        scoped = ScopedStore(
            store=longmind.store, scope=mem.scope, clock=clock, embed=longmind.embedding.embed, search=mem.recall
        )
        semantic, world = SemanticMemory(scoped), World()
        await semantic.declare("wears", many=True)
        snapshots: list[tuple[datetime, World]] = []
        for what in steps:
            await step(semantic, world, what)
            snapshots.append((clock.now(), world.copy()))
            clock.advance(60)
        await check(semantic, scoped, world)
        for moment, then in (snapshots[0], snapshots[len(snapshots) // 2]):
            for subject in SUBJECTS:
                for many in (False, True):
                    for n in range(0, DAYS + 1, 2):
                        known = await semantic.know(subject, predicate(many), as_of=day(n), known_at=moment)
                        assert {f.object for f in known} == then.told(subject, many, n), "as the agent knew"


@settings(max_examples=200, deadline=None)
@given(STEPS)
def test_answers_as_a_picture_of_time_does(steps: list[Learn | Retract | End]) -> None:
    asyncio.run(run("memory:", steps))


@settings(max_examples=12, deadline=None)
@given(STEPS)
def test_answers_as_a_picture_of_time_does_on_disk(steps: list[Learn | Retract | End]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(str(Path(folder) / "memory.db"), steps))
