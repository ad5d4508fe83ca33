"""Dialogue in the browser: topics and their pages, evidence of the persona, and promotion."""

from __future__ import annotations

from tests.console.harness import Open, Server


def test_a_hot_topic_is_promoted(open_page: Open, server: Server) -> None:
    dialogue = server.memory(user="alice").dialogue
    (hot, *_) = dialogue.hot()
    page = open_page("dialogue", user="alice")
    page.locator(".lm-tile", has_text=", ".join(hot.keywords[:3])).click()
    page.locator(".lm-dialogue").nth(1).get_by_text(dialogue.pages(hot)[0].turns[0].text).wait_for()
    page.get_by_role("button", name="Promote now").click()
    page.get_by_text("Consolidated:").wait_for()
    assert dialogue.hot() == ()
    assert dialogue.segment(hot.id).analysed_at is not None


def test_a_trait_shows_its_evidence(open_page: Open) -> None:
    page = open_page("dialogue", user="bob")
    trait = page.locator(".lm-persona > li", has_text="length of answers")
    trait.get_by_role("button", name="2 sources").click()
    trait.get_by_text("Explain things to me in detail").wait_for()
