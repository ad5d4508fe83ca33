"""The state shared by the pursuits of a goal and its sub-goals: resources, limits and results so far."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import dataclass, field

from longmind.agent.pursuit.models import EventKind, OnEvent, PursuitEvent, PursuitLimits, StepOutcome
from longmind.agent.pursuit.step_executor import StepExecutor
from longmind.agent_memory import AgentMemory
from longmind.models.chat import Usage
from longmind.systems.goals import GoalMemory, Revision


@dataclass(slots=True)
class PursuitContext:
    """The shared state of one call of ``pursue``."""

    mem: AgentMemory
    limits: PursuitLimits
    on_event: OnEvent | None = None
    goals: GoalMemory = field(init=False)
    executor: StepExecutor = field(init=False)
    usage: Usage = field(default_factory=Usage)
    outcomes: list[StepOutcome] = field(default_factory=list)
    revisions: list[Revision] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    begun: int = 0
    """The number of steps started."""
    exhausted: str = ""
    """Which external budget is used up, such as the agent's daily tokens."""
    _deadline: float = field(init=False)

    def __post_init__(self) -> None:
        self._deadline = asyncio.get_running_loop().time() + self.limits.seconds

    @property
    def left(self) -> float:
        """The seconds left."""
        return max(0.0, self._deadline - asyncio.get_running_loop().time())

    def over(self) -> str:
        """Return which limit is reached; empty if none is."""
        limits = self.limits
        if self.exhausted:
            return self.exhausted
        if not self.left:
            return f"The time for the pursuit is over ({limits.seconds:g} seconds)."
        if self.begun >= limits.steps:
            return f"{self.begun} steps were begun, and no more are allowed."
        if limits.tokens is not None and self.usage.tokens >= limits.tokens:
            return f"{self.usage.tokens:,} of the {limits.tokens:,} tokens it may use are used."
        return ""

    def count(self, usage: Usage) -> None:
        self.usage += usage

    def problem(self, text: str) -> None:
        if text not in self.problems:
            self.problems.append(text)

    async def tell(self, kind: EventKind, goal: str, text: str = "", *, step: str | None = None) -> None:
        """Report an event to ``on_event``. If the callback fails, note a problem and continue."""
        if self.on_event is None:
            return
        try:
            result = self.on_event(PursuitEvent(kind=kind, goal=goal, step=step, text=text))
            if inspect.isawaitable(result):
                await result
        except Exception as error:
            self.problem(f"Who was told about the pursuit failed: {type(error).__name__}: {error}")
