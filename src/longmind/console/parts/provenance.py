"""Where a memory comes from: its sources, with the exact words marked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from longmind.console.parts.elements import box, button, text
from longmind.console.parts.kinds import kind_badge
from longmind.console.parts.memory_changes import source_ids
from longmind.console.parts.times import date_of
from longmind.console.view import View
from longmind.types import Change, Memory

_SHOWN = 20


async def show_sources(
    view: View, memory: Memory, changes: Sequence[Change], open: Callable[[str], Awaitable[None]]
) -> None:
    """Show what a memory was drawn from; of what was said itself, who said it."""
    sources = source_ids(dict(memory.body), changes)
    if not sources:
        role = {"user": "a person", "assistant": "the agent itself", "document": "a document", "tool": "a tool"}
        who = memory.source.name or role.get(memory.source.role, "the system")
        text(f"It is a source itself: {who} said or wrote it in these words.", "lm-note", "p")
        return
    ids = list(sources)[:_SHOWN]
    where = {"ids": ids, "states": None, "expired": None}
    page = await view.memory.list(where=where, order="occurred", descending=False, limit=_SHOWN)
    for source in page.items:
        with box("article", "lm-source"):
            with box("div", "lm-row"):
                kind_badge(source.kind)
                text(source.source.name or source.source.role, "lm-note")
                date_of(source.occurred_at)
                box("span", "lm-grow")
                button("Open", partial(open, source.id))
            marked(source.content, sources[source.id])
    missing = len(sources) - len(page.items)
    if missing:
        text(f"{missing:,} more were forgotten, or are not shown.", "lm-note", "p")


def marked(content: str, spans: Sequence[tuple[int, int]]) -> None:
    """Show a text with some ranges of it marked."""
    with box("p", "lm-text"):
        end = 0
        for start, stop in sorted(spans):
            start, stop = max(start, end), min(stop, len(content))
            if start >= stop:
                continue
            if content[end:start]:
                text(content[end:start])
            text(content[start:stop], "lm-text lm-mark", "mark")
            end = stop
        if content[end:]:
            text(content[end:])
