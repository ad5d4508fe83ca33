"""The models of goals, plans, findings and revisions, as they are stored and as they are returned.

A goal is a memory of the kind ``goal``, a plan one of the kind ``plan`` that ``achieves`` it. Both hold a typed body;
what they are filtered by is repeated in the record's metadata.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from longmind.systems.procedural import ProcedureName, ToolName
from longmind.types import Id, Model, Moment, Name, PlainJson, Tag, Text, Unit

GOAL, PLAN, REVISION = "goal", "plan", "revision"
MAX_STEPS = 100
MAX_CRITERIA = 50
MAX_RESULT = 4_000
"""Characters kept of what a step returned; the event of its episode holds more."""
Label = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,49}$")]
"""The short name of a step or criterion within its plan or goal: ``s1``, ``c1``, ``book_flight``."""
Line = Annotated[str, StringConstraints(min_length=1, max_length=2_000, strip_whitespace=True)]
GoalStatus = Literal["proposed", "active", "blocked", "achieved", "failed", "abandoned"]
OPEN: tuple[GoalStatus, ...] = ("proposed", "active", "blocked")
StepStatus = Literal["pending", "running", "done", "failed", "skipped"]
Origin = Literal["given", "procedure", "past", "model", "criteria"]
FindingKind = Literal["failed_step", "repeated_failure", "stall", "deadline_risk", "loop", "broken_assumption"]
Strategy = Literal["retry", "substitute", "decompose", "reorder", "replan", "ask", "abandon"]


class CriterionEvidence(Model):
    """Evidence that a criterion is met: a memory, a note, or both."""

    note: Annotated[str, StringConstraints(max_length=MAX_RESULT)] = ""
    memory: Id | None = None
    step: Label | None = None
    at: Moment


class Criterion(Model):
    """One thing that must be true for the goal to be achieved."""

    id: Label
    description: Line
    weight: Annotated[float, Field(gt=0, le=1_000, allow_inf_nan=False)] = 1.0
    met_at: Moment | None = None
    evidence: tuple[CriterionEvidence, ...] = ()

    @property
    def met(self) -> bool:
        return self.met_at is not None


class GoalBody(Model):
    """A goal as it is stored."""

    description: Line
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1, max_length=MAX_CRITERIA)]
    priority: Unit = 0.5
    deadline: Moment | None = None
    parent: Id | None = None
    status: GoalStatus = "active"
    why: Text = ""
    """The reason for the status: what blocks the goal, why it failed or was abandoned."""
    progress: Unit = 0.0
    ended_at: Moment | None = None
    revisions: Annotated[int, Field(ge=0)] = 0
    """The number of automatic revisions of its plan. It is limited, so that a pursuit ends."""
    moved: Annotated[int, Field(ge=0)] = 0
    """A counter of changes among the sub-goals. It makes two sub-goals that end at the same time conflict."""
    attributes: PlainJson = Field(default_factory=dict)

    @model_validator(mode="after")
    def _criteria_have_their_own_names(self) -> GoalBody:
        names = [criterion.id for criterion in self.criteria]
        if len(set(names)) < len(names):
            raise ValueError("two criteria have the same id")
        return self


class Goal(GoalBody):
    """A goal: what is wanted, how one knows that it is reached, and how far it has come."""

    id: Id
    version: int
    created_at: Moment
    user: Name | None = None
    """The user the goal belongs to; None if it is the agent's own."""
    tags: tuple[Tag, ...] = ()

    @property
    def open(self) -> bool:
        return self.status in OPEN

    def criterion(self, id: str) -> Criterion | None:
        return next((criterion for criterion in self.criteria if criterion.id == id), None)


class PlanStep(Model):
    """One step of a plan: what to do, after what, for which criteria, and how it went."""

    id: Label
    description: Line
    after: tuple[Label, ...] = ()
    """The steps that must be done or skipped before this one."""
    criteria: tuple[Label, ...] = ()
    """The criteria of the goal that it serves. One is met when all the steps that serve it are done or skipped."""
    tool: ToolName | None = None
    procedure: ProcedureName | None = None
    args: PlainJson = Field(default_factory=dict)
    expected: Annotated[str, StringConstraints(max_length=2_000)] = ""
    max_attempts: Annotated[int, Field(ge=1, le=20)] = 3
    seconds: Annotated[float, Field(gt=0, le=86_400 * 365)] | None = None
    """The estimated duration, if known. Deadline risk is computed from it."""
    status: StepStatus = "pending"
    attempts: Annotated[int, Field(ge=0)] = 0
    result: Any = None
    error: Annotated[str, StringConstraints(max_length=MAX_RESULT)] = ""
    errors: tuple[Annotated[str, StringConstraints(max_length=500)], ...] = ()
    """The error of each attempt, the latest last. The last twenty are kept."""
    started_at: Moment | None = None
    finished_at: Moment | None = None
    lease_until: Moment | None = None
    """The end of the lease while the step is running. Until then its runner counts as alive."""
    episode: Id | None = None
    """The episode in which the step was executed."""

    @model_validator(mode="after")
    def _does_one_thing(self) -> PlanStep:
        if self.tool is not None and self.procedure is not None:
            raise ValueError("a step names a tool or a procedure, and not both")
        return self

    @property
    def is_finished(self) -> bool:
        """Whether the step is done or skipped, so that the steps after it may start."""
        return self.status in ("done", "skipped")


