"""The timeline in the browser: an episode is replayed step by step, and judged."""

from __future__ import annotations

from tests.console.harness import Open, Server
from tests.console.test_pages import barriers


def test_an_episode_is_replayed_and_judged(open_page: Open, server: Server) -> None:
    page = open_page("timeline", user="alice")
    page.locator(".lm-choice", has_text="Preparing the evening of the concert").click()
    page.get_by_text("Step 1 of 2").wait_for()
    assert barriers(page) == []
    assert page.locator(".lm-steps").get_by_text("Marta offered to take Rex.").count() == 0
    page.get_by_role("button", name="Next step").click()
    page.locator(".lm-steps").get_by_text("Marta offered to take Rex.").wait_for()
    assert page.get_by_role("button", name="Next step").is_disabled()
    page.get_by_label("Why").fill("Everything is arranged.")
    page.get_by_role("button", name="It succeeded").click()
    page.get_by_text("Noted: it succeeded.").wait_for()
    episodes = server.memory(user="alice").episodic.list(outcome="succeeded").items
    assert ("Preparing the evening of the concert", "Everything is arranged.") in [(e.title, e.note) for e in episodes]
