"""Explorer: search what an agent knows, see why each memory was found, and follow, change or undo it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from nicegui import ui

from longmind.console.parts.elements import attributes, box, button, text
from longmind.console.parts.hits import show_hits
from longmind.console.parts.kinds import headline, kind_badge, kind_name, tag
from longmind.console.parts.memory_sheet import MemorySheet
from longmind.console.parts.messages import empty, problem, say_problem
from longmind.console.parts.panels import title
from longmind.console.parts.tables import Column, PagedTable
from longmind.console.parts.times import TimeSlider, time_ago
from longmind.console.view import View
from longmind.errors import LongmindError
from longmind.kinds import INTERNAL, KINDS
from longmind.types import Memory, Page

_HITS = 20
_ROWS = 30
_STATES = {"live": ("active", "stale", "superseded"), "archived": ("archived",), "any": None}
_NOTHING = 'longmind remember "I moved to Lisbon in May."'


async def build(view: View) -> None:
    """Build the page."""
    title("Explorer", "Search as the agent would, and see the part that every arm of recall had in each hit.")
    await Explorer(view).build()


class Explorer:
    """The search, its filters, and what it found."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._sheet = MemorySheet(view, self.refresh)
        self._searches = 0

    async def build(self) -> None:
        """Build the search and show the newest memories, or what the address names."""
        first_happened, first_recorded = await asyncio.gather(self._first("occurred"), self._first("recorded"))
        with box("section", "lm-panel lm-stack lm-search"):
            with attributes(box("div", "lm-row"), role="search"):
                self._query = ui.input(placeholder="Ask or search  ( / )", value=self._view.query.get("q", ""))
                self._query.props("outlined dense clearable").classes("lm-grow")
                attributes(self._query, aria_label="Search", data_search="")
                self._query.on("keydown.enter", self.refresh)
                self._query.on("clear", self.refresh)
                button("Search", self.refresh, look="primary", icon="search")
            with box("div", "lm-filters"):
                self._filters()
            with box("div", "lm-sliders"):
                now = datetime.now(UTC)
                self._as_of = TimeSlider("As the world was", first_happened, now, self.refresh)
                self._known_at = TimeSlider("As the agent knew", first_recorded, now, self.refresh)
        self._found = box("section", "lm-panel")
        attributes(self._found, aria_live="polite", aria_label="Results")
        await self.refresh()
        if id := self._view.query.get("id"):
            await self._sheet.open(id)

    def _filters(self) -> None:
        kinds = {kind: kind_name(kind) for kind in KINDS if kind not in INTERNAL}
        self._kinds = ui.select(kinds, multiple=True, label="Kinds", on_change=self.refresh, clearable=True)
        self._kinds.props("outlined dense options-dense use-chips")
        self._state = ui.select(list(_STATES), value="live", label="State", on_change=self.refresh)
        self._state.props("outlined dense options-dense")
        self._tags = ui.input("Tag").props("outlined dense clearable")
        self._session = ui.input("Session").props("outlined dense clearable")
        for field in (self._tags, self._session):
            field.on("keydown.enter", self.refresh)
            field.on("blur", self._left_a_field)
        self._importance = ui.select(
            {0.0: "any", 0.3: "0.3 and more", 0.5: "0.5 and more", 0.7: "0.7 and more"},
            value=0.0,
            label="Importance",
            on_change=self.refresh,
        )
        self._importance.props("outlined dense options-dense")

    async def _first(self, order: Any) -> datetime:
        """Return the day before the first memory, where a slider begins."""
        page = await self._view.memory.list(order=order, descending=False, limit=1)
        at = getattr(page.items[0], f"{order}_at") if page.items else datetime.now(UTC)
        return at.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1) + timedelta(seconds=86_399)

    def _where(self) -> dict[str, Any]:
        where: dict[str, Any] = {"states": _STATES[self._state.value]}
        if self._tags.value:
            where["tags_any"] = [self._tags.value.strip()]
        if self._session.value:
            where["sessions"] = [self._session.value.strip()]
        if self._importance.value:
            where["min_importance"] = self._importance.value
        return where

    async def _left_a_field(self) -> None:
        """Search again if what is typed has changed; otherwise who goes on with Tab would lose the place in a list."""
        if self._typed != (self._tags.value, self._session.value):
            await self.refresh()

    async def refresh(self) -> None:
        """Search again, or list what passes the filters where nothing is asked."""
        self._searches += 1
        self._typed = (self._tags.value, self._session.value)
        query = (self._query.value or "").strip()
        try:
            if query:
                await self._search(query)
            else:
                await self._list()
        except LongmindError as error:
            self._found.clear()
            with self._found:
                problem(error)

    async def _search(self, query: str) -> None:
        number = self._searches
        hits = await self._view.memory.recall(
            query,
            _HITS,
            kinds=self._kinds.value or None,
            where=self._where(),
            as_of=self._as_of.moment,
            known_at=self._known_at.moment,
            explain=True,
        )
        if number != self._searches:
            return  # another search began meanwhile
        self._found.clear()
        with self._found:
            with box("header"):
                text(f"{len(hits)} best hits" if len(hits) != 1 else "1 hit", "", "h2")
                text("a bar is as long as the score, in the shares of the arms", "lm-note")
            if hits:
                show_hits(hits, self._open)
            else:
                empty("Nothing was found", "Ask with other words, widen the filters, or move the sliders to now.")

    async def _list(self) -> None:
        where = self._where()
        if (moment := self._as_of.moment) is not None:
            where |= {"until": moment, "valid_at": moment}
        if (moment := self._known_at.moment) is not None:
            where["recorded_until"] = moment

        async def load(cursor: str | None) -> Page[Memory]:
            kinds = self._kinds.value or None
            return await self._view.memory.list(kinds=kinds, where=where, limit=_ROWS, cursor=cursor)

        self._found.clear()
        with self._found:
            with box("header"):
                text("Memories", "", "h2")
                text("newest first", "lm-note")
            table = PagedTable(
                (
                    Column("Kind", lambda memory: kind_badge(memory.kind)),
                    Column("What it says", self._content, main=True),
                    Column("User", lambda memory: text(memory.user or "", "lm-note")),
                    Column("Recorded", lambda memory: time_ago(memory.recorded_at), right=True),
                ),
                load,
                label="memories",
                on_empty=lambda: empty(
                    "No memories here", "Change the filters, choose another agent, or store a memory:", _NOTHING
                ),
            )
        await table.refresh()

    def _content(self, memory: Memory) -> None:
        opener = text(headline(memory, 600), "lm-clip-2 lm-opener", "button")
        attributes(opener, type="button")
        opener.on("click", lambda _, id=memory.id: self._open(id))
        if memory.state != "active":
            tag(memory.state, "warn")

    async def _open(self, id: str) -> None:
        try:
            await self._sheet.open(id)
        except LongmindError as error:
            say_problem(error)