class PlanBody(Model):
    """A plan as it is stored: one version of the way to a goal."""

    goal: Id
    number: Annotated[int, Field(ge=1)] = 1
    steps: Annotated[tuple[PlanStep, ...], Field(min_length=1, max_length=MAX_STEPS)]
    origin: Origin = "given"
    source: Id | None = None
    """The procedure or the past plan that this plan was built from."""
    why: Text = ""
    """Why this version exists."""
    assumptions: tuple[Id, ...] = ()
    """The facts it was derived from. When one of them no longer holds, monitoring says so."""
    prompt: str = ""
    """The prompts and their versions, if a model proposed the plan or split one of its steps."""

    @model_validator(mode="after")
    def _steps_form_a_dag(self) -> PlanBody:
        order_steps(self.steps)
        return self


class Plan(PlanBody):
    """The way to a goal: steps with their order, and how each went."""

    id: Id
    version: int
    made_at: Moment
    current: bool = True

    def step(self, id: str) -> PlanStep | None:
        return next((step for step in self.steps if step.id == id), None)


class GoalState(Model):
    """A goal and its current plan, as they were read or as a write left them."""

    goal: Goal
    plan: Plan | None = None


class GoalHit(Model):
    """A goal found by a search, with its score and why it matched."""

    goal: Goal
    score: Unit
    why: str


class Finding(Model):
    """A problem that monitoring found in an active plan."""

    kind: FindingKind
    goal: Id
    plan: Id
    step: Label | None = None
    detail: str
    evidence: tuple[Id, ...] = ()
    """Memories that show the problem, such as the fact that became stale."""
    at: Moment


def order_steps(steps: Sequence[PlanStep]) -> list[PlanStep]:
    """Return the steps so that each comes after its dependencies, otherwise in the order given.

    Raises ``ValueError`` for a cycle, an unknown dependency or a duplicate id.
    """
    by_name: Mapping[str, PlanStep] = {step.id: step for step in steps}
    if len(by_name) < len(steps):
        twice = next(step.id for n, step in enumerate(steps) if any(step.id == other.id for other in steps[:n]))
        raise ValueError(f"two steps have the id {twice}")
    for step in steps:
        for name in step.after:
            if name not in by_name:
                raise ValueError(f"the step {step.id} comes after {name}, which is not a step of this plan")
    try:
        TopologicalSorter({step.id: step.after for step in steps}).prepare()
    except CycleError as error:
        raise ValueError(f"the steps wait for each other: {' -> '.join(error.args[1])}") from error
    order: dict[str, PlanStep] = {}
    while len(order) < len(steps):
        free = next(step for step in steps if step.id not in order and all(name in order for name in step.after))
        order[free.id] = free
    return list(order.values())


class Revision(Model):
    """How a finding was answered: the strategy, the plan before and after, and whether it worked."""

    id: Id
    goal: Id
    finding: FindingKind
    step: Label | None = None
    strategy: Strategy
    why: str
    before: int
    """The number of the plan that was revised."""
    after: int | None = None
    """The number of the new plan; None if the goal was blocked or ended instead."""
    at: Moment
    worked: bool | None = None
    """Whether the revision worked; None while that is not known."""


class RevisionBody(Model):
    """A revision as it is stored."""

    goal: Id
    plan: Id
    """The plan that was revised."""
    number: int
    """The revision's number within its goal, from 1."""
    finding: FindingKind
    step: Label | None = None
    strategy: Strategy
    why: Text
    before: int
    after: int | None = None
    at: Moment
    worked: bool | None = None
    print: str
    """The fingerprint of the plan that was revised."""
    watched: tuple[Label, ...] = ()
    """The steps of the new plan whose outcome decides whether the revision worked."""
    replaced: str = ""
    """The tool or procedure that was replaced, as ``tool:send``."""
    counts: bool = True
    """Whether the outcome updates the policy. False if a person asked for the revision without a finding."""


class GoalProgress(Model):
    """How far a goal has come."""

    goal: Id
    status: GoalStatus
    progress: Unit
    criteria_met: int
    criteria: int
    steps_done: int
    steps: int
    running: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    sub_goals: tuple[GoalProgress, ...] = ()
