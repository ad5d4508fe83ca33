"""What a run is: what was asked, how far it has come, and what each of its steps did.

A run is one record of the kind ``run``. What was asked never changes and is its body; how far it has come changes with
every step and is its metadata, so the journal keeps a small line for each step and not the whole run again. Each
finished step is a record of the kind ``step``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from longmind.types import Memory, Model, Moment, PlainJson

RUN, STEP = "run", "step"
DERIVED_FROM = "derived_from"
"""The relation that erasure follows: what is linked so to an erased record is erased with it."""
RunStatus = Literal["running", "waiting", "interrupted", "succeeded", "failed", "cancelled"]
FINAL: tuple[RunStatus, ...] = ("succeeded", "failed", "cancelled")
Outcome = Literal["succeeded", "failed", "skipped"]


class RunFailure(Model):
    """What went wrong: the exception's type and message, and the step where it happened."""

    type: str
    message: str
    step: str | None = None


class Chosen(Model):
    """A value that learning chose for a parameter, and why this one."""

    value: Any
    why: str


class Parent(Model):
    """The step of another run that started this one."""

    run: str
    path: str


class RunRequest(Model):
    """What was asked of a run; it never changes."""

    procedure: str
    name: str
    number: int
    params: PlainJson
    chosen: Mapping[str, Chosen] = Field(default_factory=dict)
    candidate: bool = False
    """Whether this run tries a version that is on trial."""
    parent: Parent | None = None
    depth: int = 0


class PendingApproval(Model):
    """The step that waits for somebody's approval, and what it would do."""

    path: str
    use: str
    args: Any = None
    items: int | None = None
    """For a loop: how many items it would go over."""
    run: str | None = None
    """The run that waits, when it is one that a step of this run started."""


class Approval(Model):
    """What somebody decided about a step."""

    approved: bool
    by: str
    at: Moment
    why: str = ""


class Progress(Model):
    """How far a run has come; replaced as a whole, with the version it was read at, by whoever owns the run."""

    procedure: str
    name: str
    number: int
    parent: str | None = None
    open: bool = True
    status: RunStatus = "running"
    owner: str | None = None
    lease_until: Moment | None = None
    """Until then its owner is taken to be alive."""
    cursor: str | None = None
    """The last step that is recorded as finished."""
    ending: Literal["failed", "cancelled"] | None = None
    """How the run will end once what it did has been compensated."""
    cancel: Literal["stop", "compensate"] | None = None
    waiting: PendingApproval | None = None
    approvals: Mapping[str, Approval] = Field(default_factory=dict)
    result: Any = None
    error: RunFailure | None = None
    finished_at: Moment | None = None
    seconds: float = 0.0
    """Time spent at work; waiting for an approval, or for somebody to resume, does not count."""
    counted: bool | None = None
    """What learning counted: a success, a failure, or nothing."""
    metrics: Mapping[str, float] = Field(default_factory=dict)


class StepRecord(Model):
    """What one step did, or one item of a loop, or a compensation."""

    path: str
    """``send``, ``send[2]`` for an item of a loop, ``send!undo`` for a compensation."""
    step: str
    outcome: Outcome
    result: Any = None
    error: RunFailure | None = None
    attempts: int = 0
    started_at: Moment
    finished_at: Moment
    idempotency_key: str | None = None
    items: int | None = None
    """For a loop as a whole: how many items it went over. Their results are in their own records."""
    why: str = ""

    @property
    def seconds(self) -> float:
        return max(0.0, (self.finished_at - self.started_at).total_seconds())

    @property
    def undo(self) -> bool:
        return self.path.endswith("!undo")


class Run(Model):
    """One run of a procedure, as it stands."""

    id: str
    procedure: str
    name: str
    number: int
    params: Mapping[str, Any]
    chosen: Mapping[str, Chosen]
    candidate: bool
    parent: Parent | None
    status: RunStatus
    result: Any
    error: RunFailure | None
    waiting: PendingApproval | None
    cancel_requested: bool
    started_at: Moment
    finished_at: Moment | None
    seconds: float
    counted: bool | None
    metrics: Mapping[str, float]
    steps: tuple[StepRecord, ...] = ()

    @property
    def finished(self) -> bool:
        return self.status in FINAL


def run_session(run_id: str) -> str:
    """The session of a run's records. It also keeps consolidation from seeing two runs as one thing said twice."""
    return f"run:{run_id}"


def read_request(memory: Memory) -> RunRequest:
    return RunRequest.model_validate(memory.body)


def read_progress(memory: Memory) -> Progress:
    return Progress.model_validate(memory.metadata)


def build_run(memory: Memory, steps: tuple[StepRecord, ...] = ()) -> Run:
    """A run as its caller sees it."""
    request, progress = read_request(memory), read_progress(memory)
    return Run(
        id=memory.id,
        procedure=request.procedure,
        name=request.name,
        number=request.number,
        params=request.params,
        chosen=request.chosen,
        candidate=request.candidate,
        parent=request.parent,
        status=progress.status,
        result=progress.result,
        error=progress.error,
        waiting=progress.waiting,
        cancel_requested=progress.cancel is not None,
        started_at=memory.occurred_at,
        finished_at=progress.finished_at,
        seconds=progress.seconds,
        counted=progress.counted,
        metrics=progress.metrics,
        steps=steps,
    )


def has_live_owner(progress: Progress, now: datetime) -> bool:
    """Whether somebody may be working on this run."""
    return progress.status == "running" and progress.lease_until is not None and progress.lease_until > now
