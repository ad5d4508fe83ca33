"""The settings of dialogue memory. The defaults are those of the published system; each agent may change its own."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from longmind.types import Model, Unit

Weight = Annotated[float, Field(ge=0.0, le=1_000.0, allow_inf_nan=False)]
Days = Annotated[float, Field(gt=0.0, le=36_500.0, allow_inf_nan=False)]


class DialogueSettings(Model):
    """Settings of one agent for its conversations; see ``DialogueMemory.configure``."""

    window: Annotated[int, Field(ge=1, le=1_000)] = 7
    """The number of pages in short-term memory; beyond it the oldest leaves first."""
    window_hours: Annotated[float, Field(gt=0.0, le=1e6)] | None = None
    """How long a page may stay in short-term memory; None for no limit in time."""
    continuity: Unit = 0.2
    """The similarity to the previous page from which a page continues its chain."""
    chain_hours: Annotated[float, Field(gt=0.0, le=1e6)] = 6.0
    """A page that comes later than this after the previous one begins a new chain."""
    context: Unit = 0.5
    """The weight of a page's chain, beside the page itself, when a segment is chosen."""
    join: Annotated[float, Field(ge=0.0, le=2.0)] = 0.6
    """The least ``cos + Jaccard`` at which a page joins a segment."""
    keywords: Annotated[int, Field(ge=1, le=100)] = 10
    """The number of keywords of a page or a segment that Jaccard compares."""
    segments: Annotated[int, Field(ge=1, le=10_000)] = 200
    """The number of segments in mid-term memory; beyond it the coldest is archived."""
    cold_days: Days | None = 30.0
    """Segments that were neither visited nor added to for so long before the user's last activity are archived; None:
    only those beyond capacity."""
    newest_kept: Annotated[int, Field(ge=1, le=1_000)] = 7
    """The number of newest segments (at most a tenth of all) that are spared from archiving."""
    heat_visits: Weight = 1.0
    heat_length: Weight = 1.0
    heat_recency: Weight = 1.0
    """The weights a, b and c of heat = a * visits + b * length + c * exp(-seconds / mu)."""
    heat_mu: Annotated[float, Field(gt=0.0, le=1e12)] = 1e7
    """The seconds after which the recency part has fallen to about a third."""
    hot: Weight = 5.0
    """The heat from which a segment moves to long-term memory."""
    promote_importance: Unit | None = 0.7
    """A segment with a new page at least this important moves to long-term memory whatever its heat; None: by heat
    alone."""
    summary_chars: Annotated[int, Field(ge=80, le=20_000)] = 600
    """The approximate length of the summary of a chain or a segment."""
    recall_segments: Annotated[int, Field(ge=1, le=100)] = 5
    recall_pages: Annotated[int, Field(ge=1, le=1_000)] = 10
    """The number of segments, and of pages in them, that a recall returns."""
    recall_knowledge: Annotated[int, Field(ge=1, le=1_000)] = 10
    recall_shared: Annotated[int, Field(ge=1, le=1_000)] = 5
    """The number of persona entries, and of shared entries, that a recall returns."""
    context_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 1_500
    """The number of tokens that a context has unless a call says otherwise."""
    retention_days: Days | None = None
    """Pages of mid-term memory older than this are archived; None for no limit in time."""
    prune_below: Unit = 0.0
    """Pages less important than this, and never read, are archived after ``prune_days``."""
    prune_days: Days = 30.0
    segment_pages: Annotated[int, Field(ge=1, le=100_000)] = 1_000
    """The number of pages in a segment; beyond it the least important are archived."""
    upkeep_hours: Annotated[float, Field(gt=0.0, le=1e6)] | None = 24.0
    """How often consolidation does the upkeep of all users; None: only ``upkeep`` does it."""
