"""What a run has in mind: its goal, plan and results in working memory, and what was put there by hand.

The goal, the results and the end are written in the batches that record them in episodic memory, the plan in a write of
its own at the end of ``think``. Working memory serves the run and never stops it: if it cannot be read or written, the
problem is reported, and the record is stored without it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from longmind.agent.models import Call, Observation
from longmind.agent.run_recorder import describe_call
from longmind.store.base import Receipt, Write
from longmind.systems.cancellation import shield_until_done
from longmind.systems.working import Item, RunItems
from longmind.types import Memory


@dataclass(slots=True)
class RunMind:
    """The working memory of one run."""

    items: RunItems
    problem: Callable[[str], None]
    _plan: str = ""
    _begun: bool = False
    _results: int = 0

    def beginning(self, task: str, plan: str) -> MindWrites:
        """Return the writes that put the task as the goal, and the plan if there is one."""
        self._plan = plan
        return MindWrites(self, "be given the goal", lambda _: self.items.begin(task, plan), begins=True)

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

    def noting(self, text: str) -> MindWrites | None:
        """Return the writes that put the result of a step, after those before it."""
        self._results += 1
        number = self._results
        return self._joined("be given a result", lambda event: self.items.result(number, text, event.id))

    def resulting(self, number: int, done: Observation) -> MindWrites | None:
        """Return the writes that put the result of an action."""
        text = describe_call(done)
        return self._joined("be given a result", lambda event: self.items.result(number, text, event.id))

    def ending(self) -> MindWrites | None:
        """Return the writes that remove what the run had in mind; what was put by hand stays."""
        return self._joined("be cleared", lambda _: self.items.end(), ends=True)

    async def end(self) -> None:
        """Remove what the run had in mind, unless that was written with the end of its episode."""
        if self._begun:
            await self._do("be cleared", self.items.remove)
            self._begun = False

    def _joined(
        self, what: str, build: Callable[[Memory], Awaitable[list[Write]]], *, ends: bool = False
    ) -> MindWrites | None:
        return MindWrites(self, what, build, ends=ends) if self._begun else None

    async def _do(self, what: str, ask: Callable[[], Coroutine[Any, Any, None]], *, write: bool = True) -> None:
        try:
            await (shield_until_done(ask()) if write else ask())
        except Exception as error:
            self.problem(f"Working memory could not {what}: {error}")


@dataclass(slots=True)
class MindWrites:
    """A change of what a run has in mind, written in the batch that records it (``JoinedWrites``)."""

    mind: RunMind
    what: str
    build: Callable[[Memory], Awaitable[list[Write]]]
    begins: bool = False
    ends: bool = False
    _built: bool = False

    async def writes(self, record: Memory) -> Sequence[Write]:
        """Return the writes; none if they cannot be prepared, so that the record is stored without them."""
        self._built = False
        try:
            writes = await self.build(record)
        except Exception as error:
            self.mind.problem(f"Working memory could not {self.what}: {error}")
            return ()
        self._built = True
        return writes

    def written(self, receipt: Receipt) -> None:
        """Take note that the batch was written."""
        if self._built:
            self.mind.items.written(receipt)
            self.mind._begun = (self.mind._begun or self.begins) and not self.ends


def planned(call: Call) -> str:
    """Return what is to be done next: as the policy says it, or else the call in one line."""
    if call.thought.strip():
        return call.thought
    args = ", ".join(f"{name}={value!r}" for name, value in call.args.items())
    return f"call {call.tool}({args})"
