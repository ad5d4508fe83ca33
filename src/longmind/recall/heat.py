"""Heat: a small bonus for memories that are recalled often and were recalled recently.

Heat is not stored. It is computed at read time from the number of recalls and the time since the last one, so it decays
by itself. It is bounded: it decides between memories that fit a question about equally well, and cannot lift one that
does not fit.
"""

from __future__ import annotations

import math
from datetime import datetime

from longmind.types import Memory

MAX_GAIN = 0.02
"""The largest bonus, as a share of the score."""
HALF_HEAT_READS = 4.0
"""The number of reads that gives half of the largest heat."""
HALF_LIFE_SECONDS = 7 * 86_400.0
"""Seconds in which heat halves."""


def heat(memory: Memory, now: datetime) -> float:
    """Return the heat of a memory, from 0 (never recalled, or long ago) to 1."""
    if memory.access_count <= 0 or memory.last_accessed_at is None:
        return 0.0
    idle = max((now - memory.last_accessed_at).total_seconds(), 0.0)
    return memory.access_count / (memory.access_count + HALF_HEAT_READS) * math.exp2(-idle / HALF_LIFE_SECONDS)


def warmed(score: float, warmth: float) -> float:
    """Return a score with the bonus for heat, at most 1."""
    return min(score * (1 + MAX_GAIN * warmth), max(score, 1.0))
