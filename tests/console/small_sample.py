"""A few memories of an agent of its own, whose words the tests of single pages know."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.console.harness import Server

from longmind.types import Document

SMALL = "small"
_SAID = (
    ("alice", 80, "I live in Porto and work as a nurse."),
    ("alice", 78, "My dog is called Rex and he hates rain."),
    ("bob", 76, "I am learning Portuguese and I play the cello."),
    ("alice", 61, "I moved to Lisbon."),
    ("bob", 41, "I cannot eat peanuts."),
    ("alice", 33, "I prefer trains over planes."),
)
_GUIDE = "# Arriving\n\nTram 15 stops in front of the museum. After nine only the night bus runs."


def fill_small(server: Server) -> None:
    """Store them through the server."""
    now = datetime.now(UTC)
    for user, days, said in _SAID:
        at = now - timedelta(days=days)
        server.memory(SMALL, user).remember(said, session=f"{user}-{at:%Y-%m}", occurred_at=at)
    server.memory(SMALL, "alice").remember(Document(content=_GUIDE, title="Guide", uri="https://example.org/guide"))
    server.memory(SMALL).consolidate()
