"""What passes between the agent and what decides for it: the turn, the action, the outcome."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, TypeAlias, runtime_checkable

from pydantic import Field

from longmind.models.chat import Usage
from longmind.systems.episodic import Lesson
from longmind.systems.procedural import ProcedureHit, ToolDescription
from longmind.types import Hit, Json, Memory, Message, Model

Ending = Literal["answered", "failed", "timed_out", "cancelled", "out_of_budget"]


class Call(Model):
    """An action: call a tool. ``thought`` says why, for the record and for the critic."""

    tool: str
    args: Json = Field(default_factory=dict)
    thought: str = ""


class Say(Model):
    """An action: answer, and so end the run. ``success`` is what the policy believes; None says nothing about it."""

    text: str
    success: bool | None = None
    thought: str = ""


Action: TypeAlias = Call | Say


class Observation(Model):
    """What a call did: its result as plain data, bounded, or the error in its place."""

    call: Call
    ok: bool
    result: Any = None
    error: str = ""
    truncated: bool = False
    seconds: float = 0.0


class Critique(Model):
    """An objection to an action before it is taken, with the memories that speak for it."""

    objection: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """All that a policy may look at. It has what memory brought, and no way to ask the world but by its action."""

    task: str
    session: str
    tools: tuple[ToolDescription, ...] = ()
    done: tuple[Observation, ...] = ()
    """What was done in this run so far, the earliest first."""
    memories: tuple[Hit, ...] = ()
    reflections: tuple[Memory, ...] = ()
    """What was concluded from earlier runs of tasks like this one, the most fitting first."""
    lessons: tuple[Lesson, ...] = ()
    procedures: tuple[ProcedureHit, ...] = ()
    conversation: tuple[Message, ...] = ()
    context: str = ""
    """The same as text for a prompt: quoted data, within the budget."""
    critique: Critique | None = None
    """Why the action that was just proposed should be thought over; at most once for each action."""
    attempt: int = 1
    """Counts up when an answer of the policy could not be used."""
    problem: str = ""
    """What was wrong with it."""


PolicyFunction: TypeAlias = Callable[[Turn], Action | Awaitable[Action]]


class Policy(Protocol):
    """Decides what to do next."""

    async def decide(self, turn: Turn) -> Action: ...


@runtime_checkable
class Metered(Protocol):
    """A policy that can tell what it has used."""

    @property
    def usage(self) -> Usage: ...


@runtime_checkable
class Spoken(Protocol):
    """A policy that can be heard while it decides: pieces of text as they come, and at the end its action."""

    def speak(self, turn: Turn) -> AsyncIterator[str | Action]: ...


@runtime_checkable
class Described(Protocol):
    """A policy that can tell what it is, such as its model and its prompt; that is recorded with what it did."""

    @property
    def described(self) -> Mapping[str, str]: ...


class Outcome(Model):
    """How a run ended, with all that it did and used."""

    task: str
    session: str
    ending: Ending
    text: str = ""
    success: bool | None = None
    """Whether the task was done: as its judge or the policy says; None when nobody said."""
    done: tuple[Observation, ...] = ()
    memories: tuple[Hit, ...] = ()
    """What memory brought into the run, each with its reason."""
    reflection: str | None = None
    """The id of what was concluded from it."""
    episode: str | None = None
    problems: tuple[str, ...] = ()
    """What went wrong beside the task, such as a memory that could not be read."""
    usage: Usage = Usage()
    seconds: Annotated[float, Field(ge=0)] = 0.0

    @property
    def steps(self) -> int:
        return len(self.done)


@dataclass(frozen=True, slots=True)
class Limits:
    """What ends a run that does not end by itself."""

    actions: int = 20
    seconds: float = 300.0
    tool_seconds: float = 60.0
    bad_answers: int = 3
    """How often in a row a policy may answer something that cannot be used."""
    result_chars: int = 20_000
    """How much of what a tool returns is kept."""
    tokens: int | None = None
    """How many tokens a model may use for one run; None sets no limit but the agent's budget."""
    memories: int = 8
    context_tokens: int = 1_500
    messages: int = 20
    """How many of the session's last messages the policy sees."""
    episodes: int = 10
    """How many earlier episodes are compared for lessons."""
    procedures: int = 3
    """How many procedures that fit are offered as tools."""
    wait_seconds: float = 30.0
    """How long a run waits for another one in its session to end."""
    lease_seconds: float = 30.0
    """How long a session stays taken when the process that took it is gone."""


Judge: TypeAlias = Callable[[Outcome], bool | Awaitable[bool | None] | None]
"""Says of an outcome whether the task was done; None when that cannot be said."""
