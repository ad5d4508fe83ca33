"""The audit: who accessed the memories of the tenant."""

from __future__ import annotations

from nicegui import ui

from longmind.console.parts.elements import box, button, text
from longmind.console.parts.kinds import tag
from longmind.console.parts.messages import empty
from longmind.console.parts.panels import panel
from longmind.console.parts.tables import Column, PagedTable
from longmind.console.parts.times import time_ago
from longmind.console.view import View
from longmind.security import AuditLine
from longmind.types import Page

_ROWS = 50


async def build_audit(view: View) -> None:
    """Build the list of accesses with its filters."""
    with panel("Accesses", "newest first; no text of a memory is in it"):
        with box("div", "lm-form") as form:
            key = ui.input("Key, its id").props("outlined dense clearable")
            agent = ui.input("Agent").props("outlined dense clearable")
            operation = ui.input("Operation, such as recall.recall").props("outlined dense clearable")

        async def load(cursor: str | None) -> Page[AuditLine]:
            return await view.audit.list(
                limit=_ROWS,
                cursor=cursor,
                key=key.value or None,
                agent=agent.value or None,
                operation=operation.value or None,
            )

        table = PagedTable(
            (
                Column("When", lambda line: time_ago(line.at)),
                Column("Operation", lambda line: text(line.operation, "lm-mono")),
                Column("Key", lambda line: text(line.key or line.subject or "none", "lm-mono")),
                Column("Agent", lambda line: text(line.agent or "", "lm-text")),
                Column("User", lambda line: text(line.user or "", "lm-text")),
                Column("Address", lambda line: text(line.address or "", "lm-mono")),
                Column("Answer", _answer),
            ),
            load,
            label="accesses",
            on_empty=lambda: empty(
                "No access was noted",
                "Accesses are noted where callers are known by keys. Make a key and start the server again.",
            ),
        )
        with form:
            button("Show", table.refresh)
        for field in (key, agent, operation):
            field.on("keydown.enter", table.refresh)
    await table.refresh()


def _answer(line: AuditLine) -> None:
    meaning = "good" if line.status < 400 else "bad"
    tag(f"{line.status} {line.error}".strip(), meaning)
