"""From a draft to the lines of a report: what is added, changed, superseded, archived, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Literal

from longmind import telemetry
from longmind.consolidate.draft import Draft
from longmind.consolidate.work import Notes
from longmind.kinds import INTERNAL
from longmind.types import Memory, Proposed, StageReport

Action = Literal["add", "change", "supersede", "archive", "delete"]
_INNER = INTERNAL | {"concept"}
"""Kinds that are there for the sake of others: a report of them would say nothing."""
_COUNTED = {"add": "added", "change": "changed", "supersede": "superseded", "archive": "archived", "delete": "deleted"}
_TOLD = tuple(name for name in Memory.model_fields if name not in ("version", "key", "body"))
_SHOWN = 300


def proposed(stage: str, draft: Draft, notes: Notes, *, skip: Collection[str] = ()) -> list[Proposed]:
    """The changes of a draft, one line each; ``skip`` are records that an earlier stage brought into the draft."""
    lines: list[Proposed] = []
    for old, new in draft.difference():
        memory = new or old
        if memory is None or memory.kind in _INNER or (memory.id in skip and memory.id not in notes.why):
            continue
        if (not memory.content and memory.id not in notes.why) or _silent(old, new):
            continue
        because, why = notes.why.get(memory.id, (memory.id, f"{stage}: follows from another change"))
        lines.append(
            Proposed(
                action=_action(old, new),
                memory_id=memory.id,
                because_of=because,
                why=why,
                stage=stage,
                kind=memory.kind,
                content=memory.content[:_SHOWN],
            )
        )
    return lines


def _silent(old: Memory | None, new: Memory | None) -> bool:
    """Whether a record only counts that something was derived from it, or handed its key on, and says what it said."""
    if old is None or new is None:
        return False
    told = [[getattr(m, name) for name in _TOLD] for m in (old, new)]
    bodies = [{k: v for k, v in m.body.items() if k != "revision"} for m in (old, new)]
    return told[0] == told[1] and bodies[0] == bodies[1]


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


def stage_report(stage: str, changes: list[Proposed], notes: Notes, seconds: float, calls: int) -> StageReport:
    """A stage's changes, counted."""
    counts = Counter(_COUNTED[change.action] for change in changes)
    return StageReport(
        stage=stage,
        rejected=dict(sorted(notes.rejected.items())),
        seconds=round(seconds, 6),
        calls=calls,
        failed=notes.failed,
        **counts,
    )


def added_up(before: StageReport | None, now: StageReport) -> StageReport:
    """Two slices of one stage as one."""
    if before is None:
        return now
    numbers = ("added", "changed", "superseded", "archived", "deleted", "seconds", "calls")
    told: dict[str, object] = {name: getattr(before, name) + getattr(now, name) for name in numbers}
    reasons = {*before.rejected, *now.rejected}
    told["rejected"] = {r: before.rejected.get(r, 0) + now.rejected.get(r, 0) for r in sorted(reasons)}
    return now.model_copy(update={**told, "failed": now.failed or before.failed})


def measured(stage: str, report: StageReport) -> None:
    """The metrics of one stage: how long it took, what it changed, and what it refused."""
    if not telemetry.enabled():
        return
    which = {"longmind.stage": stage}
    telemetry.record("longmind.consolidate.stage.duration", report.seconds, which, unit="s")
    for action in _COUNTED.values():
        if count := getattr(report, action):
            told = {**which, "longmind.action": action}
            telemetry.count("longmind.consolidate.changes", count, told, unit="{memory}")
    for reason, count in report.rejected.items():
        telemetry.count("longmind.consolidate.rejected", count, {**which, "longmind.reason": reason}, unit="{claim}")
