"""Recollect: a memory operating system for AI agents.

    from recollect import Recollect

    async with Recollect.open() as rc:
        mem = rc.agent("assistant", user="alice")
        await mem.remember("I moved to Lisbon in May.")
        hits = await mem.recall("where does she live?")

``recollect.sync`` has the same verbs, blocking.
"""

from recollect.agent_memory import AgentMemory
from recollect.config import AgentSettings, Settings
from recollect.errors import RecollectError
from recollect.memory import Recollect
from recollect.types import Change, Document, Filter, Hit, Link, Memory, Message, Page, Scope, Source, Stats

__version__ = "0.1.0"

__all__ = [
    "AgentMemory",
    "AgentSettings",
    "Change",
    "Document",
    "Filter",
    "Hit",
    "Link",
    "Memory",
    "Message",
    "Page",
    "Recollect",
    "RecollectError",
    "Scope",
    "Settings",
    "Source",
    "Stats",
]
