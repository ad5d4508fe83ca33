"""What a run has in mind: its goal, plan and results in working memory, and what was put there by hand.

Working memory serves the run and never stops it: if it cannot be read or written, the problem is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from longmind.agent.models import Call, Observation
from longmind.agent.run_recorder import describe_call
from longmind.systems.cancellation import shield_until_done
from longmind.systems.working import Item, RunItems


@dataclass(slots=True)
class RunMind:
    """The working memory of one run."""

    items: RunItems
    problem: Callable[[str], None]
    _plan: str = ""
    _begun: bool = False
    _results: int = 0

    async def begin(self, task: str, plan: str) -> None:
        """Put the task as the goal, and the plan if there is one."""
        self._plan = plan
        self._begun = True
        await self._do("be given the goal", lambda: self.items.begin(task, plan))

    async def attend(self, task: str) -> tuple[Item, ...]:
        """Return what is in mind now, the most attended first."""
        attended: tuple[Item, ...] = ()

        async def read() -> None:
            nonlocal attended
            attended = await self.items.attended(task)

        await self._do("be read", read, write=False)
        return attended

    async def plan(self, call: Call) -> None:
        """Put what is to be done next, unless the run follows a plan that it was given."""
        if self._begun and not self._plan:
            await self._do("be given the plan", lambda: self.items.plan(planned(call)))

    async def replan(self, plan: str) -> None:
        """Put the plan that the run follows, if it has changed."""
        if self._begun and plan != self._plan:
            self._plan = plan
            await self._do("be given the plan", lambda: self.items.plan(plan))

    async def note(self, text: str) -> None:
        """Put the result of a step, after those before it."""
        self._results += 1
        number = self._results
        if self._begun:
            await self._do("be given a result", lambda: self.items.result(number, text, None))

    async def result(self, number: int, done: Observation, event: str | None) -> None:
        """Put the result of an action."""
        if not self._begun:
            return
        await self._do("be given a result", lambda: self.items.result(number, describe_call(done), event))

    async def end(self) -> None:
        """Remove what the run had in mind; episodic memory has it. What was put by hand stays."""
        if self._begun:
            await self._do("be cleared", self.items.end)

    async def _do(self, what: str, ask: Callable[[], Coroutine[Any, Any, None]], *, write: bool = True) -> None:
        try:
            await (shield_until_done(ask()) if write else ask())
        except Exception as error:
            self.problem(f"Working memory could not {what}: {error}")


def planned(call: Call) -> str:
    """Return what is to be done next: as the policy says it, or else the call in one line."""
    if call.thought.strip():
        return call.thought
    args = ", ".join(f"{name}={value!r}" for name, value in call.args.items())
    return f"call {call.tool}({args})"
