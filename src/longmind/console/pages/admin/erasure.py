"""Erasure of a user or an agent, with its receipt, and the check of a receipt."""

from __future__ import annotations

from nicegui import ui
from pydantic import ValidationError

from longmind.console.parts.dialogs import confirm
from longmind.console.parts.elements import attributes, box, button, text
from longmind.console.parts.figures import plural
from longmind.console.parts.messages import say, say_problem
from longmind.console.parts.panels import pairs, panel
from longmind.console.parts.times import exact
from longmind.console.view import View
from longmind.erasure import ErasureReceipt
from longmind.errors import InvalidInput

_SUBJECTS = {"user": "A user, in every agent", "agent": "An agent, with all its users"}


async def build_erasure(view: View) -> None:
    """Build the form that erases, and the one that checks a receipt."""
    erasure = _Erasure(view)
    with panel("Erase", "it cannot be undone"):
        erasure.form()
    with panel("Check a receipt", "whether anything of an erasure is there, or there again"):
        erasure.check_form()


class _Erasure:
    def __init__(self, view: View) -> None:
        self._view = view

    def form(self) -> None:
        """Build the form that erases."""
        text(
            "All that belongs to it is removed for good: memories of every kind and state, what was derived from them,"
            " vectors, links, and what the journal tells of them.",
            "lm-note",
            "p",
        )
        with box("div", "lm-form lm-after"):
            self._subject = ui.select(_SUBJECTS, value="user", label="What").props("outlined dense options-dense")
            self._name = ui.input("Name", autocomplete=[*self._view.users, *self._view.agents]).props("outlined dense")
            button("Erase", self._ask, look="danger")
        self._receipt = box("div")

    def check_form(self) -> None:
        """Build the form that checks a receipt."""
        with box("div", "lm-stack"):
            self._pasted = ui.textarea("The receipt, as JSON").props("outlined autogrow")
            with box("div", "lm-row"):
                button("Check", self._check_pasted)
            self._checked = box("div")

    def _ask(self) -> None:
        name, subject = (self._name.value or "").strip(), self._subject.value
        if not name:
            say_problem(InvalidInput("Say whose memories are to be erased."))
            return

        async def erase() -> None:
            longmind = self._view.longmind
            receipt = await (longmind.erase_user(name) if subject == "user" else longmind.erase_agent(name))
            self._show(receipt)

        confirm(
            f"Erase the {subject} {name}?",
            "Nothing of it remains, and no undo brings it back. The receipt says what was removed, without its words.",
            "Erase for good",
            erase,
            type_to_confirm=name,
        )

    def _show(self, receipt: ErasureReceipt) -> None:
        self._receipt.clear()
        with self._receipt, box("section", "lm-stack lm-receipt"):
            text("Receipt", "", "h3")
            kinds: dict[str, int] = {}
            for agent in receipt.agents:
                for kind, number in agent.kinds.items():
                    kinds[kind] = kinds.get(kind, 0) + number
            removed = f"{plural(receipt.memories, 'memory', 'memories')} of {plural(len(receipt.agents), 'agent')}"
            pairs(
                {
                    "Erased": exact(receipt.at),
                    "Removed": removed,
                    "By kind": ", ".join(f"{kind} {number:,}" for kind, number in sorted(kinds.items())) or "none",
                    "Shared statements": f"{receipt.shared:,} lost support",
                    "Still to do": "; ".join(receipt.pending) or "nothing",
                    "Id": receipt.id,
                }
            )
            written = receipt.model_dump_json(indent=2)
            attributes(text(written, "lm-code lm-receipt-text", "pre"), tabindex=0, aria_label="Receipt as JSON")
            with box("div", "lm-row"):
                button("Download", lambda: ui.download.content(written, f"erasure-{receipt.id}.json"))
                button("Check now", lambda: self._check(receipt))

    async def _check_pasted(self) -> None:
        try:
            receipt = ErasureReceipt.model_validate_json(self._pasted.value or "")
        except ValidationError:
            say_problem(InvalidInput("This is no receipt of an erasure.", hint="Paste the whole JSON."))
            return
        await self._check(receipt)

    async def _check(self, receipt: ErasureReceipt) -> None:
        check = await self._view.longmind.verify_erasure(receipt)
        self._checked.clear()
        with self._checked:
            if check.ok:
                text("Nothing of this erasure is in the store.", "lm-strong", "p")
            else:
                found = f"{plural(check.memories, 'memory', 'memories')} and {plural(check.changes, 'change')}"
                text(f"Found again: {found}.", "lm-strong", "p")
            for pending in check.pending:
                text(pending, "lm-note", "p")
        say("Nothing of it is there." if check.ok else "Something of it is there.")
