"""Plain elements and their attributes, and the only way in which what a memory says reaches a page: as text.

NiceGUI evaluates attributes whose name begins with a colon, reads the text given to ``props``, ``classes`` and
``style`` as instructions, and offers elements that take HTML or Markdown. So a page writes only constants there, and
sets everything else with the functions of this module; ``tests/console/test_source.py`` sees to it.
"""

from __future__ import annotations

import re
from typing import Any

from nicegui import ui
from nicegui.element import Element

_SIZE = re.compile(r"-?[0-9]+(\.[0-9]+)?(px|rem|%|fr)?|var\(--[a-z0-9_-]+\)")
_LONGEST = 20_000
"""Characters of a text that are sent to a browser; the rest is cut off and said so."""


def text(value: object, classes: str = "lm-text", tag: str = "span") -> ui.label:
    """Show a text as it is: nothing in it is read as HTML, Markdown or a template."""
    shown = str(value)
    if len(shown) > _LONGEST:
        shown = f"{shown[:_LONGEST]}… ({len(shown):,} characters)"
    label = ui.label(shown)
    label.tag = tag
    return label.classes(classes)


def box(tag: str = "div", classes: str = "") -> Element:
    """Return an element to put others in."""
    return ui.element(tag).classes(classes)


def attributes(element: Element, **values: str | int | float | bool | None) -> Element:
    """Set attributes of an element. An underscore in a name stands for a hyphen; an address stays on this server."""
    for name, value in values.items():
        written = name.rstrip("_").replace("_", "-")
        if written in ("href", "src") and not re.match(r"[/#](?!/)", str(value)):
            raise ValueError(f"{written} must lead to this server.")
        element.props[written] = value
    return element


def sized(element: Element, **values: str | int | float) -> Element:
    """Set the style of an element: sizes and colours of the palette only."""
    for name, value in values.items():
        if not _SIZE.fullmatch(str(value)):
            raise ValueError(f"{value!r} is no size and no colour of the palette.")
        element.style[name.replace("_", "-")] = str(value)
    element.update()
    return element


def link(label: str, address: str, classes: str = "") -> Element:
    """Show a link to a page of the console."""
    anchor = text(label, classes, "a")
    return attributes(anchor, href=address)


def button(label: str, on_click: Any, *, look: str = "quiet", icon: str | None = None) -> ui.button:
    """Show a button: ``primary`` for what the page is for, ``quiet`` for the rest, ``danger`` for what is final."""
    looks = {"primary": "lm-primary", "quiet": "lm-quiet", "danger": "lm-danger"}
    return ui.button(label, on_click=on_click, icon=icon, color=None).props("flat no-caps").classes(looks[look])


def icon_button(icon: str, label: str, on_click: Any) -> ui.button:
    """Show a button that is an icon. ``label`` says what it does, to those who hear it and in a tooltip."""
    made = ui.button(icon=icon, on_click=on_click, color=None).props("flat round").classes("lm-icon")
    attributes(made, aria_label=label)
    with made:
        ui.tooltip(label)
    return made
