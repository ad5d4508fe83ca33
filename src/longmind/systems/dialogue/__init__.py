"""The dialogue tiers: pages in short-term memory, topics in mid-term memory, and recall over all levels."""

from longmind.systems.dialogue.memory import DialogueMemory
from longmind.systems.dialogue.models import (
    PAGE,
    Added,
    Moved,
    Page,
    PageDraft,
    PageHit,
    Promotion,
    Recalled,
    Segment,
    SegmentHit,
    SegmentSummariser,
    Turn,
    Upkeep,
)
from longmind.systems.dialogue.rendering import render_recalled
from longmind.systems.dialogue.settings import DialogueSettings

__all__ = [
    "PAGE",
    "Added",
    "DialogueMemory",
    "DialogueSettings",
    "Moved",
    "Page",
    "PageDraft",
    "PageHit",
    "Promotion",
    "Recalled",
    "Segment",
    "SegmentHit",
    "SegmentSummariser",
    "Turn",
    "Upkeep",
    "render_recalled",
]
