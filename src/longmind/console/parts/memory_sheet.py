"""The sheet that shows one memory: what it says, where it comes from, how it changed, and what can be done with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from nicegui import ui

from longmind.console.parts.dialogs import confirm
from longmind.console.parts.elements import attributes, box, button, icon_button, text
from longmind.console.parts.kinds import kind_badge, tag
from longmind.console.parts.memory_changes import changed_fields, operations
from longmind.console.parts.messages import problem, say
from longmind.console.parts.panels import pairs
from longmind.console.parts.provenance import show_sources
from longmind.console.parts.times import day, exact, time_ago
from longmind.console.view import View
from longmind.errors import LongmindError, NotFound
from longmind.types import Change, Memory

_STATES = {"superseded": "warn", "stale": "warn", "archived": ""}


class MemorySheet:
    """A dialog at the right edge; ``open`` shows a memory in it. ``on_change`` is awaited after one was changed."""

    def __init__(self, view: View, on_change: Callable[[], Awaitable[None]]) -> None:
        self._view = view
        self._on_change = on_change
        self._dialog = ui.dialog().props("position=right full-height")
        with self._dialog:
            self._card = box("div", "lm-sheet")
        attributes(self._card, role="dialog", aria_label="Memory", aria_modal="true")

    async def open(self, id: str) -> None:
        """Show a memory."""
        memory, changes, error = await self._read(id)
        self._card.clear()
        with self._card:
            with box("header", "lm-row"):
                if memory is not None:
                    kind_badge(memory.kind)
                    if memory.state != "active":
                        tag(memory.state, _STATES.get(memory.state, ""))
                else:
                    tag("forgotten", "warn")
                box("span", "lm-grow")
                icon_button("close", "Close", self._dialog.close)
            if error is not None:
                problem(error)
            elif memory is not None:
                await self._show(memory, changes)
            else:
                text("It was forgotten. Its history remains, and an undo brings it back.", "lm-note", "p")
                self._history(id, changes)
        self._dialog.open()

    async def _read(self, id: str) -> tuple[Memory | None, Sequence[Change], LongmindError | None]:
        try:
            return (
                await self._view.memory.get(id, include_expired=True),
                await self._view.memory.history(id),
                None,
            )
        except NotFound as error:
            return None, (), error

    async def _show(self, memory: Memory, changes: Sequence[Change]) -> None:
        attributes(text(memory.content, "lm-text lm-said", "p"), data_memory=memory.id)
        pairs(_properties(memory))
        with box("section", "lm-stack"):
            text("Where it comes from", "", "h2")
            await show_sources(self._view, memory, changes, self.open)
        if self._view.may_write:
            self._edit(memory)
        self._history(memory.id, changes)

    def _edit(self, memory: Memory) -> None:
        with ui.expansion("Change or forget it").classes("lm-expansion"), box("div", "lm-stack"):
            content = ui.textarea("What it says", value=memory.content).props("outlined autogrow")
            importance = ui.number("Importance, 0 to 1", value=memory.importance, min=0, max=1, step=0.1)
            importance.props("outlined dense")
            tags = ui.input("Tags, with commas between them", value=", ".join(memory.tags)).props("outlined dense")
            reason = ui.input("Why you change it").props("outlined dense")

            async def save() -> None:
                wanted = {
                    "content": content.value,
                    "importance": float(importance.value),
                    "tags": tuple(word.strip() for word in (tags.value or "").split(",") if word.strip()),
                }
                changes = {name: value for name, value in wanted.items() if value != getattr(memory, name)}
                if not changes:
                    say("Nothing was changed.")
                    return
                await self._view.memory.update(
                    memory.id, expected_version=memory.version, reason=reason.value or "console", **changes
                )
                say("Saved. The history below can undo it.")
                await self.open(memory.id)
                await self._on_change()

            async def forget() -> None:
                await self._view.memory.forget(memory.id, reason="console")
                say("Forgotten. An undo brings it back.")
                await self.open(memory.id)
                await self._on_change()

            with box("div", "lm-row"):
                button("Save", save, look="primary")
                button(
                    "Forget",
                    lambda: confirm(
                        "Forget this memory?",
                        "No recall finds it any more. Its history keeps it, and an undo brings it back.",
                        "Forget",
                        forget,
                    ),
                )

    def _history(self, id: str, changes: Sequence[Change]) -> None:
        with box("section", "lm-stack"):
            text("History", "", "h2")
            with box("ol", "lm-history"):
                for operation, lines in operations(changes):
                    with box("li", "lm-stack"):
                        with box("div", "lm-row"):
                            text(lines[0].reason or lines[0].action, "lm-strong")
                            text(f"by {lines[0].actor}", "lm-note")
                            box("span", "lm-grow")
                            time_ago(lines[0].at)
                        for name, before, after in changed_fields(lines):
                            with box("div", "lm-diff"):
                                text(name, "lm-note")
                                if before:
                                    text(before, "lm-removed lm-clip-3", "del")
                                text(after or "nothing", "lm-added lm-clip-3", "ins")
                        if self._view.may_write:
                            self._undo_button(id, operation, lines)

    def _undo_button(self, id: str, operation: str, lines: Sequence[Change]) -> None:
        async def undo() -> None:
            undone = await self._view.memory.undo(operation)
            say(f"Undone: {len(undone.changes):,} memories changed. The undo can be undone, too.")
            await self.open(id)
            await self._on_change()

        def ask() -> None:
            confirm(
                "Undo this operation?",
                "Everything that it changed goes back, this memory and others. The undo can be undone.",
                "Undo",
                undo,
            )

        alone = lines[0].actor != "consolidation"
        shown = button("Undo", undo if alone else ask, icon="undo")
        attributes(shown, aria_label=f"Undo {lines[0].reason or lines[0].action}")


def _properties(memory: Memory) -> dict[str, str]:
    validity = ""
    if memory.valid_from or memory.valid_to:
        start = day(memory.valid_from) if memory.valid_from else "ever"
        validity = f"{start} until {day(memory.valid_to) if memory.valid_to else 'now'}"
    known = {
        "Happened": exact(memory.occurred_at),
        "Recorded": exact(memory.recorded_at),
        "True": validity,
        "User": memory.user or "nobody in particular",
        "Session": memory.session or "",
        "Said by": memory.source.name or memory.source.role,
        "Source": memory.source.uri or "",
        "Importance": f"{memory.importance:.2f}, trust {memory.trust:.2f}",
        "Tags": ", ".join(memory.tags),
        "Recalled": f"{memory.access_count:,} times",
        "Id": memory.id,
    }
    return {name: value for name, value in known.items() if value}
