"""Record a pursuit as an episode about the goal, with an event for each attempt at a step.

The plan keeps the beginning of a result; the event holds more of it. If recording fails, the pursuit continues and
reports a problem.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from longmind.agent.pursuit.models import PursuitEnding, StepOutcome
from longmind.agent.run_mind import MindWrites, RunMind
from longmind.agent.run_recorder import DETAILS, close_episode
from longmind.agent_memory import AgentMemory
from longmind.systems.episodic import EpisodeBody, EpisodeWriter, EventDraft
from longmind.systems.episodic import Outcome as Ended
from longmind.systems.goals import Goal, Plan, PlanStep, truncate_text
from longmind.systems.scoped_store import validated
from longmind.systems.working import RunItems
from longmind.text.quoting import flatten

TYPE, STEP = "pursuit", "step"
"""The type of the episode, and of its events."""
_TITLE, _TOLD, _NOTE, _PLANNED = 500, 500, 2_000, 100
_ENDED: Mapping[PursuitEnding, Ended] = {"achieved": "succeeded", "failed": "failed", "abandoned": "failed"}


def plan_text(plan: Plan) -> str:
    """Return the steps of a plan with their status, in one line."""
    return "; ".join(f"{step.id} ({step.status}): {flatten(step.description, _PLANNED)}" for step in plan.steps)


@dataclass(slots=True)
class PursuitRecorder:
    """Records one pursuit of one goal. The episode is stored with the first step."""

    mem: AgentMemory
    id: str
    problem: Callable[[str], None]
    _begun: bool = False
    _tried: bool = False
    _mind: RunMind | None = None
    _steps: dict[str, datetime] = field(default_factory=dict)

    @property
    def episode(self) -> str | None:
        """The id of the episode, if it is stored."""
        return self.id if self._begun else None

    async def began(self, goal: Goal, plan: Plan | None, step: PlanStep) -> None:
        """Record that a step is about to start. The goal and the plan are in mind while the pursuit goes on."""
        planned = "" if plan is None else plan_text(plan)
        if not self._tried:
            self._tried = True
            mind = RunMind(RunItems(self.mem.scoped, pursuit_session(goal.id), self.id), self.problem)
            in_mind = mind.beginning(goal.description, planned)
            self._begun = await self._stored("beginning", lambda: self._store_episode(goal, in_mind))
            self._mind = mind if self._begun else None
        elif self._mind is not None:
            await self._mind.replan(planned)
        self._steps[step.id] = self.mem.scoped.now()

    async def ended(self, step: PlanStep, outcome: StepOutcome) -> None:
        """Record the outcome of a step."""
        if self._begun:
            at = self._steps.get(step.id) or self.mem.scoped.now()
            in_mind = None if self._mind is None else self._mind.noting(f"{step.id}: {_described(step, outcome)}")
            await self._stored(f"step {step.id}", lambda: self._store_step(step, outcome, at, in_mind))

    async def close(self, ending: PursuitEnding | None, why: str) -> None:
        """Close the episode. An ending of None means that the pursuit was cancelled."""
        if self._begun:
            in_mind = None if self._mind is None else self._mind.ending()
            ended_as, note = ending or "cancelled", f"{ending or 'cancelled'}: {why}"[:_NOTE]
            outcome: Ended = "unknown" if ending is None else _ENDED.get(ending, "unknown")
            await self._stored(
                "end",
                lambda: close_episode(self.mem.scoped, self.id, outcome, note, {"ending": ended_as}, joined=in_mind),
            )
        if self._mind is not None:
            await self._mind.end()

    async def _stored(self, what: str, store: Callable[[], Awaitable[object]]) -> bool:
        try:
            await store()
        except Exception as error:
            self.problem(f"Memory could not store the {what} of the pursuit: {error}")
            return False
        return True

    async def _store_episode(self, goal: Goal, in_mind: MindWrites) -> None:
        """Store the episode. It derives from the goal, so that erasing the goal erases it too."""
        scoped = self.mem.scoped
        title = " ".join(goal.description.split())[:_TITLE]
        description = f"Pursuing the goal: {goal.description}"
        body = validated(
            EpisodeBody, {"title": title, "type": TYPE, "description": description, "attributes": {DETAILS: {}}}
        )
        links = {"about": [goal.id], "derived_from": [goal.id]}
        await EpisodeWriter(scoped).begin(body, links=links, reason="pursuit begun", joined=in_mind, id=self.id)

    async def _store_step(self, step: PlanStep, outcome: StepOutcome, at: datetime, in_mind: MindWrites | None) -> None:
        data: dict[str, Any] = {"step": step.id, "how": outcome.how, "ok": outcome.ok, "attempt": outcome.attempt}
        used = step.tool or step.procedure
        data |= {"uses": used, "args": step.args} if used else {}
        data |= {"result": outcome.result} if outcome.ok else {"error": outcome.error}
        data |= {"run": outcome.episode} if outcome.episode not in (None, self.id) else {}
        fields = {
            "what": _described(step, outcome),
            "type": STEP,
            "at": at,
            "duration": timedelta(seconds=outcome.seconds),
            "actor": used,
            "data": data,
            "valence": 0.0 if outcome.ok else -0.5,
        }
        draft = validated(EventDraft, fields)
        await EpisodeWriter(self.mem.scoped).add_event(
            self.id, draft, derived=True, joined=in_mind, reason="a step ended"
        )


def pursuit_session(goal: str) -> str:
    """Return the name of the session whose working memory holds a pursuit."""
    return f"goal:{goal}"


def _described(step: PlanStep, outcome: StepOutcome) -> str:
    came = outcome.result if outcome.ok else f"failed: {outcome.error}"
    return f"{step.description} -> {_short(came)}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return truncate_text(" ".join(text.split()), _TOLD)
