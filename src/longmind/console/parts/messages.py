"""What a page says when there is nothing to show, and when something went wrong."""

from __future__ import annotations

from nicegui import ui
from nicegui.element import Element

from longmind.console.parts.elements import attributes, box, text
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
