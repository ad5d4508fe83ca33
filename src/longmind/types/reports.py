"""The report of a consolidation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from longmind.types.model import Model

STAGES = ("segment", "extract", "reconcile", "profile", "summarise", "distill", "forget")
"""The stages of consolidation, in their order."""


class Proposed(Model):
    """One change that consolidation makes, or proposes, and why."""

    action: Literal["add", "change", "supersede", "archive", "delete"]
    memory_id: str
    because_of: str
    """The memory that is the reason: the evidence of a fact, the newer of two that say the same, or itself."""
    why: str
    stage: str = ""
    kind: str = "message"
    content: str = ""
    """What the memory says, or would say."""


class StageReport(Model):
    """What one stage did."""

    stage: str
    added: int = 0
    changed: int = 0
    superseded: int = 0
    archived: int = 0
    deleted: int = 0
    rejected: Mapping[str, int] = Field(default_factory=dict)
    """Candidates that were rejected, counted by reason."""
    seconds: float = 0.0
    calls: int = 0
    """Requests to a language model."""
    failed: str | None = None
    """The error of an optional helper, such as a model; the stage continued without it."""


class ConsolidationReport(Model):
    """What a consolidation changed, or with ``dry_run`` would change. ``undo(report.id)`` reverts it."""

    id: str
    dry_run: bool
    read: int
    proposed: tuple[Proposed, ...]
    stages: tuple[StageReport, ...] = ()
    stopped: str | None = None
    """Why it stopped early: paused, or a budget is spent. The next run continues from there."""

    def of(self, stage: str) -> StageReport:
        """Return the report of one stage; an empty one if it did not run."""
        return next((report for report in self.stages if report.stage == stage), StageReport(stage=stage))
