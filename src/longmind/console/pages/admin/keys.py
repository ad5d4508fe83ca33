"""The keys of the tenant: make, list and revoke them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from nicegui import ui

from longmind.console.parts.dialogs import confirm, dialog
from longmind.console.parts.elements import attributes, box, button, text
from longmind.console.parts.kinds import tag
from longmind.console.parts.messages import empty, say
from longmind.console.parts.panels import panel
from longmind.console.parts.tables import Column, PagedTable
from longmind.console.parts.times import ago, date_of
from longmind.console.view import View
from longmind.security import ApiKey, NewKey
from longmind.types import Page

_MAY = {"read": "read", "write": "read and write", "admin": "read, write and administer"}
_ROWS = 25
_COPY = """() => navigator.clipboard.writeText(document.querySelector("[data-new-key]").textContent)"""


async def build_keys(view: View) -> None:
    """Build the form for a new key and the list."""
    keys = _Keys(view)
    with panel("Make a key", "it is shown once"):
        keys.form()
    with panel("Keys", "newest first"):
        keys.table = PagedTable(
            (
                Column("Name", keys.name, main=True),
                Column("May", lambda key: text(_permission(key), "")),
                Column("Agents", lambda key: text(", ".join(sorted(key.agents)) if key.agents else "all", "lm-text")),
                Column("Made", lambda key: date_of(key.created_at)),
                Column(
                    "Last used", lambda key: text(ago(key.last_used_at) if key.last_used_at else "never", "lm-time")
                ),
                Column("State", keys.state),
            ),
            keys.load,
            label="keys",
            on_empty=lambda: empty(
                "There are no keys yet",
                "Without keys the server answers on its own machine only, to everybody there. After you made one,"
                " start it again: then it asks for keys.",
            ),
        )
    await keys.table.refresh()


class _Keys:
    def __init__(self, view: View) -> None:
        self._view = view
        self.table: PagedTable[ApiKey] | None = None

    def form(self) -> None:
        """Build the form for a new key."""
        with box("div", "lm-form"):
            self._name = ui.input("Name").props("outlined dense")
            self._permission = ui.select(_MAY, value="read", label="May").props("outlined dense options-dense")
            self._agents = ui.select(list(self._view.agents), multiple=True, label="Agents; empty is all")
            self._agents.props("outlined dense options-dense use-chips")
            self._days = ui.number("Valid for days; empty is for ever", min=1, precision=0).props("outlined dense")
            button("Make the key", self._create, look="primary")

    async def load(self, cursor: str | None) -> Page[ApiKey]:
        """Return a page of the keys; the server gives them all at once."""
        keys, start = await self._view.keys.list(), int(cursor or 0)
        following = str(start + _ROWS) if start + _ROWS < len(keys) else None
        return Page[ApiKey](items=tuple(keys[start : start + _ROWS]), cursor=following)

    def name(self, key: ApiKey) -> None:
        """Show the name and the id of a key."""
        with box("div"):
            text(key.name, "lm-text lm-strong", "div")
            text(key.id, "lm-mono lm-note", "div")

    def state(self, key: ApiKey) -> None:
        """Show whether a key is valid, with the button that revokes it."""
        if key.revoked_at is not None:
            tag("revoked", "bad")
        elif not key.is_valid(datetime.now(UTC)):
            tag("expired", "warn")
        else:
            own = key.id == self._view.principal.key_id
            consequence = "Programs that use it are refused within seconds. It cannot be made valid again."
            if own:
                consequence += " It is the key that you are signed in with."

            async def revoke() -> None:
                await self._view.keys.revoke(key.id)
                say(f"Revoked {key.name}.")
                assert self.table is not None
                await self.table.refresh()

            with box("div", "lm-row"):
                tag("valid", "good")
                shown = button("Revoke", lambda: confirm(f"Revoke {key.name}?", consequence, "Revoke", revoke))
                attributes(shown, aria_label=f"Revoke {key.name}")

    async def _create(self) -> None:
        days = self._days.value
        made = await self._view.keys.create(
            (self._name.value or "").strip(),
            permissions=[self._permission.value],
            agents=self._agents.value or None,
            expires_at=datetime.now(UTC) + timedelta(days=days) if days else None,
        )
        self._name.value = ""
        _show_new(made)
        assert self.table is not None
        await self.table.refresh()


def _permission(key: ApiKey) -> str:
    return next(_MAY[name] for name in ("admin", "write", "read") if name in key.permissions)


def _show_new(key: NewKey) -> None:
    with dialog(f"The key {key.name}", persistent=True) as opened:
        text("Keep it now: it is not shown again, and only its hash is stored.", "", "p")
        attributes(text(key.key, "lm-code", "pre"), data_new_key="", tabindex=0)
        with box("div", "lm-actions"):
            copy = button("Copy", None, icon="content_copy")
            copy.on("click", js_handler=_COPY)
            button("I kept it", opened.close, look="primary")
