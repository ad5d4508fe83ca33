"""Longmind: a memory operating system for AI agents.

    from longmind import Longmind

    async with Longmind.open() as rc:
        mem = rc.agent("assistant", user="alice")
        await mem.remember("I moved to Lisbon in May.")
        hits = await mem.recall("where does she live?")

``longmind.sync`` has the same verbs, blocking.
"""

from longmind.agent_memory import AgentMemory
from longmind.config import AgentSettings, Settings
from longmind.errors import LongmindError
from longmind.memory import Longmind
from longmind.types import Change, Document, Filter, Hit, Link, Memory, Message, Page, Scope, Source, Stats

__version__ = "0.1.0"

__all__ = [
    "AgentMemory",
    "AgentSettings",
    "Change",
    "Document",
    "Filter",
    "Hit",
    "Link",
    "Longmind",
    "LongmindError",
    "Memory",
    "Message",
    "Page",
    "Scope",
    "Settings",
    "Source",
    "Stats",
]
