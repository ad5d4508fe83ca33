"""Every page in a real browser: with data and empty, in both themes and at two widths, and without barriers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from tests.console.harness import SCREENSHOTS, Open
from tests.console.pictures import photograph

from longmind.console.pages import PAGES

NAMES = [page.name for page in PAGES]
_TALLEST = {"wide": 1_200, "phone": 1_500}
"""Pixels of a page in a picture; more of a list shows nothing new."""
_SCENES = {
    "explorer": {"q": "Where does Alice live?"},
    "playground": {"user": "alice"},
    "admin": {"tab": "configuration"},
}
"""What is chosen on pages whose beginning shows little."""
_DRAWN = """() => document.fonts.status === "loaded"
    && [...document.querySelectorAll(".lm-chart")].every((chart) => chart.querySelector("svg"))"""
_KIND_COLOURS = """() => [...document.querySelectorAll(".lm-kind")].filter((badge) => {
    const name = badge.innerText.trim().replaceAll(" ", "_");
    const probe = document.createElement("i");
    probe.style.background = `var(--kind-${name})`;
    document.body.append(probe);
    const wanted = getComputedStyle(probe).backgroundColor;
    probe.remove();
    return getComputedStyle(badge.querySelector(".lm-dot")).backgroundColor !== wanted;
}).map((badge) => badge.innerText)"""
"""Returns the badges of kinds that do not have the colour of their kind."""
_RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
    "resultTypes": ["violations"],  # what is in order is not described, which takes axe a quarter less
}


def barriers(page: Any) -> list[str]:
    """Return the serious and critical barriers that axe finds on a page."""
    found = Axe().run(page, options=_RULES).response["violations"]
    return [
        f"{rule['id']}: {rule['nodes'][0]['html'][:200]} {rule['nodes'][0].get('failureSummary', '')}"
        for rule in found
        if rule["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("theme", "width"), [("light", "wide"), ("dark", "phone")])
def test_a_page_with_data(open_page: Open, name: str, theme: str, width: str) -> None:
    page = open_page(name, theme=theme, width=width)
    assert page.locator("main h1").count() == 1
    assert page.locator(".lm-error").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "it is wider than the window"
    assert page.evaluate(_KIND_COLOURS) == []
    assert barriers(page) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_page_without_data(open_page: Open, name: str) -> None:
    page = open_page(name, agent="nobody", theme="dark")
    assert page.locator(".lm-error").count() == 0
    assert barriers(page) == []


@pytest.mark.skipif(SCREENSHOTS is None, reason="LONGMIND_SCREENSHOTS names no folder")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", ["wide", "phone"])
def test_a_picture_of_a_page(open_page: Open, name: str, theme: str, width: str) -> None:
    page = open_page(name, theme=theme, width=width, session=f"{theme}-{width}", **_SCENES.get(name, {}))
    if name == "playground":
        page.get_by_label("Message", exact=True).fill("What is my dog called?")
        page.keyboard.press("Enter")
        page.locator(".lm-chat-note").first.wait_for()
    page.wait_for_function(_DRAWN)
    assert SCREENSHOTS is not None
    photograph(page, Path(SCREENSHOTS) / f"{name}-{theme}-{width}.png", _TALLEST[width])
