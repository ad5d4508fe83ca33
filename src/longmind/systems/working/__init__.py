"""Working memory: the few things an agent has in mind now, what it is doing, and where the conversation stands."""

from longmind.systems.working.memory import WorkingMemory
from longmind.systems.working.models import (
    Conversation,
    Evicted,
    Item,
    Limits,
    Placed,
    Slot,
    Sort,
    Task,
    WorkingContext,
)

__all__ = [
    "Conversation",
    "Evicted",
    "Item",
    "Limits",
    "Placed",
    "Slot",
    "Sort",
    "Task",
    "WorkingContext",
    "WorkingMemory",
]
