"""One task at work: perceive, recall, then reflect, act and record for each action, and learn at the end.

Whatever happens, a run ends with an outcome that is written down: it answered, failed, ran out of time or budget, or
was cancelled. What goes wrong with memory is told in the outcome and never stops the task.
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
    Described,
    Ending,
    Judge,
    Limits,
    Metered,
    Observation,
    Outcome,
    Policy,
    Say,
    Spoken,
    Turn,
)
from longmind.agent.policies import unusable
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
"""How many times as long as a tool a run may take, once its time is over, to be judged, recorded and learnt from."""
_log = logging.getLogger("longmind")


@dataclass(slots=True)
class Parts:
    """What a run is made with."""

    mem: AgentMemory
    policy: Policy
    toolbox: Toolbox
    recall: RecallSource
    critic: Critic | None
    judge: Judge | None
    limits: Limits


class _Ended(Exception):
    """The run is over for a reason that is not an answer."""

    def __init__(self, ending: Ending, text: str) -> None:
        super().__init__(text)
        self.ending: Ending = ending
        self.text = text


@dataclass(slots=True)
class TaskRun:
    """One run of an agent. ``open`` it, ``step`` until there is an ``outcome``, or let ``to_end`` do both."""

    parts: Parts
    task: str
    session: str
    key: str | None = None
    seconds: float | None = None
    """The time it may take; by default that of the limits."""
    emit: Emit | None = None
    outcome: Outcome | None = None
    problems: list[str] = field(default_factory=list)
    _turn: Turn | None = None
    _done: list[Observation] = field(default_factory=list)
    _said: list[str] = field(default_factory=list)
    """What was streamed of the decision that is being made."""
    _begun: datetime = field(init=False)
    _deadline: float = field(init=False, default=0.0)
    _lease: Lease = field(init=False)
    _recorder: RunRecorder = field(init=False)
    _used: Usage = field(init=False, default_factory=Usage)
    _reflection: str | None = None
    _critique: Critique | None = None
    """What the decision that is being carried out was made in spite of, or because of."""

    async def open(self) -> TaskRun:
        """Take the session and store the task, before anything is done with it."""
        mem, id = self.parts.mem, self.parts.mem.scoped.clock.new_id()
        self._lease = Lease(mem.scoped, self.session, id, self.parts.limits.lease_seconds, self._problem)
        if not await self._lease.acquire(self.parts.limits.wait_seconds):
            raise self._session_busy()
        self._begun = mem.scoped.now()
        self._used = self._metered()
        self._deadline = asyncio.get_running_loop().time() + self._allowed()
        self._lease.ends = self._deadline + _AFTERWARDS * self.parts.limits.tool_seconds
        self._recorder = RunRecorder(mem, id, self.task, self.session, self.key, self._problem, self._begun)
        try:
            await shield_until_done(self._begin())
        except BaseException as error:
            await self._broken_off(error)
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
        """Decide once and do it: the observation of a call, or the outcome if that was the end."""
        if self.outcome is not None:
            raise Conflict("This run has ended.", hint="Begin another one.", episode=self.outcome.episode)
        try:
            return await self._stepped()
        except BaseException as error:
            await self._broken_off(error)
            raise

    async def to_end(self) -> Outcome:
        """Run until there is an outcome."""
        while self.outcome is None:
            await self.step()
        return self.outcome

    async def cancel(self) -> Outcome:
        """Give up; what was done so far is recorded."""
        if self.outcome is None:
            await self._finished("cancelled", "The run was cancelled.")
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
        if self.key is not None and await self._known(self.key):
            await self._lease.release()
            return
        await self._recorder.begin()

    async def _known(self, key: str) -> bool:
        """Whether the run with this key has ended before; then its outcome is this one's."""
        try:
            self.outcome = await find_outcome(self.parts.mem, key, self.task)
        except StoreError as error:
            self._problem(f"It is not known whether the task was done before: {error}")
        return self.outcome is not None

    async def _stepped(self) -> Observation | Outcome:
        try:
            async with asyncio.timeout_at(self._deadline) as limit:
                action = await self._decided()
                if isinstance(action, Call):
                    return await self._acted(action)
        except TimeoutError:
            if not limit.expired():
                raise
            text = f"The task was not done in the time it had ({self._allowed():g} seconds)."
            return await self._finished("timed_out", text)
        except _Ended as ended:
            return await self._finished(ended.ending, ended.text)
        return await self._finished("answered", action.text, action.success)

    async def _decided(self) -> Action:
        turn = await self._at_hand()
        if self._lease.lost:
            raise _Ended("failed", "Another run has taken over the session, since this one seemed dead.")
        if len(self._done) >= self.parts.limits.actions:
            raise _Ended("failed", f"There was no answer after {len(self._done)} actions.")
        attempt, problem, critique = 1, "", None
        while attempt <= self.parts.limits.bad_answers:
            self._within_tokens()
            asked = replace(turn, done=tuple(self._done), attempt=attempt, problem=problem, critique=critique)
            action, problem = await self._asked(asked)
            if action is None:
                self._problem(f"An answer of the policy could not be used: {problem}")
                attempt += 1
                continue
            self._critique = critique
            critique = None if critique else await self._objection(asked, action)
            if critique is None:
                return action
        raise _Ended("failed", f"The policy gave no usable answer in {attempt - 1} attempts. The last: {problem}")

    async def _at_hand(self) -> Turn:
        """What the policy looks at; memory is asked once for a run."""
        if self._turn is None:
            parts = self.parts
            found = await parts.recall.gather(self.task, self.session, self._recorder.episode, parts.limits)
            self.problems += found.problems
            parts.toolbox.offer(found.procedures)
            self._turn = Turn(
                task=self.task,
                session=self.session,
                tools=parts.toolbox.described(),
                memories=found.memories,
                reflections=found.reflections,
                lessons=found.lessons,
                procedures=found.procedures,
                conversation=found.conversation,
                context=found.context,
            )
        return self._turn

    async def _asked(self, turn: Turn) -> tuple[Action | None, str]:
        """What the policy decides; or None, and why that cannot be used."""
        try:
            action = await self._heard(turn)
        except BudgetSpent as error:
            raise _Ended("out_of_budget", str(error)) from error
        except InvalidAnswer as error:
            return None, error.message
        except ModelError as error:
            raise _Ended("failed", f"The model failed: {error}") from error
        except Exception as error:
            _log.warning("The policy of an agent failed.", exc_info=error)
            raise _Ended("failed", f"The policy failed: {type(error).__name__}: {error_message(error)}") from error
        problem = unusable(action) or (self.parts.toolbox.problem(action) if isinstance(action, Call) else "")
        return (None, problem) if problem else (action, "")

    async def _heard(self, turn: Turn) -> Action:
        policy = self.parts.policy
        self._said.clear()
        if self.emit is None or not isinstance(policy, Spoken):
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
            return None  # what was said aloud cannot be taken back
        try:
            return await self.parts.critic.before(turn, action)
        except Exception as error:
            self._problem(f"The critic failed: {error}")
            return None

    async def _acted(self, call: Call) -> Observation:
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

    def _within_tokens(self) -> None:
        most = self.parts.limits.tokens
        used = self._usage().tokens
        if most is not None and used >= most:
            raise _Ended("out_of_budget", f"The run has used {used:,} of the {most:,} tokens it may use.")

    # -- the end -------------------------------------------------------------------------------------------------

    async def _broken_off(self, error: BaseException) -> None:
        """Record a run that is being cancelled, or broken by what no run can handle; nothing is learnt from it."""
        if self.outcome is not None:
            return
        try:
            if not isinstance(error, OperationMismatch):  # then nothing was begun
                stopped = isinstance(error, asyncio.CancelledError)
                why = "The run was cancelled." if stopped else f"The run was broken off by {type(error).__name__}."
                await shield_until_done(self._recorded("cancelled", why, None))
        finally:
            await shield_until_done(self._lease.release())

    async def _finished(self, ending: Ending, text: str, success: bool | None = None) -> Outcome:
        """Record how the run ended, and learn from it."""
        try:
            try:
                if ending == "answered":
                    await shield_until_done(self._recorder.answer(text, self._origin(), self._critique))
                await self._say(text)
                success = await self._judged(self._outcome(ending, text, success if ending == "answered" else False))
            finally:
                await shield_until_done(self._recorded(ending, text, success))
            if ending != "cancelled":
                await self._learnt()
        finally:
            await shield_until_done(self._lease.release())
        self.outcome = self._outcome(ending, text, success, reflection=self._reflection)
        return self.outcome

    async def _say(self, text: str) -> None:
        if self.emit is not None and "".join(self._said).strip() != text.strip():
            await self.emit(text if not self._said else f"\n{text}")

    async def _judged(self, outcome: Outcome) -> bool | None:
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

    async def _recorded(self, ending: Ending, text: str, success: bool | None) -> None:
        """Write the end down. Of an answer that broke off, what was heard is kept as said."""
        if ending != "answered" and self._said:
            await self._recorder.answer("".join(self._said), {**self._origin(), "partial": True}, None)
        outcome = self._outcome(ending, text, success)
        await self._recorder.end(outcome, self._details(outcome))
        self.outcome = self._outcome(ending, text, success)

    async def _learnt(self) -> None:
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
        """What the episode keeps beside the events, for replay: how it ended, and what memory had brought."""
        turn = self._turn
        told: dict[str, Any] = {
            **outcome.model_dump(mode="json", include={"ending", "text", "success", "usage", "seconds"}),
            "problems": list(outcome.problems),
            **self._origin(),
        }
        if turn is not None:
            told["brought"] = {
                "memories": {hit.memory.id: hit.score for hit in turn.memories},
                "reflections": [memory.id for memory in turn.reflections],
                "lessons": [lesson.model_dump(mode="json") for lesson in turn.lessons],
                "procedures": {found.version.procedure.name: found.score for found in turn.procedures},
                "tools": [tool.name for tool in turn.tools],
                "context": turn.context,
            }
        return told

    def _origin(self) -> dict[str, str]:
        return dict(self.parts.policy.described) if isinstance(self.parts.policy, Described) else {}

    def _metered(self) -> Usage:
        used = Usage()
        metered: tuple[object, ...] = (self.parts.policy, self.parts.critic)
        for part in metered:
            if isinstance(part, Metered):
                used += part.usage
        return used

    def _usage(self) -> Usage:
        """What the model was used for since the run began."""
        now, before = self._metered(), self._used
        cost = None if now.cost is None else now.cost - (before.cost or 0.0)
        return Usage(
            input_tokens=now.input_tokens - before.input_tokens,
            output_tokens=now.output_tokens - before.output_tokens,
            cached_tokens=now.cached_tokens - before.cached_tokens,
            requests=now.requests - before.requests,
            cost=cost,
        )

    def _allowed(self) -> float:
        return self.parts.limits.seconds if self.seconds is None else self.seconds

    def _problem(self, told: str) -> None:
        if told not in self.problems:
            self.problems.append(told)
