"""The functions that the procedures of the example call. They touch nothing outside."""

from __future__ import annotations

from longmind.systems.procedural import ToolRegistry


def register_tools(tools: ToolRegistry) -> None:
    """Register them."""
    for function in (find_trains, check_card, pay, send, play, ask_questions):
        tools.register(function)


async def find_trains(start: str, end: str) -> str:
    """Find a train between two cities."""
    return f"09:30 from {start} to {end}"


async def check_card() -> str:
    """Check that the card is valid."""
    return "valid"


async def pay(what: str, works: bool = True) -> str:
    """Pay for something."""
    if not works:
        raise PermissionError("The card was refused.")
    return f"paid: {what}"


async def send(what: str) -> str:
    """Send something to the user."""
    return f"sent: {what}"


async def play(minutes: int, speed: float = 1.0, works: bool = True) -> str:
    """Play the radio."""
    if not works:
        raise TimeoutError("The station did not answer.")
    return f"{minutes} minutes at speed {speed:g}"


async def ask_questions(count: int) -> str:
    """Ask about what was heard."""
    return f"{count} questions asked"
