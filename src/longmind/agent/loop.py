"""The run of one task: perceive, recall, then reflect, act and record for each action, and learn at the end.

Every run ends with an outcome that is stored: it answered, failed, ran out of time or budget, or was cancelled.
Problems with memory are listed in the outcome and never stop the task.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from longmind.agent.critics import Critic
from longmind.agent.models import (
    Action,
    Call,
    Critique,
    DescribedPolicy,
    Ending,
    Judge,
    Limits,
    Metered,
    Observation,
    Outcome,
    Policy,
    Say,
    StreamingPolicy,
    Turn,
)
from longmind.agent.policies import action_problem
from longmind.agent.recall import RecallSource
from longmind.agent.reflection_store import ReflectionStore
from longmind.agent.run_recorder import RunRecorder, close_interrupted_run
from longmind.agent.stored_runs import find_outcome
from longmind.agent.toolbox import Toolbox
from longmind.agent_memory import AgentMemory
from longmind.errors import BudgetSpent, Conflict, InvalidAnswer, ModelError, OperationMismatch, StoreError
from longmind.models.chat import Usage
from longmind.systems.cancellation import shield_until_done
from longmind.systems.procedural import error_message
from longmind.systems.records import Lease

Emit = Callable[[str], Awaitable[None]]
_AFTERWARDS = 3
"""After its deadline a run may take this many times ``tool_seconds`` to be judged, recorded and learnt from."""
_log = logging.getLogger("longmind")


@dataclass(slots=True)
class Parts:
    """The components that a run uses."""

    mem: AgentMemory
    policy: Policy
    toolbox: Toolbox
    recall: RecallSource
    critic: Critic | None
    judge: Judge | None
    limits: Limits


class _Ended(Exception):
    """The run ends without an answer."""

    def __init__(self, ending: Ending, text: str) -> None:
        super().__init__(text)
        self.ending: Ending = ending
        self.text = text


@dataclass(slots=True)
class TaskRun:
    """One run of an agent: ``open`` it, then ``step`` until there is an ``outcome``, or call ``to_end``."""

    parts: Parts
    task: str
    session: str
    key: str | None = None
    seconds: float | None = None
    """Its time limit; by default that of the limits."""
    emit: Emit | None = None
    outcome: Outcome | None = None
    problems: list[str] = field(default_factory=list)
    _turn: Turn | None = None
    _done: list[Observation] = field(default_factory=list)
    _said: list[str] = field(default_factory=list)
    """The text that was streamed of the current decision."""
    _begun: datetime = field(init=False)
    _deadline: float = field(init=False, default=0.0)
    _lease: Lease = field(init=False)
    _recorder: RunRecorder = field(init=False)
    _used: Usage = field(init=False, default_factory=Usage)
    _reflection: str | None = None
    _critique: Critique | None = None
    """The critique that preceded the current decision."""

    async def open(self) -> TaskRun:
        """Acquire the session and store the task, before anything else is done."""
        mem, id = self.parts.mem, self.parts.mem.scoped.clock.new_id()
        self._lease = Lease(mem.scoped, self.session, id, self.parts.limits.lease_seconds, self._problem)
        if not await self._lease.acquire(self.parts.limits.wait_seconds):
            raise self._session_busy()
        self._begun = mem.scoped.now()
        self._used = self._total_usage()
        self._deadline = asyncio.get_running_loop().time() + self._time_limit()
        self._lease.ends = self._deadline + _AFTERWARDS * self.parts.limits.tool_seconds
        self._recorder = RunRecorder(mem, id, self.task, self.session, self.key, self._problem, self._begun)
        try:
            await shield_until_done(self._begin())
        except BaseException as error:
            await self._record_abort(error)
            raise
        return self

    def _session_busy(self) -> Conflict:
        wait = self.parts.limits.wait_seconds
        return Conflict(
            f"Another run is at work in the session {self.session!r}; it did not end within {wait:g} seconds.",
            hint="Wait for it, cancel it, or use another session.",
            session=self.session,
        )

    async def step(self) -> Observation | Outcome:
        """Make one decision and carry it out. Return the observation of a call, or the outcome at the end."""
        if self.outcome is not None:
            raise Conflict("This run has ended.", hint="Begin another one.", episode=self.outcome.episode)
        try:
            return await self._decide_and_act()
        except BaseException as error:
            await self._record_abort(error)
            raise

    async def to_end(self) -> Outcome:
        """Run until there is an outcome."""
        while self.outcome is None:
            await self.step()
        return self.outcome

    async def cancel(self) -> Outcome:
        """Cancel the run; what was done so far is recorded."""
        if self.outcome is None:
            await self._finish("cancelled", "The run was cancelled.")
        assert self.outcome is not None
        return self.outcome

    # -- one step ------------------------------------------------------------------------------------------------

    async def _begin(self) -> None:
        mem = self.parts.mem
        if self._lease.taken_over_from is not None:
            try:
                await close_interrupted_run(mem, self._lease.taken_over_from)
            except Exception as error:
                self._problem(f"The run that was interrupted before could not be closed: {error}")
        if self.key is not None and await self._load_known_outcome(self.key):
            await self._lease.release()
            return
        await self._recorder.begin()

    async def _load_known_outcome(self, key: str) -> bool:
        """Whether a run with this key has ended before; its outcome then becomes the outcome of this run."""
        try:
            self.outcome = await find_outcome(self.parts.mem, key, self.task)
        except StoreError as error:
            self._problem(f"It is not known whether the task was done before: {error}")
        return self.outcome is not None

    async def _decide_and_act(self) -> Observation | Outcome:
        try:
            async with asyncio.timeout_at(self._deadline) as limit:
                action = await self._decide()
                if isinstance(action, Call):
                    return await self._act(action)
        except TimeoutError:
            if not limit.expired():
                raise
            text = f"The task was not done in the time it had ({self._time_limit():g} seconds)."
            return await self._finish("timed_out", text)
        except _Ended as ended:
            return await self._finish(ended.ending, ended.text)
        return await self._finish("answered", action.text, action.success)

    async def _decide(self) -> Action:
        turn = await self._load_turn()
        if self._lease.lost:
            raise _Ended("failed", "Another run has taken over the session, since this one seemed dead.")
        if len(self._done) >= self.parts.limits.actions:
            raise _Ended("failed", f"There was no answer after {len(self._done)} actions.")
        attempt, problem, critique = 1, "", None
        while attempt <= self.parts.limits.bad_answers:
            self._check_tokens()
            asked = replace(turn, done=tuple(self._done), attempt=attempt, problem=problem, critique=critique)
            action, problem = await self._ask_policy(asked)
            if action is None:
                self._problem(f"An answer of the policy could not be used: {problem}")
                attempt += 1
                continue
            self._critique = critique
            critique = None if critique else await self._objection(asked, action)
            if critique is None:
                return action
        raise _Ended("failed", f"The policy gave no usable answer in {attempt - 1} attempts. The last: {problem}")

    async def _load_turn(self) -> Turn:
        """Return what the policy sees. Memory is queried once for each run."""
        if self._turn is None:
            parts = self.parts
            recalled = await parts.recall.gather(self.task, self.session, self._recorder.episode, parts.limits)
            self.problems += recalled.problems
            parts.toolbox.offer(recalled.procedures)
            self._turn = Turn(
                task=self.task,
                session=self.session,
                tools=parts.toolbox.described(),
                memories=recalled.memories,
                reflections=recalled.reflections,
                lessons=recalled.lessons,
                procedures=recalled.procedures,
                conversation=recalled.conversation,
                context=recalled.context,
            )
        return self._turn

    async def _ask_policy(self, turn: Turn) -> tuple[Action | None, str]:
        """Ask the policy. Return its action, or None and the reason why the answer cannot be used."""
        try:
            action = await self._decide_streaming(turn)
        except BudgetSpent as error:
            raise _Ended("out_of_budget", str(error)) from error
        except InvalidAnswer as error:
            return None, error.message
        except ModelError as error:
            raise _Ended("failed", f"The model failed: {error}") from error
        except Exception as error:
            _log.warning("The policy of an agent failed.", exc_info=error)
            raise _Ended("failed", f"The policy failed: {type(error).__name__}: {error_message(error)}") from error
        problem = action_problem(action) or (self.parts.toolbox.problem(action) if isinstance(action, Call) else "")
        return (None, problem) if problem else (action, "")

    async def _decide_streaming(self, turn: Turn) -> Action:
        policy = self.parts.policy
        self._said.clear()
        if self.emit is None or not isinstance(policy, StreamingPolicy):
            return await policy.decide(turn)
        async with aclosing(policy.speak(turn)) as pieces:  # type: ignore[type-var]
            async for piece in pieces:
                if not isinstance(piece, str):
                    return piece
                self._said.append(piece)
                await self.emit(piece)
        raise InvalidAnswer("The policy ended without an action.")

    async def _objection(self, turn: Turn, action: Action) -> Critique | None:
        if self.parts.critic is None or (self._said and isinstance(action, Say)):
            return None  # what was streamed cannot be withdrawn
        try:
            return await self.parts.critic.before(turn, action)
        except Exception as error:
            self._problem(f"The critic failed: {error}")
            return None

    async def _act(self, call: Call) -> Observation:
        at = self.parts.mem.scoped.now()
        number = len(self._done) + 1
        try:
            done = await self.parts.toolbox.perform(call, f"{self._recorder.episode}:{number}")
        except BaseException:
            done = Observation(call=call, ok=False, error=f"{call.tool} was cut off: the run ended meanwhile.")
            self._done.append(done)
            await shield_until_done(self._recorder.action(number, done, at, self._critique))
            raise
        self._done.append(done)
        await shield_until_done(self._recorder.action(number, done, at, self._critique))
        return done

    def _check_tokens(self) -> None:
        most = self.parts.limits.tokens
        used = self._usage().tokens
        if most is not None and used >= most:
            raise _Ended("out_of_budget", f"The run has used {used:,} of the {most:,} tokens it may use.")

    # -- the end -------------------------------------------------------------------------------------------------

    async def _record_abort(self, error: BaseException) -> None:
        """Record a run that was cancelled, or that an unexpected error ended. Nothing is learnt from it."""
        if self.outcome is not None:
            return
        try:
            if not isinstance(error, OperationMismatch):  # in that case nothing was begun
                stopped = isinstance(error, asyncio.CancelledError)
                why = "The run was cancelled." if stopped else f"The run was broken off by {type(error).__name__}."
                await shield_until_done(self._store_end("cancelled", why, None))
        finally:
            await shield_until_done(self._lease.release())

    async def _finish(self, ending: Ending, text: str, success: bool | None = None) -> Outcome:
        """Store how the run ended, and learn from it."""
        try:
            try:
                if ending == "answered":
                    await shield_until_done(self._recorder.answer(text, self._origin(), self._critique))
                await self._say(text)
                success = await self._judge(self._outcome(ending, text, success if ending == "answered" else False))
            finally:
                await shield_until_done(self._store_end(ending, text, success))
            if ending != "cancelled":
                await self._learn()
        finally:
            await shield_until_done(self._lease.release())
        self.outcome = self._outcome(ending, text, success, reflection=self._reflection)
        return self.outcome

    async def _say(self, text: str) -> None:
        if self.emit is not None and "".join(self._said).strip() != text.strip():
            await self.emit(text if not self._said else f"\n{text}")

    async def _judge(self, outcome: Outcome) -> bool | None:
        if self.parts.judge is None or outcome.ending == "cancelled":
            return outcome.success
        try:
            async with asyncio.timeout(self.parts.limits.tool_seconds):
                verdict = self.parts.judge(outcome)
                verdict = await verdict if inspect.isawaitable(verdict) else verdict
        except Exception as error:
            self._problem(f"The judge failed: {type(error).__name__}: {error}")
            verdict = None
        return outcome.success if verdict is None else verdict

    async def _store_end(self, ending: Ending, text: str, success: bool | None) -> None:
        """Store the end of the run. If an answer was cut off, the part that was streamed is stored."""
        if ending != "answered" and self._said:
            await self._recorder.answer("".join(self._said), {**self._origin(), "partial": True}, None)
        outcome = self._outcome(ending, text, success)
        await self._recorder.end(outcome, self._details(outcome))
        self.outcome = self._outcome(ending, text, success)

    async def _learn(self) -> None:
        critic, turn, outcome = self.parts.critic, self._turn, self.outcome
        if critic is None or turn is None or outcome is None:
            return
        try:
            async with asyncio.timeout(self.parts.limits.tool_seconds):
                draft = await critic.after(replace(turn, done=tuple(self._done)), outcome)
            if draft is not None:
                self.problems += draft.problems
                self._reflection = await shield_until_done(ReflectionStore(self.parts.mem).keep(draft, outcome.episode))
        except Exception as error:
            self._problem(f"Nothing could be learnt from the run: {type(error).__name__}: {error}")

    def _outcome(self, ending: Ending, text: str, success: bool | None, *, reflection: str | None = None) -> Outcome:
        return Outcome(
            task=self.task,
            session=self.session,
            ending=ending,
            text=text,
            success=success,
            done=tuple(self._done),
            memories=self._turn.memories if self._turn else (),
            reflection=reflection,
            episode=self._recorder.episode if self._recorder.stored else None,
            problems=tuple(self.problems),
            usage=self._usage(),
            seconds=max(0.0, (self.parts.mem.scoped.now() - self._begun).total_seconds()),
        )

    def _details(self, outcome: Outcome) -> dict[str, Any]:
        """Return what the episode stores beside its events, for replay: the ending, and what was recalled."""
        turn = self._turn
        details: dict[str, Any] = {
            **outcome.model_dump(mode="json", include={"ending", "text", "success", "usage", "seconds"}),
            "problems": list(outcome.problems),
            **self._origin(),
        }
        if turn is not None:
            details["brought"] = {
                "memories": {hit.memory.id: hit.score for hit in turn.memories},
                "reflections": [memory.id for memory in turn.reflections],
                "lessons": [lesson.model_dump(mode="json") for lesson in turn.lessons],
                "procedures": {hit.version.procedure.name: hit.score for hit in turn.procedures},
                "tools": [tool.name for tool in turn.tools],
                "context": turn.context,
            }
        return details

    def _origin(self) -> dict[str, str]:
        return dict(self.parts.policy.described) if isinstance(self.parts.policy, DescribedPolicy) else {}

    def _total_usage(self) -> Usage:
        used = Usage()
        metered: tuple[object, ...] = (self.parts.policy, self.parts.critic)
        for part in metered:
            if isinstance(part, Metered):
                used += part.usage
        return used

    def _usage(self) -> Usage:
        """Return what the model has used since the run began."""
        now, before = self._total_usage(), self._used
        cost = None if now.cost is None else now.cost - (before.cost or 0.0)
        return Usage(
            input_tokens=now.input_tokens - before.input_tokens,
            output_tokens=now.output_tokens - before.output_tokens,
            cached_tokens=now.cached_tokens - before.cached_tokens,
            requests=now.requests - before.requests,
            cost=cost,
        )

    def _time_limit(self) -> float:
        return self.parts.limits.seconds if self.seconds is None else self.seconds

    def _problem(self, text: str) -> None:
        if text not in self.problems:
            self.problems.append(text)
