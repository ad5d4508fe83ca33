"""A procedure out of what successful episodes did alike."""

from __future__ import annotations

from typing import Any

import pytest

from longmind.store.base import Put
from longmind.systems.procedural import ProceduralMemory
from longmind.systems.procedural.distill import distill_procedure
from longmind.systems.procedural.traces import Trace, TracedCall
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock

CITIES = [("Lisbon", 3, "h7"), ("Rome", 2, "h9"), ("Oslo", 5, "h1"), ("Bern", 4, "h3")]


def trace(n: int, city: str, nights: int, hotel: str, *, noise: bool = False) -> Trace:
    calls = [
        TracedCall(
            tool="search", args={"q": f"hotels in {city}", "limit": 5}, result={"hits": [{"id": hotel, "stars": 4}]}
        ),
        TracedCall(
            tool="book", args={"hotel": hotel, "stay": {"nights": nights, "city": city}}, result={"ref": f"r{n}"}
        ),
        TracedCall(tool="mail", args={"to": "me", "text": f"Booked: r{n}"}, result="sent"),
    ]
    if noise:
        calls.insert(1, TracedCall(tool="weather", args={"city": city}, result="sunny"))
    return Trace(id=f"e{n}", title=f"Trip to {city}", calls=tuple(calls))


def test_constants_stay_references_are_found_and_the_rest_are_parameters() -> None:
    made = distill_procedure(
        [trace(n, *c, noise=n % 2 == 0) for n, c in enumerate(CITIES)], name="trip", purpose=None, min_support=3
    )
    assert made
    assert made.episodes == ("e0", "e1", "e2", "e3")
    procedure = made.procedure
    assert [s.use for s in procedure.steps] == ["search", "book", "mail"]
    assert procedure.steps[0].args == {"q": "hotels in {{ params.city }}", "limit": 5}
    assert procedure.steps[1].args == {
        "hotel": "{{ steps.search.hits[0].id }}",
        "stay": {"nights": "{{ params.nights }}", "city": "{{ params.city }}"},
    }
    assert procedure.steps[2].args == {"to": "me", "text": "Booked: {{ steps.book.ref }}"}
    assert procedure.parameters["properties"]["nights"] == {"type": "integer"}
    assert procedure.parameters["required"] == ["city", "nights"]
    assert procedure.purpose == "Trip to Rome", "the first of the shortest titles"
    assert "4 of 4 successful episodes called search, then book, then mail" in made.why


def test_what_too_few_did_is_no_procedure() -> None:
    few = [trace(n, *CITIES[n]) for n in range(2)]
    assert distill_procedure(few, name="trip", purpose=None, min_support=3) is None
    other = [Trace(id=f"o{n}", title="Other", calls=(TracedCall(tool=f"t{n}", args={}),)) for n in range(4)]
    assert distill_procedure([*few, *other], name="trip", purpose=None, min_support=2) is None, "a third is not most"
    assert distill_procedure([], name="trip", purpose=None, min_support=3) is None


def test_a_call_that_was_repeated_counts_as_its_last_try() -> None:
    traces = []
    for n, (city, nights, hotel) in enumerate(CITIES):
        told = trace(n, city, nights, hotel)
        wrong = TracedCall(tool="search", args={"q": "wrong", "limit": 5}, result={"hits": []})
        traces.append(Trace(id=told.id, title=told.title, calls=(wrong, *told.calls) if n < 2 else told.calls))
    made = distill_procedure(traces, name="trip", purpose="Book.", min_support=3)
    assert made
    assert made.procedure.steps[1].args["hotel"] == "{{ steps.search.hits[0].id }}"


def test_texts_that_look_like_templates_stay_texts() -> None:
    calls = [(TracedCall(tool="say", args={"text": "{{ x }}", "who": f"p{n}"}, result=n),) for n in range(3)]
    made = distill_procedure(
        [Trace(id=f"e{n}", title="Say", calls=c) for n, c in enumerate(calls)], name="say", purpose=None, min_support=3
    )
    assert made
    assert made.procedure.steps[0].args == {"text": r"\{{ x }}", "who": "{{ params.who }}"}


