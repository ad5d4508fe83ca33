"""Dialogs: they are named, close by Escape or a button, and leave nothing behind in the page."""

from __future__ import annotations

from typing import Any

from tests.console.harness import ELEMENTS, Open, Server


def kept(page: Any) -> int:
    """Return how many elements a page keeps."""
    return int(page.evaluate(ELEMENTS))


def test_a_question_leaves_nothing_behind(open_page: Open, server: Server) -> None:
    page = open_page("graph", user="alice", concept="Rex")
    before = kept(page)
    for close in (lambda: page.keyboard.press("Escape"), lambda: page.get_by_role("button", name="Cancel").click()):
        page.get_by_role("button", name="Retract: Alice has dog Rex").click()
        dialog = page.get_by_role("alertdialog", name="Retract this fact?")
        dialog.wait_for()
        assert kept(page) > before
        close()
        dialog.wait_for(state="detached")
        page.wait_for_function(f"{ELEMENTS} === {before}")
    assert [fact.retracted for fact in server.memory(user="alice").semantic.history("Alice", "has dog")] == [False]


def test_what_was_asked_for_is_done_though_the_dialog_is_gone(open_page: Open, server: Server) -> None:
    page = open_page("goals", user="bob")
    page.get_by_role("button", name="Block", exact=True).click()
    dialog = page.get_by_role("dialog", name="What does it wait for?")
    dialog.get_by_role("textbox").fill("the hall is closed")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Unblock").first.wait_for()
    dialog.wait_for(state="detached")
    assert "the hall is closed" in [goal.why for goal in server.memory(user="bob").goals.list(status="blocked").items]
