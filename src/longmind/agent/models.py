"""The types that an agent and its policy exchange: turn, action, observation, outcome."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, TypeAlias, runtime_checkable

from pydantic import Field

from longmind.models.chat import Usage
from longmind.systems.episodic import Lesson
from longmind.systems.procedural import ProcedureHit, ToolDescription
from longmind.systems.working import Item
from longmind.types import Hit, Json, Memory, Message, Model

Ending = Literal["answered", "failed", "timed_out", "cancelled", "out_of_budget", "abandoned"]


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
    """An objection to an action before it is taken, with the memories that support it."""

    objection: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """Everything that a policy sees: the task, what was done so far, what was recalled, and what is in mind."""

    task: str
    session: str
    instructions: str = ""
    """Standing text of the developer, for the model to follow. It is no memory."""
    tools: tuple[ToolDescription, ...] = ()
    done: tuple[Observation, ...] = ()
    """The calls of this run so far, in order."""
    memories: tuple[Hit, ...] = ()
    reflections: tuple[Memory, ...] = ()
    """Conclusions from earlier runs of similar tasks, best match first."""
    lessons: tuple[Lesson, ...] = ()
    procedures: tuple[ProcedureHit, ...] = ()
    conversation: tuple[Message, ...] = ()
    working: tuple[Item, ...] = ()
    """What is in working memory at this decision, the most attended first: the run's own goal, plan and results, and
    what was put there by hand."""
    recalled: str = ""
    """What was recalled as text for a prompt: quoted data, within the token budget, the same in all turns of a run."""
    context: str = ""
    """All of memory as text for a prompt: what was recalled, and then what is in mind."""
    critique: Critique | None = None
    """An objection to the action that was just proposed; at most one for each action."""
    attempt: int = 1
    """The number of this attempt; it grows when an answer of the policy could not be used."""
    problem: str = ""
    """Why the previous answer could not be used."""


PolicyFunction: TypeAlias = Callable[[Turn], Action | Awaitable[Action]]


class Policy(Protocol):
    """Decides what to do next."""

    async def decide(self, turn: Turn) -> Action: ...


@runtime_checkable
class Metered(Protocol):
    """A policy or critic that counts what it uses."""

    @property
    def usage(self) -> Usage: ...


@runtime_checkable
class StreamingPolicy(Protocol):
    """A policy that streams: pieces of text as they come, and then its action."""

    def speak(self, turn: Turn) -> AsyncIterator[str | Action]: ...


@runtime_checkable
class DescribedPolicy(Protocol):
    """A policy that describes itself, such as its model and prompt; the description is stored with its runs."""

    @property
    def described(self) -> Mapping[str, str]: ...


class Outcome(Model):
    """How a run ended, with everything that it did and used."""

    task: str
    session: str
    ending: Ending
    text: str = ""
    success: bool | None = None
    """Whether the task was done, according to the judge or the policy; None if neither said."""
    done: tuple[Observation, ...] = ()
    memories: tuple[Hit, ...] = ()
    """The memories that were recalled for the run, each with its reason."""
    reflection: str | None = None
    """The id of the reflection that was stored."""
    episode: str | None = None
    problems: tuple[str, ...] = ()
    """Problems beside the task, such as a memory that could not be read."""
    usage: Usage = Usage()
    """What the models of the policy and the critic used."""
    critic_usage: Usage = Usage()
    """The part of the usage that a critic with a model had."""
    seconds: Annotated[float, Field(ge=0)] = 0.0

    @property
    def steps(self) -> int:
        return len(self.done)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a run."""

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
"""Decides whether an outcome is a success; None if it cannot tell."""