def test_the_same_function_twice_makes_two_steps() -> None:
    calls = [
        (
            TracedCall(tool="get", args={"x": n}, result={"y": 10 * n}),
            TracedCall(tool="get", args={"x": 10 * n}, result={"y": 0}),
        )
        for n in range(2, 6)
    ]
    made = distill_procedure(
        [Trace(id=f"e{n}", title="Get", calls=c) for n, c in enumerate(calls)], name="get", purpose=None, min_support=3
    )
    assert made
    assert [(s.name, s.args) for s in made.procedure.steps] == [
        ("get", {"x": "{{ params.x }}"}),
        ("get_2", {"x": "{{ steps.get.y }}"}),
    ]


async def remembered(
    scoped: ScopedStore, clock: FakeClock, told: Trace, outcome: str = "succeeded", **event: Any
) -> str:
    """An episode and its events, as episodic memory stores them."""
    body = {"title": told.title, "outcome": outcome}
    episode = scoped.new("episode", told.title, body=body, metadata={"outcome": outcome})
    events = []
    for call in told.calls:
        clock.advance(1)
        data = {"tool": call.tool, "args": dict(call.args), "result": call.result}
        events.append(
            scoped.new("event", call.tool, session=episode.id, body={"episode": episode.id, "data": data}, **event)
        )
    clock.advance(1)
    failed = {"tool": "search", "args": {"q": "?"}, "error": "no network"}
    events.append(scoped.new("event", "search", session=episode.id, body={"episode": episode.id, "data": failed}))
    events.append(scoped.new("event", "a thought", session=episode.id, body={"episode": episode.id, "data": {}}))
    await scoped.write([Put(memory) for memory in (episode, *events)])
    return episode.id


async def test_a_procedure_is_distilled_checked_stored_and_run(
    procedures: ProceduralMemory, scoped: ScopedStore, clock: FakeClock, desk: Any
) -> None:
    ids = [await remembered(scoped, clock, trace(n, *city)) for n, city in enumerate(CITIES)]
    await remembered(scoped, clock, trace(9, "Nowhere", 1, "h0"), outcome="failed")
    await remembered(scoped, clock, trace(8, "Elsewhere", 1, "h0"), trust=0.1)
    assert await procedures.distill("trip", "no such thing at all") is None
    made = await procedures.distill("trip", purpose="Book a trip.")
    assert made
    assert sorted(made.episodes) == sorted(ids)
    assert (await procedures.check(made.procedure)).passed
    assert await procedures.distill("trip", episodes=ids[:2]) is None
    by_task = await procedures.distill("trip", "trip to a city")
    assert by_task
    assert by_task.procedure.steps == made.procedure.steps

    @desk.tools.tool
    async def search(q: str, limit: int) -> dict[str, Any]:
        return {"hits": [{"id": f"best {q}", "stars": 5}]}

    @desk.tools.tool
    async def book(hotel: str, stay: dict[str, Any]) -> dict[str, str]:
        return {"ref": f"{hotel} for {stay['nights']}"}

    @desk.tools.tool
    async def mail(to: str, text: str) -> str:
        return f"{to}: {text}"

    await procedures.store(made.procedure, derived_from=made.episodes)
    run = await procedures.execute("trip", {"nights": 2, "city": "Paris"})
    assert run.result == "me: Booked: best hotels in Paris for 2"


@pytest.mark.parametrize("support", [0, 1])
async def test_one_episode_is_never_enough(
    procedures: ProceduralMemory, scoped: ScopedStore, clock: FakeClock, support: int
) -> None:
    await remembered(scoped, clock, trace(1, *CITIES[0]))
    assert await procedures.distill("trip", min_support=support) is None
