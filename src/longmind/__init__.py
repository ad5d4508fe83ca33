"""Longmind: a memory operating system for AI agents.

    from longmind import Longmind

    async with Longmind.open() as longmind:
        mem = longmind.agent("assistant", user="alice")
        await mem.remember("I moved to Lisbon in May.")
        hits = await mem.recall("where does she live?")

``longmind.sync`` has the same methods, blocking.
"""

from typing import TYPE_CHECKING

from longmind.agent_memory import AgentMemory
from longmind.config import AgentSettings, Settings
from longmind.errors import (
    BudgetSpent,
    Conflict,
    Forbidden,
    ForeignStore,
    InvalidAnswer,
    InvalidInput,
    InvalidSetting,
    KeyTaken,
    LimitExceeded,
    LongmindError,
    ModelError,
    ModelMismatch,
    ModelMissing,
    ModelUnavailable,
    NotFound,
    OperationMismatch,
    PackageMissing,
    RateLimited,
    SchemaTooNew,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreUnavailable,
    TimedOut,
    Unauthenticated,
    Unsupported,
    VersionConflict,
)
from longmind.memory import Longmind
from longmind.types import (
    Answer,
    Change,
    Citation,
    ConsolidationReport,
    ContextLine,
    ConversationSummary,
    Document,
    Filter,
    Forgotten,
    Growth,
    Hit,
    Link,
    Memory,
    Message,
    Page,
    Range,
    Scope,
    Source,
    StageReport,
    Stats,
    Undone,
    UndoneChange,
)

if TYPE_CHECKING:
    from longmind.agent import Agent, ReflectiveAgent
    from longmind.conversation import Conversation, ConversationItem, StoredItem
    from longmind.perceive.files import read_document
    from longmind.systems.episodic import Episode, EpisodeEntry, Event, EventDraft
    from longmind.systems.procedural import Run
    from longmind.systems.semantic import Fact
    from longmind.systems.values import Value, ValueName, ValueWrite

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "AgentMemory",
    "AgentSettings",
    "Answer",
    "BudgetSpent",
    "Change",
    "Citation",
    "Conflict",
    "ConsolidationReport",
    "ContextLine",
    "Conversation",
    "ConversationItem",
    "ConversationSummary",
    "Document",
    "Episode",
    "EpisodeEntry",
    "Event",
    "EventDraft",
    "Fact",
    "Filter",
    "Forbidden",
    "ForeignStore",
    "Forgotten",
    "Growth",
    "Hit",
    "InvalidAnswer",
    "InvalidInput",
    "InvalidSetting",
    "KeyTaken",
    "LimitExceeded",
    "Link",
    "Longmind",
    "LongmindError",
    "Memory",
    "Message",
    "ModelError",
    "ModelMismatch",
    "ModelMissing",
    "ModelUnavailable",
    "NotFound",
    "OperationMismatch",
    "PackageMissing",
    "Page",
    "Range",
    "RateLimited",
    "ReflectiveAgent",
    "Run",
    "SchemaTooNew",
    "Scope",
    "Settings",
    "Source",
    "StageReport",
    "Stats",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreUnavailable",
    "StoredItem",
    "TimedOut",
    "Unauthenticated",
    "Undone",
    "UndoneChange",
    "Unsupported",
    "Value",
    "ValueName",
    "ValueWrite",
    "VersionConflict",
    "read_document",
]

if not TYPE_CHECKING:  # a type checker reads the imports above; to it ``__getattr__`` would allow any name
    _LAZY = {
        "Agent": "longmind.agent",
        "ReflectiveAgent": "longmind.agent",
        "Conversation": "longmind.conversation",
        "ConversationItem": "longmind.conversation",
        "StoredItem": "longmind.conversation",
        "Value": "longmind.systems.values",
        "ValueName": "longmind.systems.values",
        "ValueWrite": "longmind.systems.values",
        "read_document": "longmind.perceive.files",
        "Episode": "longmind.systems.episodic",
        "EpisodeEntry": "longmind.systems.episodic",
        "Event": "longmind.systems.episodic",
        "EventDraft": "longmind.systems.episodic",
        "Fact": "longmind.systems.semantic",
        "Run": "longmind.systems.procedural",
    }
    """Names that are imported on first use, so that importing the package stays cheap."""

    def __getattr__(name):
        if name not in _LAZY:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = globals()[name] = getattr(import_module(_LAZY[name]), name)
        return value

    def __dir__():
        return sorted({*globals(), *_LAZY})
