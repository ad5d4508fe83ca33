"""``longmind episodes`` on a file."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.unit.systems.conftest import Cli

from longmind import Longmind, Settings
from longmind.cli.episodes import app
from longmind.systems.episodic import EpisodicMemory
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


async def tell(url: str) -> list[str]:
    """Six tries at the same thing; those that were checked went well."""
    clock = FakeClock()
    ids = []
    async with Longmind.open(url, embedder="none", clock=clock, settings=Settings.load({})) as longmind:
        mem = longmind.agent("assistant")
        scoped = ScopedStore(longmind.store, mem.scope, clock, longmind.embedding.embed, mem.recall)
        episodic = EpisodicMemory(scoped)
        for n in range(6):
            async with episodic.episode(f"Bake bread, try {n}", type="task") as running:
                await running.record("Mixed the dough", type="mix", actor="Ann")
                clock.advance(timedelta(minutes=10))
                if n % 2:
                    await running.record("Checked the oven", type="check")
                running.conclude("succeeded" if n % 2 else "failed")
            ids.append(running.id)
    return ids


@pytest.fixture
def told(tmp_path: Path) -> tuple[Cli, list[str]]:
    url = str(tmp_path / "memory.db")
    return Cli(app, url), asyncio.run(tell(url))


def test_episodes_are_listed_and_found(told: tuple[Cli, list[str]]) -> None:
    cli, ids = told
    assert [e["id"] for e in cli.json("list")["items"]] == ids[::-1]
    assert [e["id"] for e in cli.json("list", "--outcome", "failed")["items"]] == ids[4::-2]
    assert cli.json("list", "--open")["items"] == []
    assert {hit["episode"]["id"] for hit in cli.json("search", "oven")["found"]} == set(ids[1::2])
    shown = cli("list", "--limit", "2")
    assert "Bake bread, try 5" in shown
    assert "10 min" in shown
    assert "--cursor" in shown
    assert "Nothing here." in cli("list", "--type", "none")


def test_an_episode_is_shown_and_replayed(told: tuple[Cli, list[str]]) -> None:
    cli, ids = told
    assert cli("show", ids[1][-8:], "--length", "short").startswith('"Bake bread, try 1" (task) began on')
    assert "Checked the oven" in cli.json("show", ids[1])["narrative"]
    assert [one["event"]["type"] for one in cli.json("replay", ids[1])["events"]] == ["mix", "check"]
    lines = cli("replay", ids[1], "--type", "check").splitlines()
    assert len(lines) == 1
    assert lines[0].endswith("[check] Checked the oven")
    assert "No events." in cli("replay", ids[0], "--actor", "Bob")
    assert "no episode" in cli("show", "00000000-0000-7000-8000-000000000000", code=3)


def test_the_timeline_lessons_and_clusters_are_told(told: tuple[Cli, list[str]]) -> None:
    cli, ids = told
    line = cli("timeline", "2026-01-01T12:15", "--minutes", "10")
    assert "Mixed the dough" in line
    assert "Going on then:" in line
    assert len(cli.json("timeline", "2026-01-01T12:15", "--minutes", "10")["before"]) == 1
    lessons = cli.json("lessons", "bake bread")
    assert lessons["lessons"][0]["subject"] == "event:check"
    assert "3 succeeded, 3 failed" in cli("lessons", "bake bread")
    assert len(cli.json("clusters")["clusters"][0]["episodes"]) == len(ids)
    assert "6 episodes" in cli("clusters")
