"""Heat: what is recalled again and again, and lately, comes a little before what is not.

Nothing is stored for it. A memory's heat follows, at the moment of reading, from how often it was recalled and how long
ago it was recalled last, so it cools by itself. It is bounded: it decides between memories that fit a question about
equally well, and can never lift one that does not fit.
"""

from __future__ import annotations

import math
from datetime import datetime

from longmind.types import Memory

MOST = 0.02
"""The share of its score that the hottest memory gets on top."""
OFTEN = 4.0
"""Reads that make a memory half as hot as it can be."""
COOLS = 7 * 86_400.0
"""Seconds in which half of the heat is gone."""


def heat(memory: Memory, now: datetime) -> float:
    """How hot a memory is at a moment, from 0 (never recalled, or long ago) to 1."""
    if memory.access_count <= 0 or memory.last_accessed_at is None:
        return 0.0
    idle = max((now - memory.last_accessed_at).total_seconds(), 0.0)
    return memory.access_count / (memory.access_count + OFTEN) * math.exp2(-idle / COOLS)


def warmed(score: float, warmth: float) -> float:
    """A score with what heat adds; a memory that is certain stays as it is."""
    return min(score * (1 + MOST * warmth), max(score, 1.0))
