"""The title of a page and its panels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nicegui.element import Element

from longmind.console.parts.elements import box, text


def title(heading: str, lead: str = "") -> Element:
    """Show the title of a page and, in a sentence, what it is for. Actions go into what it returns."""
    with box("div", "lm-title") as shown, box("div"):
        text(heading, "", "h1")
        if lead:
            text(lead, "lm-lead", "p")
    return shown


@contextmanager
def panel(heading: str, note: str = "", classes: str = "lm-span-12") -> Iterator[Element]:
    """Show a panel with a heading; what is built inside goes into it."""
    with box("section", "lm-panel").classes(classes) as shown:
        with box("header"):
            text(heading, "", "h2")
            if note:
                text(note, "lm-note")
        yield shown


def grid() -> Element:
    """Return a grid of twelve columns; its children say how many they span (``lm-span-4``)."""
    return box("div", "lm-grid")


def pairs(values: dict[str, str]) -> Element:
    """Show names and what each is."""
    with box("dl", "lm-pairs") as shown:
        for name, value in values.items():
            text(name, "", "dt")
            text(value, "", "dd")
    return shown
