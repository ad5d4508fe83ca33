"""Playground: an answer without a model, and the context beside it."""

from __future__ import annotations

from tests.console.harness import Open, Server


def test_a_message_is_answered_with_its_context_beside_it(open_page: Open, server: Server, small: str) -> None:
    page = open_page("playground", agent=small, user="alice", session="tried-out")
    page.get_by_label("Message", exact=True).fill("What is my dog called?")
    page.keyboard.press("Enter")
    page.locator(".lm-chat-note").first.wait_for()
    assert "Rex" in page.locator(".lm-bubble").nth(1).inner_text()
    assert "without a model" in page.locator(".lm-chat-note").first.inner_text()
    context = page.get_by_label("Context")
    line = context.locator("article", has_text="Rex").first
    assert "dog" in line.locator(".lm-row").inner_text()
    standing = context.locator("article", has_text="I moved to Lisbon").first
    assert "stands in every context: identity" in standing.inner_text()
    said = [m.content for m in server.memory(small, "alice").conversation("tried-out").history()]
    assert said[0] == "What is my dog called?"
    assert len(said) == 2
