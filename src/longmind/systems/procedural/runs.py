"""The records of a run: its request, its progress, and what each step did.

A run is one record of the kind ``run``. The request never changes and is the body. The progress changes with every
step and is the metadata, so that the journal stores only the progress again. Each finished step is a record of the
kind ``step``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from longmind.types import Memory, Model, Moment, PlainJson

RUN, STEP = "run", "step"
DERIVED_FROM = "derived_from"
"""The relation that erasure follows: records linked to an erased record are erased too."""
MAX_TREE_STEPS = 10_000
"""Steps that a run may do together with all runs it starts, at any remove; compensations do not count."""
RunStatus = Literal["running", "waiting", "interrupted", "succeeded", "failed", "cancelled"]
FINAL: tuple[RunStatus, ...] = ("succeeded", "failed", "cancelled")


class RunFailure(Model):
    """Why a step or a run failed: the exception's type and message, and the step."""

    type: str
    message: str
    step: str | None = None


class Chosen(Model):
    """A value that learning chose for a parameter, and the reason."""

    value: Any
    why: str


class Parent(Model):
    """The step of another run that started this one."""

    run: str
    path: str


class RunRequest(Model):
    """The request that started a run; it never changes."""

    procedure: str
    name: str
    number: int
    params: PlainJson
    chosen: Mapping[str, Chosen] = Field(default_factory=dict)
    candidate: bool = False
    """Whether this run uses the version on trial."""
    parent: Parent | None = None
    depth: int = 0
    max_steps: int = MAX_TREE_STEPS
    """Steps that this run and those it starts may do: what its parent had left."""


class PendingApproval(Model):
    """A step that waits for approval, and the call it would make."""

    path: str
    use: str
    args: Any = None
    items: int | None = None
    """For a loop: how many items it would go over."""
    run: str | None = None
    """The child run that waits, if a step of this run started it."""


class Approval(Model):
    """The decision about a step that needed approval."""

    approved: bool
    by: str
    at: Moment
    why: str = ""


class Progress(Model):
    """How far a run has come. The owner of the run replaces it as a whole, by compare-and-set."""

    procedure: str
    name: str
    number: int
    parent: str | None = None
    open: bool = True
    status: RunStatus = "running"
    owner: str | None = None
    lease_until: Moment | None = None
    """Until then the owner counts as alive."""
    cursor: str | None = None
    """The path of the last finished step."""
    ending: Literal["failed", "cancelled"] | None = None
    """How the run will end after compensation."""
    cancel: Literal["stop", "compensate"] | None = None
    waiting: PendingApproval | None = None
    approvals: Mapping[str, Approval] = Field(default_factory=dict)
    result: Any = None
    error: RunFailure | None = None
    finished_at: Moment | None = None
    seconds: float = 0.0
    """Time spent working; waiting for an approval or for a resume does not count."""
    counted: bool | None = None
    """What learning counted the run as: success, failure, or neither."""
    metrics: Mapping[str, float] = Field(default_factory=dict)
    child_steps: int = 0
    """Steps done by the runs that this one started, at any remove."""


class StepRecord(Model):
    """What a step, one item of a loop, or a compensation did."""

    path: str
    """``send``, ``send[2]`` for an item of a loop, ``send!undo`` for a compensation."""
    step: str
    outcome: Literal["succeeded", "failed", "skipped"]
    result: Any = None
    error: RunFailure | None = None
    attempts: int = 0
    started_at: Moment
    finished_at: Moment
    idempotency_key: str | None = None
    items: int | None = None
    """For a loop as a whole: the number of items. Their results are in their own records."""
    why: str = ""

    @property
    def seconds(self) -> float:
        return max(0.0, (self.finished_at - self.started_at).total_seconds())

    @property
    def undo(self) -> bool:
        return self.path.endswith("!undo")


class Run(Model):
    """The current state of one run of a procedure."""

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
    child_steps: int = 0
    """Steps done by the runs that this one started, at any remove."""

    @property
    def steps_done(self) -> int:
        """Steps done by this run and those it started; compensations do not count."""
        return sum(not step.undo for step in self.steps) + self.child_steps

    @property
    def finished(self) -> bool:
        return self.status in FINAL


def run_session(run_id: str) -> str:
    """Return the session of a run's records. It keeps consolidation from merging two runs that are alike."""
    return f"run:{run_id}"


def read_request(memory: Memory) -> RunRequest:
    return RunRequest.model_validate(memory.body)


def read_progress(memory: Memory) -> Progress:
    return Progress.model_validate(memory.metadata)


def build_run(memory: Memory, steps: tuple[StepRecord, ...] = ()) -> Run:
    """Build a run, as callers see it, from its record and steps."""
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
        child_steps=progress.child_steps,
        steps=steps,
    )


def has_live_owner(progress: Progress, now: datetime) -> bool:
    """Whether a process may be working on this run."""
    return progress.status == "running" and progress.lease_until is not None and progress.lease_until > now
