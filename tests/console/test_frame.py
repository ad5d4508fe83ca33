"""The frame around the pages: keys, themes, the choice of agent and user."""

from __future__ import annotations

from tests.console.harness import Open


def test_the_first_key_skips_to_the_content(open_page: Open) -> None:
    page = open_page("overview")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to main content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "MAIN"


def test_g_and_a_letter_go_to_a_page(open_page: Open) -> None:
    page = open_page("overview", user="alice")
    with page.expect_navigation():
        page.keyboard.press("g")
        page.keyboard.press("o")
    assert "user=alice" in page.url


def test_a_memory_is_found_and_looked_at_with_the_keyboard_alone(open_page: Open, small: str) -> None:
    page = open_page("overview", agent=small, user="alice")
    with page.expect_navigation():
        page.keyboard.press("g")
        page.keyboard.press("e")
    page.wait_for_function("window.did_handshake === true")
    page.keyboard.press("/")
    page.keyboard.type("Which animal hates rain?")
    page.keyboard.press("Enter")
    page.locator(".lm-hit").first.wait_for()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.lm-opener')"):
            break
    assert "Rex" in page.evaluate("document.activeElement.innerText")
    page.keyboard.press("Enter")
    sheet = page.get_by_role("dialog", name="Memory")
    sheet.wait_for()
    page.wait_for_function("document.querySelector('.q-dialog').contains(document.activeElement)")
    page.keyboard.press("Escape")
    sheet.wait_for(state="detached")
    page.wait_for_function("document.activeElement.matches('.lm-opener')")


def test_the_theme_is_switched_and_kept(open_page: Open) -> None:
    page = open_page("overview", theme="light")
    assert page.evaluate("document.body.classList.contains('body--light')")
    page.get_by_label("Light or dark").click()
    assert page.evaluate("document.body.classList.contains('body--dark')")
    page.reload()
    page.wait_for_selector("body.body--dark main h1")


def test_a_user_is_chosen(open_page: Open, small: str) -> None:
    page = open_page("overview", agent=small)
    page.get_by_label("User", exact=True).click()
    with page.expect_navigation():
        page.get_by_role("option", name="bob").click()
    assert "user=bob" in page.url
    page.wait_for_selector("main h1")
    assert page.get_by_text("My dog is called Rex").count() == 0


def test_a_phone_has_the_navigation_in_a_drawer(open_page: Open) -> None:
    page = open_page("overview", width="phone")
    link = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Overview")
    page.get_by_label("Navigation", exact=True).click()
    link.wait_for(state="visible")
    page.wait_for_function("document.querySelector('.q-drawer').getBoundingClientRect().left >= 0")
