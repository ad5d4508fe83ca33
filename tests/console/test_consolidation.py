"""The page Consolidation: a run is tried, made, looked into, undone and paused, and the store says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.console.harness import Open, Server

AGENT = "listener"


@pytest.fixture
def memory(server: Server) -> Iterator[Any]:
    """An agent that was told something and has not consolidated it."""
    told = server.memory(AGENT, "carol")
    told.remember("I live in Faro and my cat is called Mimi. Do I live in Porto?")
    yield told
    server.memory(AGENT).forget(where={"kinds": ["message", "fact", "trait"]})


def facts(memory: Any) -> set[str]:
    return {found.content for found in memory.list(kinds=["fact"]).items}


def test_a_run_is_tried_made_and_undone(open_page: Open, memory: Any) -> None:
    page = open_page("consolidation", agent=AGENT, user="carol")
    page.get_by_role("button", name="Try without writing").click()
    page.get_by_text("nothing was written").wait_for()
    assert facts(memory) == set()
    page.get_by_role("button", name="Consolidate now").click()
    page.get_by_role("heading", name="What this run changed").wait_for()
    learnt = facts(memory)
    assert any("Faro" in fact for fact in learnt)
    page.get_by_text("it is a question").first.wait_for()
    page.get_by_role("button", name="Changes").click()
    page.locator(".lm-run .lm-feed li", has_text="Faro").first.wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo the run").click()
    page.get_by_text("The run is undone").wait_for()
    assert facts(memory) == set()


def test_it_is_paused_and_resumed(open_page: Open, server: Server, memory: Any) -> None:
    page = open_page("consolidation", agent=AGENT, user="carol")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Resume").wait_for()
    assert server.memory(AGENT).configuration().consolidate_paused
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Pause").wait_for()
    assert not server.memory(AGENT).configuration().consolidate_paused


def test_an_agent_without_memories_says_what_to_do(open_page: Open) -> None:
    page = open_page("consolidation", agent="nobody")
    assert page.get_by_text("Nothing to consolidate yet").count() == 1
