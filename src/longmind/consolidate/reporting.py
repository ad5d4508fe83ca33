"""Reports of a run: the changes of a draft with their reasons, the counts of a stage, and its metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Literal

from longmind import telemetry
from longmind.consolidate.draft import Draft
from longmind.consolidate.work import Notes
from longmind.kinds import INTERNAL
from longmind.types import Memory, Proposed, StageReport, construct_unvalidated

Action = Literal["add", "change", "supersede", "archive", "delete"]
_UNREPORTED = INTERNAL | {"concept"}
"""Kinds that exist for the sake of other records: to report them would say nothing."""
_COUNTERS = {
    "add": "added",
    "change": "changed",
    "supersede": "superseded",
    "archive": "archived",
    "delete": "deleted",
}
_COMPARED = tuple(name for name in Memory.model_fields if name not in ("version", "key", "body"))
_MAX_CHARS = 300


def list_changes(
    stage: str, draft: Draft, notes: Notes, *, skip: Collection[str] = (), explained_only: bool = False
) -> list[Proposed]:
    """Return the changes of a draft, one line each.

    ``skip`` are records that an earlier stage brought into the draft. With ``explained_only`` changes without a reason
    in the notes are left out.
    """
    lines: list[Proposed] = []
    for old, new in draft.difference():
        memory = new or old
        if memory is None or memory.kind in _UNREPORTED:
            continue
        explained = memory.id in notes.why
        if not explained and (explained_only or memory.id in skip or not memory.content):
            continue
        if _is_unchanged(old, new):
            continue
        because, why = notes.why.get(memory.id, (memory.id, f"{stage}: follows from another change"))
        lines.append(
            construct_unvalidated(
                Proposed,
                {
                    "action": _action(old, new),
                    "memory_id": memory.id,
                    "because_of": because,
                    "why": why,
                    "stage": stage,
                    "kind": memory.kind,
                    "content": memory.content[:_MAX_CHARS],
                },
            )
        )
    return lines


def _is_unchanged(old: Memory | None, new: Memory | None) -> bool:
    """Whether only the version, the key or the count of what was derived from a record has changed."""
    if old is None or new is None:
        return False
    fields = [[getattr(memory, name) for name in _COMPARED] for memory in (old, new)]
    bodies = [{k: v for k, v in memory.body.items() if k != "revision"} for memory in (old, new)]
    return fields[0] == fields[1] and bodies[0] == bodies[1]


def _action(old: Memory | None, new: Memory | None) -> Action:
    if new is None:
        return "delete"
    if old is None:
        return "add"
    if old.state != new.state and new.state == "archived":
        return "archive"
    if old.state != new.state and new.state == "superseded":
        return "supersede"
    return "change"


def build_stage_report(stage: str, changes: list[Proposed], notes: Notes, seconds: float, calls: int) -> StageReport:
    """Count the changes of a stage."""
    counts = Counter(_COUNTERS[change.action] for change in changes)
    return StageReport(
        stage=stage,
        rejected=dict(sorted(notes.rejected.items())),
        seconds=round(seconds, 6),
        calls=calls,
        failed=notes.failed,
        **counts,
    )


def add_reports(before: StageReport | None, now: StageReport) -> StageReport:
    """Return the sum of two reports of one stage."""
    if before is None:
        return now
    numbers = ("added", "changed", "superseded", "archived", "deleted", "seconds", "calls")
    sums: dict[str, object] = {name: getattr(before, name) + getattr(now, name) for name in numbers}
    reasons = {*before.rejected, *now.rejected}
    sums["rejected"] = {r: before.rejected.get(r, 0) + now.rejected.get(r, 0) for r in sorted(reasons)}
    return now.model_copy(update={**sums, "failed": now.failed or before.failed})


def total_counts(reports: Iterable[StageReport]) -> tuple[dict[str, int], dict[str, int]]:
    """Return what stages changed together, by kind of change, and what they rejected, by reason."""
    made: Counter[str] = Counter()
    rejected: Counter[str] = Counter()
    for report in reports:
        made.update({name: getattr(report, name) for name in _COUNTERS.values()})
        rejected.update(report.rejected)
    return dict(+made), dict(sorted(rejected.items()))


def record_metrics(report: StageReport) -> None:
    """Record how long a stage took, what it changed, and what it rejected."""
    if not telemetry.enabled():
        return
    attributes = {"longmind.stage": report.stage}
    telemetry.record("longmind.consolidate.stage.duration", report.seconds, attributes, unit="s")
    for counter in _COUNTERS.values():
        if count := getattr(report, counter):
            action = {**attributes, "longmind.action": counter}
            telemetry.count("longmind.consolidate.changes", count, action, unit="{memory}")
    for reason, count in report.rejected.items():
        rejected = {**attributes, "longmind.reason": reason}
        telemetry.count("longmind.consolidate.rejected", count, rejected, unit="{claim}")
