"""A run of a procedure as an experience."""

from __future__ import annotations

from datetime import timedelta

from longmind.manager.models import Experience, ExperienceEvent
from longmind.systems.episodic import Outcome
from longmind.systems.procedural import Run

OUTCOMES: dict[bool | None, Outcome] = {True: "succeeded", False: "failed", None: "unknown"}


def run_key(run: str) -> str:
    """Return the key of a run's experience."""
    return f"run:{run}"


def experience_of_run(run: Run, task: str | None) -> Experience:
    """Return a run as an experience with an event for each step.

    Skipped steps are left out, and so are the items of a loop: the loop itself is an event.
    """
    steps = [step for step in run.steps if step.path == step.step and step.outcome != "skipped"]
    events = [
        ExperienceEvent(
            what=f"{step.step}: {step.error.message}"[:2_000] if step.error else f"{step.step} {step.outcome}",
            type=step.step,
            at=step.started_at,
            duration=max(step.finished_at - step.started_at, timedelta(0)),
            data={"outcome": step.outcome, "attempts": step.attempts},
            valence=-0.5 if step.outcome == "failed" else 0.0,
        )
        for step in steps
    ]
    start = min([run.started_at, *(step.started_at for step in steps)])
    ends = [step.at + step.duration for step in events if step.at is not None]
    return Experience(
        title=(task or "").strip()[:500] or f"Ran {run.name}",
        type="action",
        start=start,
        end=max([run.finished_at or start, start, *ends]),
        outcome=OUTCOMES[None if run.status == "cancelled" else run.status == "succeeded"],
        note=run.error.message[:2_000] if run.error else "",
        attributes={"procedure": run.name, "version": run.number, "run": run.id},
        events=tuple(events),
        key=run_key(run.id),
    )
