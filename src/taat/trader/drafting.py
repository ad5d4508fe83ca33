"""Drafts about positions that open and close: written by the stored procedure, and never sent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal

from taat.memory import Trade, TraderMemory
from taat.procedures import DRAFT_MESSAGE
from taat.trader.journal import Journal

Change = Literal["opened", "closed"]
TellDraft = Callable[[datetime, str, str], None]
"""Called with the moment, the announcer and the text."""


class Drafts:
    """Drafts a message for each position that opens or closes, if the user wants that.

    What is to be drafted is stored with the executions, so a kill loses no draft, and its run has a key, so none is
    written twice.
    """

    def __init__(self, memory: TraderMemory, journal: Journal, tell_draft: TellDraft) -> None:
        self._memory, self._journal, self._tell_draft = memory, journal, tell_draft
        self.wanted = False

    def add(self, trade: Trade, change: Change, at: datetime) -> None:
        """Take note that a position opened or closed."""
        if not self.wanted:
            return
        waiting: list[dict[str, Any]] = list(self._journal.get("to_draft") or ())
        item = {"signal": trade.id, "change": change, "announcer": trade.announcer, "at": at.isoformat()}
        self._journal.set(to_draft=[*waiting, item])

    async def write(self) -> None:
        """Write what waits. The executions it is about must be stored."""
        waiting = self._journal.get("to_draft")
        for item in waiting or ():
            params = {name: item[name] for name in ("signal", "change", "at")}
            key = f"taat:draft:{item['signal']}:{item['change']}"
            run = await self._memory.agent.procedural.execute(DRAFT_MESSAGE, params, key=key)
            if run.finished_at is None:
                run = await self._memory.agent.procedural.resume(run.id, take_over=True)
            if run.result:
                self._tell_draft(datetime.fromisoformat(item["at"]), item["announcer"], str(run.result))
        if waiting:
            self._journal.set(to_draft=[])
