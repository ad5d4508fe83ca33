"""``consolidate``: runs over one agent take turns, and a run that meets one of another process begins again."""

from __future__ import annotations

import asyncio
import logging
import random
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakValueDictionary

from longmind.config import AgentSettings
from longmind.consolidate.cycle import Cycle, Progress
from longmind.errors import Conflict, NotFound
from longmind.store.store import Store
from longmind.types import ConsolidationReport, Scope

if TYPE_CHECKING:
    from longmind.models.chat import Chat
    from longmind.store.store import Embed

_RUNS = 8
"""How often a run begins again when another process consolidates the same agent."""
_PAUSE_SECONDS = 0.1
_turns: WeakKeyDictionary[Store, WeakValueDictionary[tuple[str, str], asyncio.Lock]] = WeakKeyDictionary()
_log = logging.getLogger("longmind")


async def consolidate(
    store: Store,
    scope: Scope,
    settings: AgentSettings,
    embed: Embed,
    *,
    dry_run: bool = False,
    chat: Chat | None = None,
    progress: Progress | None = None,
) -> ConsolidationReport:
    """Turn what is new in a scope into knowledge, with the help of a language model where there is one.

    Runs over one agent take turns: within this process one waits for the other, and a run that meets one of another
    process begins again after it. If that one goes on for too long, the report says so in ``stopped``.
    """
    async with _turn(store, scope):
        for attempt in range(_RUNS):
            cycle = Cycle(store, scope, settings, store.clock, embed, progress=progress)
            if chat is not None:
                from longmind.consolidate.model import ChatExtractor, ChatSummaryWriter, ChatTeacher

                cycle.extractor, cycle.summary_writer = ChatExtractor(chat), ChatSummaryWriter(chat)
                cycle.teacher = ChatTeacher(chat)
            try:
                return await cycle.run(dry_run=dry_run)
            except (Conflict, NotFound) as conflict:
                _log.info("A consolidation of %s met another one and begins again: %s", scope.agent, conflict)
                await asyncio.sleep(random.uniform(0.5, 1.5) * _PAUSE_SECONDS * (attempt + 1))
        return cycle.stopped_report("another process consolidates this agent")


def _turn(store: Store, scope: Scope) -> asyncio.Lock:
    """Return the lock of an agent: its users share bookmarks and facts."""
    locks = _turns.setdefault(store, WeakValueDictionary())
    agent = (scope.tenant, scope.agent)
    lock = locks.get(agent)
    if lock is None:
        lock = locks[agent] = asyncio.Lock()
    return lock
