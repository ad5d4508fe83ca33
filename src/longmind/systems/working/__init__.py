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
from longmind.systems.working.rendering import items_text
from longmind.systems.working.run_items import GOAL, RunItems, is_of_run, items_of_run

__all__ = [
    "GOAL",
    "ConversationState",
    "Evicted",
    "Item",
    "Placed",
    "RunItems",
    "Slot",
    "Sort",
    "Task",
    "WorkingContext",
    "WorkingLimits",
    "WorkingMemory",
    "is_of_run",
    "items_of_run",
    "items_text",
]
