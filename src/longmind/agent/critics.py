"""Critics: objections before an action, and conclusions after the outcome; and the critic that works by rules.

A critic never acts. An objection makes the policy decide once more. A conclusion is stored as a reflection, linked to
its episode, and recalled for the next task of the same family.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pydantic import Field

from longmind.agent.models import Action, Call, Critique, Observation, Outcome, Turn
from longmind.agent.task_similarity import call_shape, in_family, task_family
from longmind.systems.goals import truncate_value
from longmind.types import Json, Memory, Model, Text, Unit

FIRST_TIME, FAILED, RECOVERED = 0.5, 0.7, 0.8
_TASK, _ERROR, _ARGS, _CALLS = 300, 200, 200, 20


class ReflectionDraft(Model):
    """A reflection as a critic proposes it."""

    text: Text
    body: Json = Field(default_factory=dict)
    """``task, family, worked, failed, needs, steps, success, tools``; see ``conclusions``."""
    importance: Unit = FIRST_TIME
    problems: tuple[str, ...] = ()
    """Problems in making it, such as a model that failed."""


class Critic(Protocol):
    """Judges actions before they are taken, and outcomes."""

    async def before(self, turn: Turn, action: Action) -> Critique | None:
        """Return an objection with its evidence; None if there is none."""
        ...

    async def after(self, turn: Turn, outcome: Outcome) -> ReflectionDraft | None:
        """Return what should be remembered of the run; None if there is nothing to learn."""
        ...


class RuleCritic:
    """Remembers which calls failed and which worked."""

    async def before(self, turn: Turn, action: Action) -> Critique | None:
        """Object to a call that failed before, in this run or for a task of this family."""
        if not isinstance(action, Call):
            return None
        proposed = call_shape(action.tool, action.args, turn.task)
        for done in reversed(turn.done):
            if done.call.tool == action.tool and done.call.args == action.args:
                return None if done.ok else Critique(objection=f"The same call failed in this run: {done.error}")
            if done.ok:
                break  # something was done since, so it may work now
        worked = {call_shape(d.call.tool, d.call.args, turn.task) for d in turn.done if d.ok}
        for memory in turn.reflections:
            if in_family(turn.task, memory.body.get("family", ())):
                objection = _objection(memory, proposed, worked)
                if objection:
                    return Critique(objection=objection, evidence=(memory.id,))
        for lesson in turn.lessons:
            if lesson.advice == "avoid" and lesson.subject == f"data:tool={action.tool}":
                return Critique(objection=lesson.statement, evidence=lesson.episodes)
        return None

    async def after(self, turn: Turn, outcome: Outcome) -> ReflectionDraft | None:
        """Conclude which calls worked and which failed; None for a run without calls that nobody judged."""
        if not outcome.done and outcome.success is None:
            return None
        body = draw_conclusions(outcome)
        recovered = bool(body["failed"] or body["needs"]) and outcome.success is not False
        importance = RECOVERED if recovered else FAILED if outcome.success is False else FIRST_TIME
        return ReflectionDraft(text=describe_conclusions(body), body=body, importance=importance)


def draw_conclusions(outcome: Outcome) -> Json:
    """Return what a run shows about its calls.

    A call that failed and later worked is not a failure: the call that worked in between was needed first.
    """
    task = outcome.task
    shapes = [call_shape(d.call.tool, d.call.args, task) for d in outcome.done]
    good = {s for s, d in zip(shapes, outcome.done, strict=True) if d.ok}
    worked = {s: _call(d, s) for s, d in zip(shapes, outcome.done, strict=True) if d.ok}
    failed = {s: _call(d, s) for s, d in zip(shapes, outcome.done, strict=True) if not d.ok and s not in good}
    return {
        "task": task[:_TASK],
        "family": list(task_family(task, [d.call.args for d in outcome.done])),
        "worked": list(worked.values())[:_CALLS],
        "failed": list(failed.values())[:_CALLS],
        "needs": _needs(shapes, outcome.done)[:_CALLS],
        "steps": shapes[:_CALLS],
        "success": outcome.success,
        "tools": dict(Counter(d.call.tool for d in outcome.done)),
        **({"answer": outcome.text[:_TASK]} if not outcome.done else {}),
    }


def describe_conclusions(body: Mapping[str, Any]) -> str:
    """Describe conclusions in words, for search and for a prompt."""
    parts = [f"Task: {body['task']}"]
    if body["worked"]:
        parts.append("Worked: " + "; ".join(_named(call) for call in body["worked"]))
    if body["failed"]:
        parts.append("Did not work: " + "; ".join(f"{_named(call)} -> {call['error']}" for call in body["failed"]))
    parts += [f"Do {need['do']} before {need['before']}" for need in body["needs"]]
    if "answer" in body:
        parts.append(f"Answered: {body['answer']}")
    if body["success"] is not None:
        parts.append("The task was done." if body["success"] else "The task was not done.")
    return "\n".join(parts)


def _objection(memory: Memory, proposed: str, worked: set[str]) -> str:
    for need in memory.body.get("needs", ()):
        if need["before"] == proposed and need["do"] not in worked:
            return f"For a task like this, {need['do']} had to be done first."
    for call in memory.body.get("failed", ()):
        if call["shape"] == proposed:
            instead = "; ".join(_named(call) for call in memory.body.get("worked", ()))
            return f"For a task like this it failed: {call['error']}" + (f" What worked: {instead}" if instead else "")
    return ""


def _needs(shapes: Sequence[str], done: Sequence[Observation]) -> list[dict[str, str]]:
    """Return, for each call that failed first and worked later, the last other call that worked in between."""
    needs: dict[str, dict[str, str]] = {}
    for at, (failed, observation) in enumerate(zip(shapes, done, strict=True)):
        later = next((n for n in range(at + 1, len(done)) if shapes[n] == failed and done[n].ok), None)
        if observation.ok or later is None:
            continue
        between = [shapes[n] for n in range(at + 1, later) if done[n].ok and shapes[n] != failed]
        if between:
            needs[failed] = {"do": between[-1], "before": failed}
    return list(needs.values())


def _call(done: Observation, its_shape: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"tool": done.call.tool, "args": _args(done.call.args), "shape": its_shape}
    return fields if done.ok else fields | {"error": done.error[:_ERROR]}


def _args(args: Mapping[str, Any]) -> Json:
    """Return the arguments of a call, cut for a reflection; the event of the call has them in full."""
    return {name: truncate_value(args[name], _ARGS) for name in list(args)[:_CALLS]}


def _named(call: Mapping[str, Any]) -> str:
    return str(call["shape"])
