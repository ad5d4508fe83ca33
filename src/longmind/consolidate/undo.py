"""What the runs of consolidation share, so that one of them can be undone after others came."""

from __future__ import annotations

from longmind.consolidate import waiting, watermark
from longmind.store.undo import Shared

SHARED = Shared(
    bookmarks={watermark.KEY: "through", waiting.KEY: "after"},
    linked=frozenset({"concept"}),
    named=frozenset({"configuration"}),
)
"""Each run moves the marks. Facts of a later run link to concepts of an earlier one, and name its predicates."""
