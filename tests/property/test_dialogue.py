"""The dialogue tiers under random use: the window never over its capacity, no page lost, none in two segments, and no
segment hotter than it was unless somebody visited it or a page joined.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.property.conftest import Host, few

from longmind.systems.dialogue import DialogueMemory, DialoguePage, DialogueSegment, DialogueSettings
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock
from longmind.types import Filter

TEXTS = st.sampled_from(
    [
        "tomatoes compost greenhouse",
        "compost for the tomatoes",
        "trains to Vienna",
        "the Vienna express train",
        "a Bach sonata",
        "and that one?",
        "ok",
        "温室のトマト",
        "!!!",
    ]
)
SESSIONS = st.sampled_from([None, "a", "b"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), TEXTS, SESSIONS),
        st.tuples(st.just("add"), TEXTS, SESSIONS),
        st.tuples(st.just("many"), st.lists(TEXTS, min_size=1, max_size=6)),
        st.tuples(st.just("visit"), st.integers(0, 9)),
        st.tuples(st.just("recall"), TEXTS),
        st.tuples(st.just("promote")),
        st.tuples(st.just("upkeep")),
        st.tuples(st.just("window"), st.integers(1, 4)),
        st.tuples(st.just("wait"), st.sampled_from([1, 3600, 10**6])),
        st.tuples(st.just("restore"), st.integers(0, 9)),
        st.tuples(st.just("erase"), st.integers(0, 20)),
    ),
    max_size=20,
)
SMALL = DialogueSettings(window=3, segments=3, hot=3, heat_mu=3600, retention_days=5)


class World:
    """The tiers, and what must be in them."""

    def __init__(self, scoped: ScopedStore, clock: FakeClock) -> None:
        self.scoped, self.clock = scoped, clock
        self.dialogue = DialogueMemory(scoped, SMALL)
        self.pages: set[str] = set()
        self.window = SMALL.window

    async def take(self, step: tuple[Any, ...]) -> None:
        match step:
            case ("add", text, session):
                added = await self.dialogue.add(text, "I see", session=session)
                self.pages.update(page.id for page in added.pages)
            case ("many", texts):
                added = await self.dialogue.add_many([{"user": text} for text in texts])
                self.pages.update(page.id for page in added.pages)
            case ("visit", n) if segments := await self.dialogue.segments():
                await self.dialogue.visit(segments[n % len(segments)])
            case ("recall", text):
                await self.dialogue.recall(text, archived=True)
            case ("promote",):
                assert not (await self.dialogue.promote(_nothing)).failed
                assert await self.dialogue.hot() == (), "each hot segment was handed on, and none is hot any more"
            case ("upkeep",):
                await self.dialogue.upkeep()
            case ("window", size):
                await self.dialogue.configure(window=size)
                self.window = size
            case ("wait", seconds):
                self.clock.advance(seconds)
            case ("restore", n) if segments := await self.dialogue.segments(archived=True):
                await self.dialogue.restore(segments[n % len(segments)])
            case ("erase", n) if self.pages:
                await self._erase(sorted(self.pages)[n % len(self.pages)])

    async def _erase(self, page: str) -> None:
        """As ``forget(erase=True)`` does, with what was derived; then the tiers are put in order again."""
        links = await self.scoped.store.links(self.scoped.scope, [page], relation="derived_from", direction="in")
        for id in (page, *(link.source for link in links)):
            await self.scoped.store.delete(self.scoped.scope, id, erase=True)
        self.pages.discard(page)
        await self.dialogue.upkeep()

    async def check(self) -> None:
        short = [page.id for page in await self.dialogue.short_term()]
        everywhere = [*await self.dialogue.segments(), *await self.dialogue.segments(archived=True)]
        held = Counter([page.id for segment in everywhere for page in await self.dialogue.pages(segment)])
        assert set(short) | set(held) == self.pages, "a page was lost, or invented"
        assert not set(short) & set(held), "a page is in short-term memory and in a segment"
        assert all(times == 1 for times in held.values()), "a page is in two segments"
        for id in self.pages:
            segment = (await self.dialogue.page(id)).segment
            assert (segment is None) == (id in short)
        stored = await self.scoped.store.backend.matching(self.scoped.scope, Filter(kinds=("page",), states=None))
        assert stored == self.pages

    async def heats(self) -> dict[str, tuple[float, int, int]]:
        return {s.id: (s.heat, s.all_visits, s.length) for s in await self.dialogue.segments()}


async def _nothing(segment: DialogueSegment, pages: tuple[DialoguePage, ...]) -> None:
    assert len(pages) <= segment.length


@few(15)
@given(steps=STEPS)
def test_no_page_is_lost_and_heat_only_cools(host: Host, steps: list[tuple[Any, ...]]) -> None:
    world = World(host.scoped(), host.clock)

    async def example() -> None:
        before = await world.heats()
        for step in steps:
            await world.take(step)
            await world.check()
            if step[0] in ("add", "many", "upkeep"):
                assert len(await world.dialogue.short_term()) <= world.window
                assert len(await world.dialogue.segments()) <= SMALL.segments
            after = await world.heats()
            for id, (heat, visits, length) in after.items():
                if id in before and before[id][1:] == (visits, length):
                    assert heat <= before[id][0] + 1e-9, "hotter without a visit and without a new page"
            before = after

    host.runner.run(example())


@few(6)
@given(texts=st.lists(TEXTS, min_size=4, max_size=14), writers=st.integers(2, 4))
def test_writers_at_the_same_time_lose_nothing_too(host: Host, texts: list[str], writers: int) -> None:
    scoped = host.scoped()
    world = World(scoped, host.clock)

    async def example() -> None:
        rivals = [DialogueMemory(scoped, SMALL) for _ in range(writers)]
        jobs: list[Any] = [rivals[n % writers].add(text, "I see") for n, text in enumerate(texts)]
        done = await asyncio.gather(*jobs, *(rival.upkeep() for rival in rivals[:2]))
        world.pages = {page.id for added in done[: len(texts)] for page in added.pages}
        assert len(world.pages) == len(texts)
        await world.check()
        (state,) = [
            m async for m in scoped.store.scan_all(scoped.scope, Filter(kinds=("configuration",))) if "pages" in m.body
        ]
        history = await scoped.store.history(scoped.scope, state.id)
        sizes = [len(change.after["body"]["pages"]) for change in history if change.after and "body" in change.after]
        assert max(sizes) <= SMALL.window, "never over capacity, at no version of the window"

    host.runner.run(example())
