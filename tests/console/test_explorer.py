"""Explorer: search, time, provenance, and changes with their undo."""

from __future__ import annotations

from typing import Any

from tests.console.harness import Open, Server


def search(page: Any, question: str) -> None:
    page.keyboard.press("/")
    page.keyboard.type(question)
    page.keyboard.press("Enter")
    page.locator(".lm-hit, .lm-empty").first.wait_for()


def test_search_shows_the_part_of_every_arm(open_page: Open, small: str) -> None:
    page = open_page("explorer", agent=small, user="alice")
    search(page, "Which animal hates rain?")
    first = page.locator(".lm-hit").first
    assert "Rex" in first.inner_text()
    assert first.locator(".lm-bar > span").count() >= 2
    assert "words" in first.locator(".lm-bar").get_attribute("aria-label")
    assert page.locator(".lm-legend").inner_text().startswith("words")


def test_filters_narrow_what_is_listed(open_page: Open, small: str) -> None:
    page = open_page("explorer", agent=small)
    page.get_by_label("Kinds").click()
    page.get_by_role("option", name="document", exact=True).click()
    page.keyboard.press("Escape")
    page.locator("tbody tr", has_text="Tram 15").wait_for()
    page.wait_for_function("document.querySelector('tbody')?.innerText.includes('fact') === false")
    assert set(page.locator("tbody .lm-kind").all_inner_texts()) == {"document"}


def test_a_slider_shows_the_world_as_it_was(open_page: Open, small: str) -> None:
    page = open_page("explorer", agent=small, user="alice")
    search(page, "Where does alice live?")
    assert "Lisbon" in page.locator(".lm-hits").inner_text()
    slider = page.get_by_role("slider", name="As the world was")
    slider.focus()
    slider.fill("12")
    page.wait_for_function("!document.querySelector('.lm-hits')?.innerText.includes('moved to Lisbon')")
    assert "Porto" in page.locator(".lm-hits").inner_text()


def test_a_fact_leads_to_the_exact_words_of_its_source(open_page: Open, server: Server, small: str) -> None:
    fact = next(memory for memory in server.memory(small).list(kinds=["fact"]).items if "Lisbon" in memory.content)
    page = open_page("explorer", agent=small, id=fact.id)
    source = page.locator(".lm-source").first
    assert source.locator("mark").inner_text() in "I moved to Lisbon."
    assert "Lisbon" in source.locator("mark").inner_text()
    source.get_by_role("button", name="Open").click()
    page.locator(".lm-sheet [data-memory]", has_text="I moved to Lisbon.").wait_for()


def test_a_change_is_stored_with_its_history_and_undone(open_page: Open, server: Server, small: str) -> None:
    memory = server.memory(small, "bob")
    stored = memory.remember("I like green tea.")
    page = open_page("explorer", agent=small, user="bob", id=stored.id)
    page.get_by_text("Change or forget it").click()
    page.get_by_label("What it says").fill("I like black tea.")
    page.get_by_label("Why you change it").fill("I was asked to")
    page.get_by_role("button", name="Save").click()
    page.locator(".lm-history", has_text="I was asked to").wait_for()
    assert memory.get(stored.id).content == "I like black tea."
    page.get_by_role("button", name="Undo I was asked to").click()
    page.locator(".lm-sheet [data-memory]", has_text="green tea").wait_for()
    assert memory.get(stored.id).content == "I like green tea."


def test_a_memory_is_forgotten_and_brought_back(open_page: Open, server: Server, small: str) -> None:
    memory = server.memory(small, "bob")
    stored = memory.remember("My locker has the number 12.")
    page = open_page("explorer", agent=small, user="bob", id=stored.id)
    page.get_by_text("Change or forget it").click()
    page.get_by_role("button", name="Forget", exact=True).click()
    page.get_by_role("alertdialog").get_by_role("button", name="Forget").click()
    page.locator(".lm-sheet", has_text="It was forgotten.").wait_for()
    assert memory.get(stored.id) is None
    page.get_by_role("button", name="Undo console").click()
    page.locator(".lm-sheet [data-memory]", has_text="locker").wait_for()
    assert memory.get(stored.id) is not None
