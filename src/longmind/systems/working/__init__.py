"""Working memory: the few items an agent has in mind now, its task, and the state of the conversation."""

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
