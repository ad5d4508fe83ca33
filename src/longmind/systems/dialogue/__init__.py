"""Dialogue memory: pages in short-term memory, topics in mid-term memory, and recall over both."""

from longmind.systems.dialogue.memory import DialogueMemory
from longmind.systems.dialogue.models import (
    PAGE,
    Added,
    DialoguePage,
    DialogueSegment,
    DialogueTurn,
    Moved,
    PageDraft,
    PageHit,
    Promotion,
    Recalled,
    SegmentHit,
    SegmentSummariser,
    Upkeep,
)
from longmind.systems.dialogue.rendering import render_recalled
from longmind.systems.dialogue.settings import DialogueSettings
from longmind.systems.dialogue.visits import with_visits

__all__ = [
    "PAGE",
    "Added",
    "DialogueMemory",
    "DialoguePage",
    "DialogueSegment",
    "DialogueSettings",
    "DialogueTurn",
    "Moved",
    "PageDraft",
    "PageHit",
    "Promotion",
    "Recalled",
    "SegmentHit",
    "SegmentSummariser",
    "Upkeep",
    "render_recalled",
    "with_visits",
]
