"""Working memory in the browser: what is put in mind is stored, and what the agent puts there appears by itself."""

from __future__ import annotations

from tests.console.harness import Open, Server


def test_a_thing_is_kept_in_mind_and_let_go(open_page: Open, server: Server) -> None:
    page = open_page("working", user="bob")
    working = server.memory(user="bob").working
    page.get_by_label("Key").fill("bow")
    page.get_by_label("What to keep in mind").fill("The bow needs <b>rosin</b>.")
    page.get_by_role("button", name="Keep in mind").click()
    page.locator(".lm-items").get_by_text("The bow needs <b>rosin</b>.").wait_for()
    assert working.item("bow").content == "The bow needs <b>rosin</b>."
    page.get_by_role("button", name="Let go of bow").click()
    page.locator(".lm-items").get_by_text("The bow needs").wait_for(state="detached")
    assert working.item("bow") is None


def test_what_the_agent_puts_in_mind_appears_by_itself(open_page: Open, server: Server) -> None:
    page = open_page("working", user="bob")
    page.locator(".lm-items").get_by_text("Antena 1 at half speed").wait_for()
    server.memory(user="bob").working.put("stand", "The music stand is at home.", 0.6)
    page.locator(".lm-items").get_by_text("The music stand is at home.").wait_for()
