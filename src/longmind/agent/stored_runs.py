"""Stored runs: replay, comparison with another policy, and outcomes. No tool is called and no model is asked.

    for step in await replay(mem, outcome.episode):
        print(step.action, step.observation)

``divergence`` gives the same turns to another policy and returns where it decides differently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from longmind.agent.models import Action, Call, Critique, Observation, Outcome, Policy, PolicyFunction, Say, Turn
from longmind.agent.policies import as_policy
from longmind.agent.recall import as_message
from longmind.agent.run_mind import planned
from longmind.agent.run_recorder import (
    ANSWER,
    CALL,
    CRITIQUE,
    DETAILS,
    IN_MIND,
    TYPE,
    close_interrupted_run,
    describe_call,
    run_key,
)
from longmind.agent_memory import AgentMemory
from longmind.errors import InvalidInput, NotFound, OperationMismatch
from longmind.models.chat import Usage
from longmind.systems import ownership
from longmind.systems.episodic import EPISODE, Episode, Event, Lesson, iterate_events
from longmind.systems.procedural import ProcedureHit, ToolDescription
from longmind.systems.working import Item, items_of_run, items_text
from longmind.types import Filter, Hit, Memory, Message


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """One decision of a stored run: what the policy saw, its action and, for a call, the observation."""

    turn: Turn
    action: Action
    observation: Observation | None = None


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where another policy decides differently: the number of the step (from 1), and both actions."""

    at: int
    was: Action
    now: Action


async def replay(mem: AgentMemory, episode: str) -> list[ReplayStep]:
    """Return the steps of a stored run, in order. Memories that were forgotten since are missing from the turns."""
    run = await _stored(mem, episode)
    turn = await _turn(mem, run)
    steps: list[ReplayStep] = []
    done: list[Observation] = []
    async for event in iterate_events(mem.scoped, episode):
        working = _in_mind(turn.task, done, event)
        context = "\n\n".join(filter(None, (turn.recalled, items_text(working))))
        seen = replace(turn, done=tuple(done), working=working, context=context, critique=_critique(event))
        if event.type == CALL:
            observation = _observation(event)
            steps.append(ReplayStep(seen, observation.call, observation))
            done.append(observation)
        elif event.type == ANSWER and not event.data.get("partial"):
            steps.append(ReplayStep(seen, Say(text=event.what)))
    return steps


async def divergence(mem: AgentMemory, episode: str, policy: Policy | PolicyFunction) -> Divergence | None:
    """Return the first step where a policy decides differently; None if it decides the same everywhere."""
    deciding = as_policy(policy)
    for number, step in enumerate(await replay(mem, episode), 1):
        now = await deciding.decide(step.turn)
        if not _same_action(step.action, now):
            return Divergence(number, step.action, now)
    return None


async def load_outcome(mem: AgentMemory, episode: str) -> Outcome:
    """Return how a stored run ended."""
    run = await _stored(mem, episode)
    details = _details(run)
    if run.open:
        raise InvalidInput(f"The run {episode} has not ended.", hint="Wait for it; one that died ends with the next.")
    done = [_observation(event) async for event in iterate_events(mem.scoped, episode) if event.type == CALL]
    turn = await _turn(mem, run)
    return Outcome(
        task=turn.task,
        session=turn.session,
        ending=details.get("ending", "cancelled"),
        text=str(details.get("text", "")),
        success=details.get("success"),
        done=tuple(done),
        memories=turn.memories,
        reflection=await _reflection(mem, episode),
        episode=episode,
        problems=tuple(details.get("problems", ())),
        usage=Usage.model_validate(details.get("usage", {})),
        critic_usage=Usage.model_validate(details.get("critic_usage", {})),
        seconds=float(details.get("seconds", 0.0)),
    )


async def find_outcome(mem: AgentMemory, key: str, task: str) -> Outcome | None:
    """Return the outcome of the run that was started with a key; None if there is none.

    The caller holds the session, so a run that is still open under the key was interrupted by a crash. It is closed,
    and its key is free again.
    """
    there = await ownership.find_own(mem.scoped, run_key(key))
    if there is None:
        return None
    run = Episode.of(there)
    if _task(run) != task:
        raise OperationMismatch(
            f"The key {key!r} was used before for another task.", hint="Give each task a key of its own."
        )
    if run.open:
        await close_interrupted_run(mem.scoped, there.id)
        return None
    return await load_outcome(mem, there.id)


