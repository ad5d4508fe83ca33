"""Dialogs that ask for something or show more of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from nicegui import ui

from longmind.console.parts.elements import attributes, box, button, text


@contextmanager
def dialog(heading: str, *, wide: bool = False, role: str = "dialog", persistent: bool = False) -> Iterator[ui.dialog]:
    """Open a dialog with a heading; what is built inside goes into it.

    It belongs to the page, not to what opened it, so that it stays when that is built again; and it is removed from the
    page when it has closed. A ``persistent`` one closes by its buttons alone.
    """
    with (
        ui.context.client.content,
        box("div") as place,
        ui.dialog() as opened,
        box("div", "lm-dialog lm-wide" if wide else "lm-dialog") as card,
    ):
        shown = text(heading, "", "h2")
        yield opened
    attributes(card, role=role, aria_labelledby=shown.html_id, aria_modal="true")
    if persistent:
        opened.props("persistent")

    def remove() -> None:
        opened.delete()
        place.delete()

    opened.on("hide", remove)
    opened.open()


async def close_and(opened: ui.dialog, action: Callable[[], Awaitable[object]]) -> None:
    """Close a dialog, and do something in the name of the page: what is in the dialog is removed meanwhile."""
    with ui.context.client.content:
        opened.close()
        await action()


def ask(
    heading: str,
    label: str,
    action: str,
    on_answer: Callable[[str], Awaitable[None]],
    *,
    note: str = "",
    required: bool = False,
) -> None:
    """Ask for a line of text, such as a reason, and do something with it."""
    with dialog(heading) as opened:
        if note:
            text(note, "", "p")
        answer = ui.input(label).props("outlined dense autofocus")

        async def act() -> None:
            said = (answer.value or "").strip()
            if said or not required:
                await close_and(opened, lambda: on_answer(said))

        answer.on("keydown.enter", act)
        with box("div", "lm-actions"):
            button("Cancel", opened.close)
            go = button(action, act, look="primary")
        if required:
            go.bind_enabled_from(answer, "value", backward=lambda value: bool((value or "").strip()))


def confirm(
    heading: str,
    consequence: str,
    action: str,
    on_confirm: Callable[[], Awaitable[None]],
    *,
    type_to_confirm: str | None = None,
) -> None:
    """Ask before something that matters. With ``type_to_confirm`` the person must type this text first."""
    with dialog(heading, role="alertdialog") as opened:
        text(consequence, "", "p")
        typed: ui.input | None = None
        if type_to_confirm is not None:
            typed = ui.input(f"Type {type_to_confirm} to go on").props("outlined dense autofocus")
        with box("div", "lm-actions"):
            button("Cancel", opened.close)
            go = button(action, lambda: close_and(opened, on_confirm), look="danger")
        if typed is not None:
            go.bind_enabled_from(typed, "value", backward=lambda value: value == type_to_confirm)
