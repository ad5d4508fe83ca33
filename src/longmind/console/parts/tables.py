"""Tables whose rows come a page at a time, by cursor, however many there are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from nicegui import ui

from longmind.console.parts.elements import attributes, box, button, text
from longmind.types import Page

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Column(Generic[T]):
    """A column: its heading, and what shows a row's cell in it."""

    heading: str
    show: Callable[[T], object]
    right: bool = False
    """Whether it holds numbers."""
    main: bool = False
    """Whether it is what the row is about: on a phone it has a line of its own, above the rest."""


class PagedTable(Generic[T]):
    """A table of one page of rows, with buttons to the next and the previous.

    ``load`` gets a page by its cursor, None for the first. Only one page is ever in the browser, so a hundred thousand
    rows cost no more than fifty. ``on_empty`` shows what to do where there are no rows at all.
    """

    def __init__(
        self,
        columns: Sequence[Column[T]],
        load: Callable[[str | None], Awaitable[Page[T]]],
        *,
        label: str,
        on_empty: Callable[[], object],
    ) -> None:
        self._columns = columns
        self._load = load
        self._label = label
        self._on_empty = on_empty
        self._cursors: list[str | None] = [None]
        self._place = box("div")

    async def refresh(self) -> None:
        """Show the first page."""
        self._cursors = [None]
        await self._show()

    async def _show(self) -> None:
        page = await self._load(self._cursors[-1])
        self._place.clear()
        with self._place:
            if not page.items and len(self._cursors) == 1:
                self._on_empty()
                return
            self._table(page.items)
            if page.cursor is not None or len(self._cursors) > 1:
                self._pager(page)

    def _table(self, items: Sequence[T]) -> None:
        with box("div", "lm-table-wrap"), box("table", "lm-table lm-stacked") as table:
            attributes(table, aria_label=self._label)
            with box("thead"), box("tr"):
                for column in self._columns:
                    heading = text(column.heading, "lm-right" if column.right else "", "th")
                    attributes(heading, scope="col")
            with box("tbody"):
                for item in items:
                    with box("tr"):
                        for column in self._columns:
                            with box("td", "lm-right" if column.right else "lm-main" if column.main else ""):
                                column.show(item)

    def _pager(self, page: Page[T]) -> None:
        async def forward() -> None:
            self._cursors.append(page.cursor)
            await self._show()

        async def back() -> None:
            self._cursors.pop()
            await self._show()

        with box("nav", "lm-pager") as pager:
            attributes(pager, aria_label=f"Pages of {self._label}")
            text(f"Page {len(self._cursors)}", "lm-note")
            previous: ui.button = button("Previous", back, icon="chevron_left")
            previous.set_enabled(len(self._cursors) > 1)
            following = button("Next", forward, icon="chevron_right")
            following.set_enabled(page.cursor is not None)
