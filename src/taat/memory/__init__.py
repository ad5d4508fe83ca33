"""What TAAT knows, in Longmind: records of its work, rules, announcers and trades."""

from taat.memory.knowledge import Knowledge
from taat.memory.names import announcer_name, client_id, signal_id
from taat.memory.records import (
    Announcer,
    Decision,
    Detection,
    Execution,
    PlannedOrder,
    Purpose,
    RuleCheck,
    SignalRecord,
    Trade,
    TradeOutcome,
    WorkingOrder,
)
from taat.memory.store import TraderMemory, open_memory
from taat.memory.targets import Targets

__all__ = [
    "Announcer",
    "Decision",
    "Detection",
    "Execution",
    "Knowledge",
    "PlannedOrder",
    "Purpose",
    "RuleCheck",
    "SignalRecord",
    "Targets",
    "Trade",
    "TradeOutcome",
    "TraderMemory",
    "WorkingOrder",
    "announcer_name",
    "client_id",
    "open_memory",
    "signal_id",
]
