"""Dialogs that ask for something or show more of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from nicegui import ui

from longmind.console.parts.elements import attributes, box, button, text


@contextmanager
def dialog(heading: str, *, wide: bool = False) -> Iterator[ui.dialog]:
    """Open a dialog with a heading; what is built inside goes into it.

    It belongs to the page, not to what opened it, so that it stays when that is built again.
    """
    with (
        ui.context.client.content,
        ui.dialog() as opened,
        box("div", "lm-dialog lm-wide" if wide else "lm-dialog") as card,
    ):
        shown = text(heading, "", "h2")
        yield opened
    attributes(card, role="dialog", aria_labelledby=shown.html_id, aria_modal="true")
    opened.open()


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
            if required and not (answer.value or "").strip():
                return
            opened.close()
            await on_answer((answer.value or "").strip())

        answer.on("keydown.enter", act)
        with box("div", "lm-actions"):
            button("Cancel", opened.close)
            go = button(action, act, look="primary")
        if required:
            go.bind_enabled_from(answer, "value", backward=lambda value: bool((value or "").strip()))
