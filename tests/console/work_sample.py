"""Procedures with versions, runs and a trial; and the functions they call, which the server has, too."""

from __future__ import annotations

from typing import Any

from longmind.sync import Longmind
from longmind.systems.procedural import ToolRegistry

tools = ToolRegistry()
BOOK = {
    "name": "reserve_a_seat",
    "purpose": "Find a connection, reserve a seat, and send the ticket to the traveller.",
    "category": "travel",
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where to."},
            "seats": {"type": "integer", "default": 1},
        },
        "required": ["city"],
    },
    "steps": [
        {"name": "search", "use": "find_trains", "args": {"city": "{{ params.city }}"}},
        {"name": "reserve", "use": "reserve_seat", "args": {"train": "{{ steps.search }}"}},
        {"name": "send", "use": "send_ticket", "args": {"seat": "{{ steps.reserve }}"}, "needs_approval": True},
    ],
}
REFUND = {
    "name": "ask_for_refund",
    "purpose": "Ask the railway for money back after a delay.",
    "category": "travel",
    "steps": [{"name": "write", "use": "send_ticket", "args": {"seat": "a letter"}}],
}


@tools.tool
def find_trains(city: str) -> str:
    """Return a train to a city."""
    if city == "Atlantis":
        raise LookupError("There is no train to Atlantis.")
    return f"IC 521 to {city}"


@tools.tool
def reserve_seat(train: str) -> str:
    """Reserve a seat."""
    return f"{train}, seat 61"


@tools.tool
def send_ticket(seat: str) -> str:
    """Send a ticket."""
    return f"sent: {seat}"


def fill_work(longmind: Longmind, agent: str) -> None:
    """Store procedures of an agent, and run them."""
    memory: Any = longmind.agent(agent)
    for tool in (find_trains, reserve_seat, send_ticket):
        longmind.tool(tool)
    memory.procedural.store(REFUND)
    memory.procedural.store(BOOK, why="as Alice does it")
    for _ in range(3):
        memory.procedural.learn("reserve_a_seat", False)
    memory.procedural.learn("reserve_a_seat", True)
    retried = {**BOOK["steps"][0], "retry": {"attempts": 3}, "on_error": "stop"}  # type: ignore[index]
    memory.procedural.store(
        {**BOOK, "steps": [retried, *BOOK["steps"][1:]]},  # type: ignore[index]
        why="the search often times out; try it three times",
    )
    for _ in range(11):
        memory.procedural.learn("reserve_a_seat", True)
    memory.procedural.learn("reserve_a_seat", False)
    memory.procedural.propose("reserve_a_seat", {"purpose": "Book the fastest train."}, why="Alice wants to be quick")
    memory.procedural.execute("reserve_a_seat", {"city": "Porto"}, version=2)
    memory.procedural.execute("reserve_a_seat", {"city": "Atlantis"}, version=2)
