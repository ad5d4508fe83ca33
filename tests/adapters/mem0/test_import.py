"""What mem0 itself stored is imported: its history database, and the JSON of ``get_all``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.adapters.mem0.conftest import real_mem0

from longmind import Longmind
from longmind.importing import import_memories


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The ids of what a real mem0 stored, and its exports in the folder."""
    with real_mem0(tmp_path, monkeypatch) as memory:

        def add(text: str, **about: object) -> str:
            return str(memory.add(text, infer=False, **about)["results"][0]["id"])

        ids = {
            "home": add("Lives in Porto", user_id="alice", run_id="trip", metadata={"category": "home"}),
            "dog": add("Has a dog", user_id="alice"),
            "tea": add("Likes green tea", user_id="bob", agent_id="waiter", expiration_date="2999-01-01"),
        }
        memory.update(ids["home"], "Lives in Lisbon")
        memory.delete(ids["dog"])
        users = [memory.get_all(filters={"user_id": user})["results"] for user in ("alice", "bob")]
    results = [result for of_user in users for result in of_user]
    (tmp_path / "all.json").write_text(json.dumps({"results": results}), encoding="utf-8")
    return ids


async def test_the_json_of_get_all(written: dict[str, str], tmp_path: Path, embedded: Longmind) -> None:
    report = await import_memories(embedded, "mem0", tmp_path / "all.json", agent="a")
    assert (report.counts, report.unmapped_count) == ({"notes": 2}, 0)
    (home,) = (await embedded.agent("a", "alice").list()).items
    (tea,) = (await embedded.agent("a", "bob").list()).items
    assert (home.content, home.session, home.metadata["category"]) == ("Lives in Lisbon", "trip", "home")
    assert (home.metadata["id"], tea.metadata["agent_id"]) == (written["home"], "waiter")
    assert tea.expires_at is not None
    assert tea.expires_at.year == 2999
    again = await import_memories(embedded, "mem0", tmp_path / "all.json", agent="a")
    assert again.already_there == 2


async def test_the_history_database(written: dict[str, str], tmp_path: Path, embedded: Longmind) -> None:
    report = await import_memories(embedded, "mem0", tmp_path / "history.db", agent="a", user="u")
    notes = {memory.metadata["id"]: memory.content for memory in (await embedded.agent("a", "u").list(limit=50)).items}
    assert notes[written["home"]] == "Lives in Lisbon"
    assert notes[written["tea"]] == "Likes green tea"
    assert written["dog"] not in notes
    reasons = [unmapped.reason for unmapped in report.unmapped]
    assert reasons[0] == "it was deleted in mem0"
    assert "it does not say whose memories these are" in reasons[1]
