"""The numbers of the dialogue tiers. The defaults are those of the published system; each agent may change its own."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from longmind.types import Model, Unit

Weight = Annotated[float, Field(ge=0.0, le=1_000.0, allow_inf_nan=False)]
Days = Annotated[float, Field(gt=0.0, le=36_500.0, allow_inf_nan=False)]


class DialogueSettings(Model):
    """What one agent does its own way in its conversations; see ``DialogueMemory.configure``."""

    window: Annotated[int, Field(ge=1, le=1_000)] = 7
    """Pages in short-term memory; the oldest leaves first."""
    window_hours: Annotated[float, Field(gt=0.0, le=1e6)] | None = None
    """How long a page may stay in short-term memory; without it only the number of pages counts."""
    continuity: Unit = 0.2
    """How alike a page must be to the one before it to go on with its chain."""
    chain_hours: Annotated[float, Field(gt=0.0, le=1e6)] = 6.0
    """A page that comes later than this after the one before it begins another chain."""
    context: Unit = 0.5
    """How much a page's chain counts beside the page itself when its segment is looked for."""
    join: Annotated[float, Field(ge=0.0, le=2.0)] = 0.6
    """The least ``cos + Jaccard`` at which a page joins a segment."""
    keywords: Annotated[int, Field(ge=1, le=100)] = 10
    """Keywords of a page or a segment that Jaccard compares."""
    segments: Annotated[int, Field(ge=1, le=10_000)] = 200
    """Segments in mid-term memory; past it the coldest goes to the archive."""
    newest_kept: Annotated[int, Field(ge=1, le=1_000)] = 7
    """So many of the youngest segments (at most a tenth of all) are not yet judged by their heat."""
    heat_visits: Weight = 1.0
    heat_length: Weight = 1.0
    heat_recency: Weight = 1.0
    """The weights a, b and c of heat = a * visits + b * length + c * exp(-seconds / mu)."""
    heat_mu: Annotated[float, Field(gt=0.0, le=1e12)] = 1e7
    """Seconds in which the recency part falls to about a third."""
    hot: Weight = 5.0
    """The heat from which a segment is handed on to long-term memory."""
    summary_chars: Annotated[int, Field(ge=80, le=20_000)] = 600
    """About how long the summary of a chain or a segment may become."""
    recall_segments: Annotated[int, Field(ge=1, le=100)] = 5
    recall_pages: Annotated[int, Field(ge=1, le=1_000)] = 10
    """Segments, and pages inside them, that a recall brings."""
    recall_knowledge: Annotated[int, Field(ge=1, le=1_000)] = 10
    recall_shared: Annotated[int, Field(ge=1, le=1_000)] = 5
    """Entries of the persona, and of shared memory, that a recall brings."""
    retention_days: Days | None = None
    """Pages of mid-term memory older than this go to the archive; without it age alone is no reason."""
    prune_below: Unit = 0.0
    """Pages less important than this, which nobody read, go to the archive after ``prune_days``."""
    prune_days: Days = 30.0
    segment_pages: Annotated[int, Field(ge=1, le=100_000)] = 1_000
    """Pages a segment keeps; past it the least important go to the archive."""
