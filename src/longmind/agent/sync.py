"""The blocking face of the agent: the same methods, for scripts, notebooks and threads.

    from longmind.agent.sync import ReflectiveAgent
    from longmind.sync import Longmind

    with Longmind.open() as longmind, ReflectiveAgent(longmind.agent("assistant")) as agent:
        print(agent.run("What do you know about Lisbon?").text)

Each method runs the asynchronous one on the event loop of the store and waits for it. Plain functions (a policy, a
judge, ``on_event``, tools) run in worker threads, so they may use the blocking memory themselves.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar, cast

from longmind.agent import agent as asynchronous
from longmind.agent import stored_runs, streaming
from longmind.agent.agent import CriticChoice
from longmind.agent.loop import TaskRun as AsyncTaskRun
from longmind.agent.models import Judge, Limits, Outcome, Policy, PolicyFunction
from longmind.agent.recall import RecallSource
from longmind.agent.stored_runs import Divergence, ReplayStep
from longmind.sync import AgentMemory
from longmind.sync.blocking import Blocking, blocking

if TYPE_CHECKING:
    from longmind.agent.pursuit.models import OnEvent, Pursuit, PursuitLimits
    from longmind.models.chat import Chat
    from longmind.systems.goals import Goal
    from longmind.systems.procedural import ToolDecorator, ToolRegistry

A = TypeVar("A")
R = TypeVar("R")

__all__ = ["Agent", "ReflectiveAgent", "Stream", "TaskRun", "divergence", "load_outcome", "replay"]


class Agent(Blocking[asynchronous.Agent]):
    """Does tasks with what it remembers, and remembers what it did; see ``longmind.agent.Agent``."""

    _kind: type[asynchronous.Agent] = asynchronous.Agent

    def __init__(
        self,
        mem: AgentMemory,
        *,
        instructions: str = "",
        policy: Policy | PolicyFunction | None = None,
        chat: Chat | None = None,
        tools: ToolRegistry | None = None,
        critic: CriticChoice | None = None,
        limits: Limits | None = None,
        judge: Judge | None = None,
        recall: RecallSource | None = None,
    ) -> None:
        self.mem = mem
        target = self._kind(
            mem._target,
            instructions=instructions,
            policy=_threaded_policy(policy),
            chat=chat,
            tools=tools,
            critic=critic,
            limits=limits,
            judge=None if judge is None else _in_thread(judge),
            recall=recall,
        )
        super().__init__(mem._loop, target)

    # -- tools ---------------------------------------------------------------------------------------------------

    @property
    def tools(self) -> ToolRegistry:
        """The functions it may call, by name."""
        return self._target.tools

    @property
    def tool(self) -> ToolDecorator:
        """Register a function it may call: ``@agent.tool``; its schema comes from its type hints."""
        return self._target.tool

    tools_from_mcp = blocking(asynchronous.Agent.tools_from_mcp)
    decides = blocking(asynchronous.Agent.decides)

    # -- running -------------------------------------------------------------------------------------------------

    @property
    def limits(self) -> Limits:
        """The limits of each run."""
        return self._target.limits

    @property
    def last(self) -> Outcome | None:
        """The outcome of the run that ended last."""
        return self._target.last

    run = blocking(asynchronous.Agent.run)
    step = blocking(asynchronous.Agent.step)

    def stream(self, message: str, *, session: str | None = None, timeout: float | None = None) -> Stream:
        """Answer piece by piece: ``for text in agent.stream(...)``; the stream has the ``outcome`` afterwards."""
        return Stream(self._loop, self._target.stream(message, session=session, timeout=timeout))

    def perceive(self, task: str, *, session: str | None = None, timeout: float | None = None) -> TaskRun:
        """Begin a run: store the task, and have it in mind as the goal.

        ``think`` and ``act`` go on with it; ``run`` calls the same three. Call ``cancel`` on the run to abort it.
        """
        return TaskRun(self._loop, self._loop.run(self._target.perceive(task, session=session, timeout=timeout)))

    think = blocking(asynchronous.Agent.think)
    act = blocking(asynchronous.Agent.act)

    def pursue(
        self, goal: str | Goal, *, limits: PursuitLimits | None = None, on_event: OnEvent | None = None
    ) -> Pursuit:
        """Pursue a goal until it is achieved, somebody is needed, or a limit is reached."""
        watch = None if on_event is None else _in_thread(on_event)
        return self._loop.run(self._target.pursue(goal, limits=limits, on_event=watch))

    close = blocking(asynchronous.Agent.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class ReflectiveAgent(Agent):
    """The agent that has all parts; see ``longmind.agent.ReflectiveAgent``."""

    _kind = asynchronous.ReflectiveAgent


class TaskRun(Blocking[AsyncTaskRun]):
    """One run of an agent that was begun with ``perceive``; see ``longmind.agent.TaskRun``."""

    @property
    def outcome(self) -> Outcome | None:
        """How the run ended; None while it goes on."""
        return self._target.outcome

    def perceive(self) -> Self:
        """Acquire the session and store the task, before anything else is done; then have it in mind as the goal."""
        self._loop.run(self._target.perceive())
        return self

    think = blocking(AsyncTaskRun.think)
    act = blocking(AsyncTaskRun.act)
    step = blocking(AsyncTaskRun.step)
    to_end = blocking(AsyncTaskRun.to_end)
    cancel = blocking(AsyncTaskRun.cancel)


class Stream(Blocking[streaming.Stream]):
    """The pieces of an answer, and afterwards the ``outcome``; see ``longmind.agent.Stream``.

    ``close`` it, or leave its ``with`` block, to cancel a run whose answer is no longer wanted.
    """

    @property
    def outcome(self) -> Outcome | None:
        """How the run ended; None while it goes on, or if it was cancelled or refused."""
        return self._target.outcome

    result = blocking(streaming.Stream.result)
    close = blocking(streaming.Stream.aclose)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        piece = self._loop.run(self._next())
        if piece is None:
            raise StopIteration
        return piece

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def _next(self) -> str | None:
        try:
            return await anext(self._target)
        except StopAsyncIteration:
            return None


def replay(mem: AgentMemory, episode: str) -> list[ReplayStep]:
    """Return the steps of a stored run, in order; see ``longmind.agent.replay``."""
    return mem._loop.run(stored_runs.replay(mem._target, episode))


def divergence(mem: AgentMemory, episode: str, policy: Policy | PolicyFunction) -> Divergence | None:
    """Return the first step where a policy decides otherwise than was decided then; None if it would do the same."""
    return mem._loop.run(stored_runs.divergence(mem._target, episode, _threaded_policy(policy) or policy))


def load_outcome(mem: AgentMemory, episode: str) -> Outcome:
    """Return how a stored run ended."""
    return mem._loop.run(stored_runs.load_outcome(mem._target, episode))


def _threaded_policy(policy: Policy | PolicyFunction | None) -> Policy | PolicyFunction | None:
    """Return a policy whose plain function runs in a thread; policy objects stay as they are."""
    if policy is None or hasattr(policy, "decide"):
        return policy
    return _in_thread(policy)


def _in_thread(function: Callable[[A], R | Awaitable[R]]) -> Callable[[A], Awaitable[R]]:
    """Return the function as an asynchronous one that runs in a worker thread, unless it is asynchronous itself."""

    asynchronous_already = inspect.iscoroutinefunction(function)

    async def call(argument: A) -> R:
        result = function(argument) if asynchronous_already else await asyncio.to_thread(function, argument)
        return await cast("Awaitable[R]", result) if inspect.isawaitable(result) else result

    functools.update_wrapper(call, function)
    call.__name__ = str(getattr(function, "__name__", type(function).__name__))
    return call
