"""Working memory: the few things an agent has in mind now, what it is doing, and where the conversation stands."""

from longmind.systems.working.memory import WorkingMemory
from longmind.systems.working.models import (
    ConversationState,
    Evicted,
    Item,
    Placed,
    Slot,
    Sort,
    Task,
    WorkingContext,
    WorkingLimits,
)

__all__ = [
    "ConversationState",
    "Evicted",
    "Item",
    "Placed",
    "Slot",
    "Sort",
    "Task",
    "WorkingContext",
    "WorkingLimits",
    "WorkingMemory",
]
