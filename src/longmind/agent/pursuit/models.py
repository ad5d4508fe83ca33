"""The limits, the events and the result of a pursuit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from longmind.models.chat import Usage
from longmind.systems.goals import Goal, Revision
from longmind.types import Model

PursuitEnding = Literal["achieved", "failed", "abandoned", "blocked", "out_of_budget", "broken_off"]
"""``blocked``: a person is needed, and ``goal.why`` says for what. ``broken_off``: memory could not be read or written,
or another process took the goal over; the same call goes on where it stopped."""
EventKind = Literal["sub_goal", "planned", "started", "done", "failed", "stopped", "revised", "blocked", "ended"]
How = Literal["tool", "procedure", "agent"]
_Seconds = Annotated[float, Field(gt=0, le=86_400 * 7, allow_inf_nan=False)]


class PursuitLimits(Model):
    """The limits of a pursuit. Sub-goals share those of the goal above them."""

    steps: Annotated[int, Field(ge=1, le=10_000)] = 100
    """The most steps started; each attempt counts."""
    seconds: _Seconds = 3_600.0
    tokens: Annotated[int, Field(ge=1)] | None = None
    """How many tokens a model may use for planning and acting; None sets no limit but the agent's budget."""
    revisions: Annotated[int, Field(ge=0, le=1_000)] = 30
    parallel: Annotated[int, Field(ge=1, le=64)] = 4
    """The most steps running in parallel, where the plan allows it."""
    step_seconds: _Seconds = 300.0
    """How long a procedure or a task given to the agent may take; a tool has the ``tool_seconds`` of the agent."""
    lease_seconds: _Seconds = 30.0
    """How long a goal and its running steps stay taken when the process that took them is gone."""
    wait_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 40.0
    """How long to wait for another pursuit of the goal; longer than the lease, so that a crash is waited out."""


class StepOutcome(Model):
    """The outcome of one attempt at a step."""

    goal: str
    step: str
    attempt: int
    how: How
    ok: bool
    result: Any = None
    """Bounded, as the agent's limits say."""
    error: str = ""
    episode: str | None = None
    """The episode that records it: of the run or of the pursuit."""
    seconds: Annotated[float, Field(ge=0)] = 0.0


class PursuitEvent(Model):
    """An event during a pursuit, for ``on_event``."""

    kind: EventKind
    goal: str
    step: str | None = None
    text: str = ""


OnEvent: TypeAlias = Callable[[PursuitEvent], Awaitable[None] | None]


class Pursuit(Model):
    """The result of a pursuit, with everything it did and used."""

    goal: Goal
    """The goal at the end of the pursuit."""
    ending: PursuitEnding
    why: str = ""
    """In words: what is needed, what ran out, what went wrong."""
    steps_done: int = 0
    revisions: tuple[Revision, ...] = ()
    outcomes: tuple[StepOutcome, ...] = ()
    """One for each attempt at a step, also of sub-goals, in the order in which they ended."""
    problems: tuple[str, ...] = ()
    """Problems apart from the steps, such as a memory that could not be written."""
    seconds: Annotated[float, Field(ge=0)] = 0.0
    usage: Usage = Usage()
