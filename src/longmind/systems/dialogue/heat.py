"""Heat: how much a segment matters now.

``heat = a * visits + b * length + c * exp(-seconds / mu)``. Nothing of it is stored: visits are the reads the store
counts, length the pages that joined, and the time is the time of asking. So a segment that nobody looks at cools by
itself, without anything being written. Visits and length count since the segment was last analysed: what has been
handed on to long-term memory does not make a segment hot a second time.
"""

from __future__ import annotations

import math
from datetime import datetime

from longmind.systems.dialogue.models import DialogueSegment, SegmentBody
from longmind.systems.dialogue.settings import DialogueSettings
from longmind.types import Memory


def heat(settings: DialogueSettings, visits: int, length: int, seconds: float) -> float:
    """The heat of a segment with so many visits and pages, so long after it was last visited or grew."""
    recency = math.exp(-max(seconds, 0.0) / settings.heat_mu)
    return settings.heat_visits * visits + settings.heat_length * length + settings.heat_recency * recency


def as_segment(record: Memory, settings: DialogueSettings, now: datetime) -> DialogueSegment:
    """A stored segment as it is told, with its heat at a moment."""
    body = SegmentBody.read(record)
    visits = max(record.access_count - body.analysed.visits, 0)
    length = max(body.length - body.analysed.length, 0)
    active_at = max(body.joined_at, record.last_accessed_at or body.joined_at)
    return DialogueSegment(
        id=record.id,
        keywords=body.words,
        summary=body.summary,
        length=body.length,
        new_pages=length,
        visits=visits,
        all_visits=record.access_count,
        heat=heat(settings, visits, length, (now - active_at).total_seconds()),
        active_at=active_at,
        first_at=body.first_at,
        last_at=body.last_at,
        importance=record.importance,
        analysed_at=body.analysed.at,
        archived=record.state == "archived",
    )
