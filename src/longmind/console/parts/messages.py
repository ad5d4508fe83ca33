"""What a page says when there is nothing to show, when something went wrong, and before something final."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nicegui import ui
from nicegui.element import Element

from longmind.console.parts.elements import attributes, box, button, text
from longmind.errors import LongmindError


def empty(title: str, what_to_do: str, command: str | None = None) -> Element:
    """Say that there is nothing yet, and what to do; ``command`` can be copied into a shell or a program."""
    with box("section", "lm-empty") as shown:
        text(title, "", "h2")
        text(what_to_do, "", "p")
        if command is not None:
            attributes(text(command, "", "pre"), tabindex=0)
    return shown


def problem(error: LongmindError) -> Element:
    """Say in words what went wrong, and what to do."""
    with box("section", "lm-error") as shown:
        ui.icon("error_outline")
        with box("div", "lm-stack"):
            text(error.message, "lm-strong", "p")
            if error.hint:
                text(error.hint, "", "p")
    return attributes(shown, role="alert")


def say(message: str) -> None:
    """Say for a moment that something was done."""
    ui.notify(message, position="bottom", timeout=4000)


def say_problem(error: Exception) -> None:
    """Say for a moment what went wrong."""
    if isinstance(error, LongmindError):
        said = f"{error.message} {error.hint or ''}".strip()
    else:
        said = "The console failed at this. The server's log says where."
    ui.notify(said, type="negative", position="bottom", timeout=8000, close_button="Close")


def confirm(
    title: str,
    consequence: str,
    action: str,
    on_confirm: Callable[[], Awaitable[None]],
    *,
    type_to_confirm: str | None = None,
) -> None:
    """Ask before something that matters. With ``type_to_confirm`` the person must type this text first."""
    with ui.dialog() as dialog, box("div", "lm-dialog") as card:
        heading = text(title, "", "h2")
        text(consequence, "", "p")
        typed: ui.input | None = None
        if type_to_confirm is not None:
            typed = ui.input(f"Type {type_to_confirm} to go on").props("outlined dense autofocus")

        async def act() -> None:
            dialog.close()
            await on_confirm()

        with box("div", "lm-actions"):
            button("Cancel", dialog.close)
            go = button(action, act, look="danger")
        if typed is not None:
            go.bind_enabled_from(typed, "value", backward=lambda value: value == type_to_confirm)
    attributes(card, role="alertdialog", aria_labelledby=heading.html_id, aria_modal="true")
    dialog.open()