# -- reading -----------------------------------------------------------------------------------------------------


async def _stored(mem: AgentMemory, episode: str) -> Episode:
    run = Episode.of(await mem.scoped.need(episode, EPISODE))
    if run.type != TYPE:
        raise NotFound(f"The episode {episode} is not a run of an agent.", id=episode)
    return run


async def _turn(mem: AgentMemory, run: Episode) -> Turn:
    """Rebuild what the policy saw at its first decision."""
    brought: Mapping[str, Any] = _details(run).get("brought", {})
    scores: Mapping[str, float] = brought.get("memories", {})
    there = {m.id: m for m in await mem.store.get_all(mem.scope, [*scores, *brought.get("reflections", ())])}
    return Turn(
        task=_task(run),
        session=run.session or "",
        tools=tuple(
            ToolDescription(name=name, description="", parameters={}, pure=False) for name in brought.get("tools", ())
        ),
        memories=tuple(Hit(memory=there[id], score=score, why="replay") for id, score in scores.items() if id in there),
        reflections=tuple(there[id] for id in brought.get("reflections", ()) if id in there),
        lessons=tuple(Lesson.model_validate(lesson) for lesson in brought.get("lessons", ())),
        procedures=await _procedures(mem, brought.get("procedures", {})),
        conversation=await _conversation(mem, run),
        recalled=str(brought.get("context", "")),
        context=str(brought.get("context", "")),
    )


async def _procedures(mem: AgentMemory, scores: Mapping[str, float]) -> tuple[ProcedureHit, ...]:
    hits: list[ProcedureHit] = []
    for name, score in scores.items():
        try:
            hits.append(ProcedureHit(version=await mem.procedural.retrieve(name), score=score, why="replay"))
        except NotFound:
            continue  # it was deleted since
    return tuple(hits)


async def _conversation(mem: AgentMemory, run: Episode) -> tuple[Message, ...]:
    if run.session is None:
        return ()
    where = Filter(sessions=(run.session,), until=run.start)
    page = await mem.list(kinds=("message",), where=where, order="occurred", limit=20)
    said: list[Memory] = [m for m in reversed(page.items) if m.metadata.get(EPISODE) != run.id]
    return tuple(as_message(memory) for memory in said)


def _task(run: Episode) -> str:
    return run.description or run.title


def _details(run: Episode) -> Mapping[str, Any]:
    details = run.attributes.get(DETAILS, {})
    return details if isinstance(details, Mapping) else {}


def _observation(event: Event) -> Observation:
    data = event.data
    return Observation(
        call=Call(tool=data["tool"], args=data.get("args", {}), thought=data.get("thought", "")),
        ok=bool(data.get("ok")),
        result=data.get("result"),
        error=data.get("error", ""),
        truncated=bool(data.get("truncated")),
        seconds=event.duration.total_seconds(),
    )


def _critique(event: Event) -> Critique | None:
    critique = event.data.get(CRITIQUE)
    return None if critique is None else Critique.model_validate(critique)


def _same_action(left: Action, right: Action) -> bool:
    if isinstance(left, Call) and isinstance(right, Call):
        return left.tool == right.tool and left.args == right.args
    return isinstance(left, Say) and isinstance(right, Say) and left.text == right.text


def _in_mind(task: str, done: Sequence[Observation], event: Event) -> tuple[Item, ...]:
    """Return what was in mind at a decision: what the run had put there by then, and what was put there by hand."""
    results = [describe_call(observation) for observation in done]
    plan = planned(done[-1].call) if done else ""
    by_hand = [Item.model_validate(item) for item in event.data.get(IN_MIND, ())]
    return items_of_run(task, plan, results, by_hand, event.at)


async def _reflection(mem: AgentMemory, episode: str) -> str | None:
    links = await mem.store.links(mem.scope, [episode], relation="derived_from", direction="in")
    memories = await mem.store.get_all(mem.scope, [link.source for link in links])
    return next((memory.id for memory in memories if memory.kind == "reflection"), None)
