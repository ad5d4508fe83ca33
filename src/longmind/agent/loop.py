"""The run of one task in three stages: ``perceive`` it, then ``think`` and ``act`` until there is an outcome.

- ``perceive`` stores the task and puts it into working memory as the goal.
- ``think`` recalls, attends to what is in mind, and decides: the policy is asked, and the critic may object.
- ``act`` carries the decision out: a call is made and recorded, an answer ends the run and is learnt from.

Every run ends with an outcome that is stored: it answered, failed, ran out of time or budget, or was cancelled.
Problems with memory are listed in the outcome and never stop the task.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from longmind.agent.abandoned import close_abandoned_runs
from longmind.agent.critics import Critic
from longmind.agent.deciding import Decider, Emit, RunEnded
from longmind.agent.models import (
    Action,
    Call,
    DescribedPolicy,
    Ending,
    Judge,
    Limits,
    Observation,
    Outcome,
    Policy,
    Turn,
)
from longmind.agent.recall import RecallSource
from longmind.agent.reflection_store import ReflectionStore
from longmind.agent.run_mind import RunMind
from longmind.agent.run_recorder import RunRecorder, close_interrupted_run, run_details
from longmind.agent.stored_runs import find_outcome
from longmind.agent.toolbox import Toolbox
from longmind.agent.usage_meter import UsageMeter
from longmind.agent_memory import AgentMemory
from longmind.errors import Conflict, InvalidInput, OperationMismatch, StoreError
from longmind.systems.cancellation import shield_until_done
from longmind.systems.records import Lease
from longmind.systems.working import RunItems, items_text

T = TypeVar("T")
_AFTERWARDS = 3
"""After its deadline a run may take this many times ``tool_seconds`` to be judged, recorded and learnt from."""


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
    instructions: str = ""


@dataclass(slots=True)
class TaskRun:
    """One run of an agent: ``perceive``, then ``think`` and ``act`` until there is an ``outcome``.

    ``step`` thinks and acts once, and ``to_end`` does so until the outcome.
    """

    parts: Parts
    task: str
    session: str
    key: str | None = None
    seconds: float | None = None
    """Its time limit; by default that of the limits."""
    emit: Emit | None = None
    plan: str = ""
    """The plan that the task is a part of, as text."""
    own: bool = False
    """Whether the agent gives the task to itself, as a step of a plan. Then it is not stored as the user's words."""
    outcome: Outcome | None = None
    problems: list[str] = field(default_factory=list)
    _turn: Turn | None = None
    _done: list[Observation] = field(default_factory=list)
    _begun: datetime = field(init=False)
    _deadline: float = field(init=False, default=0.0)
    _lease: Lease = field(init=False)
    _recorder: RunRecorder = field(init=False)
    _mind: RunMind = field(init=False)
    _decider: Decider = field(init=False)
    _meter: UsageMeter = field(init=False)
    _reflection: str | None = None

    # -- the stages ----------------------------------------------------------------------------------------------

    async def perceive(self) -> TaskRun:
        """Acquire the session and store the task, before anything else is done; then have it in mind as the goal."""
        parts, id = self.parts, self.parts.mem.scoped.clock.new_id()
        scoped, limits = parts.mem.scoped, parts.limits
        self._lease = Lease(scoped, self.session, id, limits.lease_seconds, self._problem)
        if not await self._lease.acquire(limits.wait_seconds):
            raise self._session_busy()
        self._begun = scoped.now()
        self._meter = UsageMeter(parts.policy, parts.critic)
        self._deadline = asyncio.get_running_loop().time() + self._time_limit()
        self._lease.ends = self._deadline + _AFTERWARDS * limits.tool_seconds
        self._recorder = RunRecorder(
            parts.mem, id, self.task, self.session, self.key, self._problem, self._begun, own=self.own
        )
        self._mind = RunMind(RunItems(scoped, self.session, id), self._problem)
        self._decider = Decider(
            parts.policy, parts.toolbox, parts.critic, limits.bad_answers, self._check_tokens, self._problem, self.emit
        )
        try:
            await shield_until_done(self._begin())
        except BaseException as error:
            await self._record_abort(error)
            raise
        return self

    async def think(self) -> Action | Outcome:
        """Recall, attend to what is in mind, and decide. Return the decision, or the outcome if there is none."""
        return await self._stage(self._decide)

    async def act(self, action: Action) -> Observation | Outcome:
        """Carry a decision out. Return the observation of a call, or the outcome that an answer is.

        ``InvalidInput`` for an action that cannot be carried out.
        """
        self._need_open()
        if problem := self._decider.why_invalid(action):
            raise InvalidInput(f"This cannot be done: {problem}")
        if isinstance(action, Call):
            return await self._stage(lambda: self._call(action))
        return await self._stage(lambda: self._finish("answered", action.text, action.success), limited=False)

    async def step(self) -> Observation | Outcome:
        """Think and act once. Return the observation of a call, or the outcome at the end."""
        decided = await self.think()
        return decided if isinstance(decided, Outcome) else await self.act(decided)

    async def to_end(self) -> Outcome:
        """Think and act until there is an outcome."""
        while self.outcome is None:
            await self.step()
        return self.outcome

    async def cancel(self) -> Outcome:
        """Cancel the run; what was done so far is recorded."""
        if self.outcome is None:
            await self._finish("cancelled", "The run was cancelled.")
        assert self.outcome is not None
        return self.outcome

    # -- inside the stages ---------------------------------------------------------------------------------------

    def _need_open(self) -> None:
        if self.outcome is not None:
            raise Conflict("This run has ended.", hint="Begin another one.", episode=self.outcome.episode)

    def _session_busy(self) -> Conflict:
        wait = self.parts.limits.wait_seconds
        return Conflict(
            f"Another run is at work in the session {self.session!r}; it did not end within {wait:g} seconds.",
            hint="Wait for it, cancel it, or use another session.",
            session=self.session,
        )

    async def _stage(self, do: Callable[[], Awaitable[T]], *, limited: bool = True) -> T | Outcome:
        """Do one stage within the run's time; when it is over, or the stage ends the run, return the outcome."""
        self._need_open()
        try:
            try:
                async with asyncio.timeout_at(self._deadline if limited else None) as limit:
                    return await do()
            except TimeoutError:
                if not limit.expired():
                    raise
                text = f"The task was not done in the time it had ({self._time_limit():g} seconds)."
                return await self._finish("timed_out", text)
            except RunEnded as ended:
                return await self._finish(ended.ending, ended.text)
        except BaseException as error:
            await self._record_abort(error)
            raise

    async def _begin(self) -> None:
        mem = self.parts.mem
        try:
            if self._lease.taken_over_from is not None:
                await close_interrupted_run(mem.scoped, self._lease.taken_over_from)
            await close_abandoned_runs(mem.scoped)
        except Exception as error:
            self._problem(f"A run that was interrupted before could not be closed: {error}")
        if self.key is not None and await self._load_known_outcome(self.key):
            await self._lease.release()
            return
        await self._recorder.begin(self._mind.beginning(self.task, self.plan))

    async def _load_known_outcome(self, key: str) -> bool:
        """Whether a run with this key has ended before; its outcome then becomes the outcome of this run."""
        try:
            self.outcome = await find_outcome(self.parts.mem, key, self.task)
        except StoreError as error:
            self._problem(f"It is not known whether the task was done before: {error}")
        return self.outcome is not None

    async def _decide(self) -> Action:
        turn = await self._load_turn()
        if self._lease.lost:
            raise RunEnded("failed", "Another run has taken over the session, since this one seemed dead.")
        if len(self._done) >= self.parts.limits.actions:
            raise RunEnded("failed", f"There was no answer after {len(self._done)} actions.")
        working = await self._mind.attend(self.task)
        self._recorder.in_mind(working)
        context = "\n\n".join(filter(None, (turn.recalled, items_text(working))))
        action = await self._decider.decide(replace(turn, done=tuple(self._done), working=working, context=context))
        if isinstance(action, Call):
            await self._mind.plan(action)
        return action

    async def _load_turn(self) -> Turn:
        """Return what the policy sees in all turns. Memory is queried once for each run."""
        if self._turn is None:
            parts = self.parts
            recalled = await parts.recall.gather(self.task, self.session, self._recorder.episode, parts.limits)
            self.problems += recalled.problems
            parts.toolbox.offer(recalled.procedures)
            self._turn = Turn(
                task=self.task,
                session=self.session,
                instructions=parts.instructions,
                tools=parts.toolbox.described(),
                memories=recalled.memories,
                reflections=recalled.reflections,
                lessons=recalled.lessons,
                procedures=recalled.procedures,
                conversation=recalled.conversation,
                recalled=recalled.context,
                context=recalled.context,
            )
        return self._turn

    async def _call(self, call: Call) -> Observation:
        at = self.parts.mem.scoped.now()
        number = len(self._done) + 1
        try:
            done = await self.parts.toolbox.perform(call, f"{self._recorder.episode}:{number}")
        except BaseException:
            done = Observation(call=call, ok=False, error=f"{call.tool} was cut off: the run ended meanwhile.")
            self._done.append(done)
            await shield_until_done(self._recorder.action(number, done, at, self._decider.critique))
            raise
        self._done.append(done)
        in_mind = self._mind.resulting(number, done)
        await shield_until_done(self._recorder.action(number, done, at, self._decider.critique, in_mind))
        return done

    def _check_tokens(self) -> None:
        most = self.parts.limits.tokens
        used = self._meter.total().tokens
        if most is not None and used >= most:
            raise RunEnded("out_of_budget", f"The run has used {used:,} of the {most:,} tokens it may use.")

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
                    await shield_until_done(self._recorder.answer(text, self._origin(), self._decider.critique))
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
        said = self._decider.said
        if self.emit is not None and "".join(said).strip() != text.strip():
            await self.emit(text if not said else f"\n{text}")

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
        if ending != "answered" and self._decider.said:
            await self._recorder.answer("".join(self._decider.said), {**self._origin(), "partial": True}, None)
        outcome = self._outcome(ending, text, success)
        details = run_details(outcome, self._turn, self._origin())
        await self._recorder.end(outcome, details, self._mind.ending())
        await self._mind.end()
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
            usage=self._meter.total(),
            critic_usage=self._meter.of_critic(),
            seconds=max(0.0, (self.parts.mem.scoped.now() - self._begun).total_seconds()),
        )

    def _origin(self) -> dict[str, str]:
        return dict(self.parts.policy.described) if isinstance(self.parts.policy, DescribedPolicy) else {}

    def _time_limit(self) -> float:
        return self.parts.limits.seconds if self.seconds is None else self.seconds

    def _problem(self, text: str) -> None:
        if text not in self.problems:
            self.problems.append(text)
