"""The frame around every page: skip link, header with agent and user, navigation, and the place for content."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nicegui import ui

from longmind.console.pages import GROUPS, PAGES, Page
from longmind.console.parts.elements import attributes, box, text
from longmind.console.view import EVERYONE, View

_THEMES = {"dark": True, "light": False}
_SWITCH_THEME = """() => {
    const dark = !document.body.classList.contains("body--dark");
    Quasar.Dark.set(dark);
    window.rememberTheme(dark ? "dark" : "light");
}"""


@contextmanager
def frame(view: View, page: Page, theme: str | None) -> Iterator[None]:
    """Build the frame; what is built inside is the content of the page."""
    if theme in _THEMES:
        ui.dark_mode(_THEMES[theme])
    content = ui.context.client.content
    content.classes("lm")
    content.tag = "main"
    drawer = ui.left_drawer(bordered=True).props("width=256")
    _header(view, drawer)
    with drawer:
        _navigation(view, page)
    ui.skip_link(target=content)
    with content:
        yield


def _header(view: View, drawer: Any) -> None:
    with ui.header(wrap=False).classes("lm-header"):
        menu = ui.button(icon="menu", on_click=drawer.toggle, color=None).props("flat round")
        attributes(menu.classes("lm-icon lm-menu-button"), aria_label="Navigation")
        with attributes(box("a", "lm-brand"), href=view.link("/")):
            attributes(box("img"), src="/console/mark.svg", alt="")
            text("Longmind", "")
        box("div", "lm-grow")
        box("div", "lm-break")
        if view.agents:
            _pick("Agent", view.agent, {name: name for name in view.agents}, view, "agent")
            _pick_user(view)
        switch = ui.button(icon="contrast", color=None).props("flat round").classes("lm-icon")
        switch.on("click", js_handler=_SWITCH_THEME)
        attributes(switch, aria_label="Light or dark")
        if view.signed_in:
            with attributes(box("form"), method="post", action="/sign-out"):
                leave = ui.button(icon="logout", color=None).props("flat round type=submit").classes("lm-icon")
                attributes(leave, aria_label="Sign out")


def _pick_user(view: View) -> None:
    if not view.may_administer or view.principal.user is not None:
        if view.user:
            text(view.user, "lm-tag")
        return
    options = {EVERYONE: "everyone"} | {name: name for name in view.users}
    _pick("User", EVERYONE if view.everyone else view.user, options, view, "user")


def _pick(label: str, value: str | None, options: dict[str, str], view: View, parameter: str) -> None:
    def choose(event: Any) -> None:
        changes: dict[str, str | None] = {parameter: event.value}
        if parameter == "agent":
            changes["user"] = None  # the users of another agent are others
        ui.navigate.to(view.link(view.path, **changes))

    if value is not None and value not in options:
        options = {value: value, **options}
    chooser = ui.select(options, value=value, on_change=choose).props("outlined dense options-dense")
    attributes(chooser.classes("lm-pick"), prefix=label, aria_label=label)


def _is_shown(view: View, page: Page) -> bool:
    has_data = page.episode is None or page.episode in view.episode_types
    return has_data and view.principal.allows(page.permission)


def _navigation(view: View, current: Page) -> None:
    with attributes(box("nav", "lm-nav"), aria_label="Pages"):
        for group in GROUPS:
            pages = [page for page in PAGES if page.group == group and _is_shown(view, page)]
            if not pages:
                continue
            text(group, "lm-nav-group", "div")
            for page in pages:
                with attributes(box("a"), href=view.link(page.path), data_key=page.key) as anchor:
                    if page is current:
                        attributes(anchor, aria_current="page")
                    attributes(ui.icon(page.icon), aria_hidden="true")
                    text(page.title, "")
                    attributes(text(f"g {page.key}", "", "kbd"), aria_hidden="true")
