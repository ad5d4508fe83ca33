"""Heat, and what is handed on to long-term memory because of it."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest

from longmind.systems.dialogue import DialogueMemory, DialoguePage, DialogueSegment, DialogueSettings
from longmind.systems.dialogue.heat import heat
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock


def test_the_formula() -> None:
    settings = DialogueSettings(heat_visits=2, heat_length=3, heat_recency=4, heat_mu=100)
    assert heat(settings, 5, 7, 50) == pytest.approx(2 * 5 + 3 * 7 + 4 * math.exp(-0.5))
    assert heat(settings, 0, 0, -10) == 4.0, "a clock that was set back makes nothing hotter"
    assert heat(DialogueSettings(), 0, 0, 1e9) == pytest.approx(0.0)


async def test_heat_cools_by_itself_and_visits_warm(
    dialogue: DialogueMemory, scoped: ScopedStore, clock: FakeClock, talk: Any
) -> None:
    await dialogue.configure(heat_mu=3600)
    await talk("garden", 2)
    await talk("trains", 7)
    (fresh,) = await dialogue.segments()
    assert fresh.heat == pytest.approx(2 + 1.0)
    changes = (await scoped.store.stats(scoped.scope)).changes
    clock.advance(timedelta(hours=1))
    (cooler,) = await dialogue.segments()
    assert cooler.heat == pytest.approx(2 + math.exp(-1))
    await dialogue.visit(cooler)
    (warm,) = await dialogue.segments()
    assert (warm.visits, warm.heat) == (1, pytest.approx(3 + 1.0))
    clock.advance(timedelta(hours=100))
    assert (await dialogue.segment(warm.id)).heat == pytest.approx(3.0)
    assert (await scoped.store.stats(scoped.scope)).changes == changes, (
        "neither cooling nor a visit writes to the journal"
    )


async def test_hot_segments_are_handed_on_and_reset(dialogue: DialogueMemory, talk: Any) -> None:
    ids = await talk("garden", 4)
    await talk("trains", 7)
    (segment,) = await dialogue.hot()
    assert segment.heat >= 5
    handed: list[tuple[DialogueSegment, tuple[DialoguePage, ...]]] = []

    async def analyse(segment: DialogueSegment, pages: tuple[DialoguePage, ...]) -> None:
        handed.append((segment, pages))

    done = await dialogue.promote(analyse)
    assert (done.promoted, dict(done.failed)) == ((segment.id,), {})
    assert [page.id for page in handed[0][1]] == ids
    after = await dialogue.segment(segment.id)
    assert (after.visits, after.new_pages, after.length) == (0, 0, 4)
    assert after.heat <= 1.0
    assert after.analysed_at is not None
    assert await dialogue.hot() == ()
    for _ in range(60):
        await dialogue.visit(segment)
    visited = await dialogue.segment(segment.id)
    assert visited.heat > 50
    assert await dialogue.hot() == (), "visits alone bring nothing that could be analysed"
    more = await talk("garden", 4)
    await talk("violin", 7)
    (again,) = [one for one in await dialogue.hot() if one.id == segment.id]
    assert again.new_pages == 4
    assert {page.id for page in await dialogue.pages(again, new=True)} == set(more), (
        "only what is new is analysed again"
    )


async def test_a_segment_that_fails_stops_no_other(dialogue: DialogueMemory, talk: Any) -> None:
    await dialogue.configure(hot=2)
    await talk("garden", 2)
    await talk("trains", 2)
    await talk("violin", 7)
    first, second = await dialogue.hot()

    async def analyse(segment: DialogueSegment, pages: tuple[DialoguePage, ...]) -> None:
        if segment.id == first.id:
            raise ValueError("no idea")

    done = await dialogue.promote(analyse)
    assert done.promoted == (second.id,)
    assert dict(done.failed) == {first.id: "ValueError: no idea"}
    assert [segment.id for segment in await dialogue.hot()] == [first.id]


async def test_a_page_that_joins_during_the_analysis_still_counts(dialogue: DialogueMemory, talk: Any) -> None:
    await talk("garden", 4)
    await talk("trains", 7)
    (seen,) = await dialogue.hot()
    (late,) = await talk("garden")
    await talk("trains", 7)
    after = await dialogue.promoted(seen)
    assert (after.length, after.new_pages) == (5, 1)
    assert [page.id for page in await dialogue.pages(after, new=True)] == [late]
    whole = await dialogue.promoted(after.id)
    assert whole.new_pages == 0
