"""Heat: how much a segment matters now.

``heat = a * visits + b * length + c * exp(-seconds / mu)``. It is computed when it is read, not stored: visits are the
reads that the store counts, length is the number of pages, and time passes by itself. So a segment that nobody reads
cools without a write. Visits and length count since the segment was last analysed, so that what has moved to long-term
memory does not make it hot again.
"""

from __future__ import annotations

import math
from datetime import datetime

from longmind.systems.dialogue.models import DialogueSegment, SegmentBody
from longmind.systems.dialogue.settings import DialogueSettings
from longmind.types import Memory, construct_unvalidated


def heat(settings: DialogueSettings, visits: int, length: int, seconds: float) -> float:
    """Return the heat of a segment with these visits and pages, so many seconds after it was last visited or grew."""
    recency = math.exp(-max(seconds, 0.0) / settings.heat_mu)
    return settings.heat_visits * visits + settings.heat_length * length + settings.heat_recency * recency


def as_segment(record: Memory, settings: DialogueSettings, now: datetime) -> DialogueSegment:
    """Return a stored segment with its heat at a moment."""
    body = SegmentBody.read(record)
    visits = max(record.access_count - body.analysed.visits, 0)
    length = max(body.length - body.analysed.length, 0)
    active_at = max(body.joined_at, record.last_accessed_at or body.joined_at)
    return construct_unvalidated(
        DialogueSegment,
        {
            "id": record.id,
            "keywords": body.words,
            "summary": body.summary,
            "length": body.length,
            "new_pages": length,
            "new_importance": body.new_importance if length else 0.0,
            "visits": visits,
            "all_visits": record.access_count,
            "heat": heat(settings, visits, length, (now - active_at).total_seconds()),
            "active_at": active_at,
            "first_at": body.first_at,
            "last_at": body.last_at,
            "importance": record.importance,
            "analysed_at": body.analysed.at,
            "archived": record.state == "archived",
        },
    )


def is_due(segment: DialogueSegment, settings: DialogueSettings) -> bool:
    """Whether a segment is due to move to long-term memory: by its heat, or by the importance of a new page.

    One without new pages never is, however often it is visited: everything in it was analysed, and to note that again
    would write the segment to the journal after every few visits.
    """
    if not segment.new_pages:
        return False
    least = settings.promote_importance
    return segment.heat >= settings.hot or (least is not None and segment.new_importance >= least)
