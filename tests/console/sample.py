"""Sample data for the console's tests: two users, three months, facts that changed, a document, and a goal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from longmind import Document, Settings
from longmind.sync import Longmind

AGENT = "assistant"
NOW = datetime.now(UTC)
_SAID = (
    ("alice", 80, "I live in Porto and work as a nurse."),
    ("alice", 78, "My dog is called Rex and he hates rain."),
    ("bob", 76, "I am learning Portuguese and I play the cello."),
    ("alice", 61, "I moved to Lisbon."),
    ("alice", 55, "My sister Ines visits me in spring."),
    ("bob", 41, "I cannot eat peanuts."),
    ("alice", 33, "I prefer trains over planes."),
    ("bob", 20, "My concert is on the first of December."),
    ("alice", 9, "Please keep your answers short."),
    ("alice", 2, "The rent rises to 940 euros in January."),
)
GUIDE = """# Arriving

Tram 15 stops in front of the museum. After nine in the evening only the night bus runs.

# The room

The room has a projector with HDMI and a microphone. There is no internet in the hall."""


def fill(store: Path) -> None:
    """Fill a new store."""
    with Longmind.open(str(store), settings=Settings.load({}), embedder="none") as rc:
        for user, days, said in _SAID:
            at = NOW - timedelta(days=days)
            rc.agent(AGENT, user).remember(said, session=f"{user}-{at:%Y-%m}", occurred_at=at)
        alice = rc.agent(AGENT, "alice")
        alice.remember(Document(content=GUIDE, title="Guide to the museum", uri="https://example.org/guide"))
        alice.goals.create("Find a flat below 900 euros", criteria=["A contract is signed"])
        with alice.episodic.episode("Booking the train", tags=["travel"]) as episode:
            episode.record("Looked up the connections.")
            episode.record("Paid with the old card; it was refused.")
        rc.agent(AGENT, all_users=True).consolidate()
