"""What the guided tour is about: a week of Alice and her assistant. Only the words; what happens to them is real."""

from __future__ import annotations

from datetime import UTC, datetime

from longmind.types import Document, Message


def _said(day: int, hour: int, role: str, name: str, content: str) -> Message:
    moment = datetime(2026, 5, day, hour, tzinfo=UTC)
    return Message.model_validate({"role": role, "name": name, "content": content, "occurred_at": moment})


CONVERSATION = [
    _said(4, 9, "user", "Alice", "Good morning! I moved to Lisbon in April, to a flat near the river."),
    _said(4, 9, "assistant", "Assistant", "How lovely. Shall I change your address with the bank?"),
    _said(4, 9, "user", "Alice", "Yes please. And never order anything with peanuts for me, I am allergic."),
    _said(6, 18, "user", "Alice", "On Friday the 15th I give a talk about tide clocks at the harbour museum."),
    _said(6, 18, "assistant", "Assistant", "Noted: the talk is on 15 May. I will keep that evening free."),
    _said(8, 12, "user", "Alice", "My sister Ines visits me at the end of May and stays a week."),
]

DOCUMENT = Document(
    title="Harbour museum, notes for speakers",
    uri="https://museum.example/speakers",
    occurred_at=datetime(2026, 5, 2, tzinfo=UTC),
    content="""# Your talk

Talks last forty minutes, with ten more for questions. Please come half an hour early.

# The room

The room has a projector with HDMI and a microphone. There is no internet in the hall, so bring your slides on a disk.

# Getting here

Tram 15 stops in front of the museum. After nine in the evening only the night bus runs.
""",
)

QUESTIONS = [
    "Which city did Alice move to?",
    "Is there anything she must not eat?",
    "How do I get home from the museum?",
]

TASK = "Plan Alice's evening on the day of her talk, dinner included."

STATEMENT = "Ines arrives on 25 May with the morning train."
CORRECTION = "Ines arrives on 26 May with the night train."

SAID_TWICE = ("Alice likes her coffee without sugar.", "Without sugar, Alice likes her coffee!")

GOAL = "Dinner with Ines on her first evening"
CRITERIA = ["A table is booked"]
STEPS = [
    {
        "id": "book",
        "description": "Book a table for two",
        "tool": "find_table",
        "args": {"people": 2},
        "criteria": ["c1"],
    }
]

SECRET = "The code of the front door is 4711."
SECRET_QUESTION = "What is the code of the front door?"
