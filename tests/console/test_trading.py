"""The page Trading: the feed with its signals, and why each; it is there for agents that followed a feed."""

from __future__ import annotations

from tests.console.harness import Open, Server
from tests.console.sample import TRADER


def test_signals_are_marked_and_explained(open_page: Open, server: Server) -> None:
    page = open_page("trading")
    assert page.get_by_role("navigation", name="Pages").get_by_role("link", name="Trading").count() == 1
    page.get_by_role("button", name="more").click()
    page.wait_for_function("document.querySelectorAll('.lm-post').length === 30")
    marked = page.locator("mark.lm-mark").all_text_contents()
    signals = server.memory(TRADER).episodic.events(type="signal", descending=True, limit=200).items
    records = [signal.data["record"] for signal in signals]
    quotes = {
        record["post"]["text"][record["signal"]["span"]["start"] : record["signal"]["span"]["end"]]
        for record in records
    }
    assert marked
    assert set(marked) <= quotes
    page.get_by_role("button", name="Why").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("heading", name="The decision").wait_for()


def test_other_agents_have_no_such_page(open_page: Open) -> None:
    page = open_page("overview")
    assert page.get_by_role("navigation", name="Pages").get_by_role("link", name="Trading").count() == 0
