"""``Agent``: memory, reflection, goals, tools and a policy combined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import Field

from longmind.agent.critics import Critic, RuleCritic
from longmind.agent.deciding import Emit
from longmind.agent.loop import Parts, TaskRun
from longmind.agent.model_critic import ModelCritic
from longmind.agent.model_policy import ModelPolicy
from longmind.agent.models import Action, Judge, Limits, Observation, Outcome, Policy, PolicyFunction
from longmind.agent.policies import MemoryPolicy, as_policy
from longmind.agent.recall import MemoryRecall, RecallSource
from longmind.agent.streaming import Stream
from longmind.agent.toolbox import Toolbox
from longmind.agent_memory import AgentMemory
from longmind.errors import Conflict, InvalidInput, StoreError
from longmind.models.chat import Chat
from longmind.systems.procedural import ProceduralMemory, ToolDecorator, ToolRegistry
from longmind.systems.scoped_store import validated
from longmind.types import Answer, Model, Name, Text

if TYPE_CHECKING:
    from longmind.agent.mcp import Connection
    from longmind.agent.pursuit.models import OnEvent, Pursuit, PursuitLimits
    from longmind.systems.goals import Goal, GoalMemory

T = TypeVar("T")
CriticChoice: TypeAlias = Critic | Literal["rules", "model"]
"""A critic, or the name of one: by rules, or by rules and with the agent's model."""
_SESSION = 200
_NO_RUN = "Begin one: `await agent.perceive(task)`."


class _RunRequest(Model):
    task: Text
    session: Name | None = None
    key: Annotated[Name, Field(max_length=150)] | None = None
    timeout: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    plan: Text = ""
    """The plan that the task is a step of."""
    own: bool = False
    """Whether the agent gives the task to itself."""


class _Instructions(Model):
    instructions: Annotated[Text, Field(max_length=100_000)] = ""


class Agent:
    """Does tasks with what it remembers, and remembers what it did.

    The ``policy`` decides what to do. Without one the language model decides: ``chat``, or that of the settings.
    Without a model the agent answers from memory and says so. ``instructions`` is standing text of yours, which the
    model gets as its instruction; memory is only ever data to it. The other parts are optional: ``critic`` for
    reflection, ``goals`` to pursue, ``judge`` to decide whether an outcome is a success, ``recall`` for another source
    of memories. ``tools`` are by default those of the store, ``longmind.tools``.

    ``critic="rules"`` costs nothing. ``critic="model"`` asks the model at most once before each action, and once after
    the run: for n calls and an answer at most n + 2 requests more. ``outcome.critic_usage`` says how many it were.
    """

    _default_critic: CriticChoice | None = None

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
        goals: GoalMemory | None = None,
        recall: RecallSource | None = None,
    ) -> None:
        self.mem = mem
        self.instructions = validated(_Instructions, {"instructions": instructions}).instructions.strip()
        """Standing text of the developer, which the model gets as its instruction."""
        if isinstance(critic, str) and critic not in ("rules", "model"):
            raise InvalidInput(
                f"There is no critic {critic!r}.", hint='There are "rules" and "model", or one of yours.'
            )
        self.goals = self._default_goals() if goals is None else goals
        self.limits = limits or Limits()
        self.last: Outcome | None = None
        """The outcome of the run that ended last."""
        self.current: TaskRun | None = None
        """The run that ``perceive`` began."""
        self._policy = None if policy is None else as_policy(policy)
        self.own_chat = chat
        """The language model it was given; without one it uses the settings'."""
        self._critic: CriticChoice | None = critic or self._default_critic
        self._judge = judge
        self._recall = recall or MemoryRecall(mem)
        self._procedural = mem.procedural if tools is None else ProceduralMemory(mem.scoped, tools)
        self._connections: list[Connection] = []

    # -- tools ---------------------------------------------------------------------------------------------------

    @property
    def tools(self) -> ToolRegistry:
        """The functions it may call, by name."""
        return self._procedural.tools

    @property
    def tool(self) -> ToolDecorator:
        """Register a function it may call: ``@agent.tool``; its schema comes from its type hints."""
        return self.tools.tool

    async def tools_from_mcp(
        self,
        command: Sequence[str] | None = None,
        *,
        url: str | None = None,
        env: Mapping[str, str] | None = None,
        prefix: str = "",
        timeout: float = 30.0,
    ) -> list[str]:
        """Connect to an MCP server and offer its tools; returns their names.

        The server is a ``command`` to start, spoken to over stdio, or a ``url`` of streamable HTTP. It stays connected
        until ``close``. ``prefix`` keeps the names of two servers apart.
        """
        from longmind.agent.mcp import Connection

        connection = await Connection.open(command, url=url, env=env, timeout=timeout)
        try:
            names = connection.register(self.tools, prefix)
        except BaseException:
            await connection.close()
            raise
        self._connections.append(connection)
        return names

    async def decides(self) -> bool:
        """Whether a policy or a model decides for it; without either it can only answer from memory."""
        return self._policy is not None or self.own_chat is not None or await self.mem.chat() is not None

    # -- running -------------------------------------------------------------------------------------------------

    async def run(
        self,
        task: str,
        *,
        session: str | None = None,
        timeout: float | None = None,
        key: str | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Outcome:
        """Do a task and return the outcome.

        Runs of one session go one after the other and see its conversation; without a session a run stands alone.
        With a ``key`` the call is idempotent: called again, it returns the outcome of the run that it started.
        ``on_text`` is called with each piece of the answer as it comes; see also ``stream``.
        """
        asked = _validated_request(task, session, timeout, key)
        return await self._run_to_end(asked, None if on_text is None else _emitting(on_text))

    def stream(self, message: str, *, session: str | None = None, timeout: float | None = None) -> Stream:
        """Answer piece by piece: ``async for text in agent.stream(...)``; the stream has the ``outcome`` afterwards."""
        asked = _validated_request(message, session, timeout, None)
        return Stream(lambda emit: self._run_to_end(asked, emit))

    # -- the stages of a run ---------------------------------------------------------------------------------------

    async def perceive(self, task: str, *, session: str | None = None, timeout: float | None = None) -> TaskRun:
        """Begin a run: store the task, and have it in mind as the goal.

        ``think`` and ``act`` go on with it; ``run`` calls the same three. Call ``cancel`` on the run to abort it.
        """
        if self.current is not None and self.current.outcome is None:
            raise Conflict("A run is still going on.", hint="Step it to its end, or cancel it.")
        run = await self._prepare(_validated_request(task, session, timeout, None), None)
        self.current = await run.perceive()
        return run

    async def think(self) -> Action | Outcome:
        """Recall, attend to what is in mind, and decide. Return the decision, or the outcome if the run ended."""
        return self._noted(await self._current().think())

    async def act(self, action: Action) -> Observation | Outcome:
        """Carry out a decision: of ``think``, or one of yours. Return what a call did, or the outcome of an answer."""
        return self._noted(await self._current().act(action))

    async def step(self) -> Observation | Outcome:
        """Think and act once, in the run that ``perceive`` began."""
        return self._noted(await self._current().step())

    async def pursue(
        self, goal: str | Goal, *, limits: PursuitLimits | None = None, on_event: OnEvent | None = None
    ) -> Pursuit:
        """Pursue a goal until it is achieved, somebody is needed, or a limit is reached."""
        from longmind.agent.pursuit import pursue

        return await pursue(self, goal, limits=limits, on_event=on_event)

    async def close(self) -> None:
        """Cancel the run that was begun, and disconnect from MCP servers."""
        if self.current is not None and self.current.outcome is None:
            self.last = await self.current.cancel()
        while self._connections:
            await self._connections.pop().close()

    async def __aenter__(self) -> Agent:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # -- inside --------------------------------------------------------------------------------------------------

    def _current(self) -> TaskRun:
        if self.current is None:
            raise InvalidInput("There is no run to step.", hint=_NO_RUN)
        return self.current

    def _noted(self, result: T) -> T:
        if isinstance(result, Outcome):
            self.last = result
        return result

    async def _run_to_end(self, asked: _RunRequest, emit: Emit | None) -> Outcome:
        run = await self._prepare(asked, emit)
        await run.perceive()
        self.last = await run.to_end()
        return self.last

    async def _answer(self, question: str) -> Answer:
        return await self.mem.ask(question, use_model=False)

    async def _prepare(self, asked: _RunRequest, emit: Emit | None) -> TaskRun:
        problems: list[str] = []
        chat = self.own_chat
        if chat is None and (self._policy is None or self._critic == "model"):
            try:
                chat = await self.mem.chat()
            except StoreError as error:
                problems.append(f"The language model's budget could not be read, so none is used: {error}")
        policy = self._policy or (MemoryPolicy(self._answer) if chat is None else ModelPolicy(chat))
        toolbox = Toolbox(self.tools, self._procedural, self.mem.scoped.clock, self.limits)
        if self._critic == "model" and chat is None:
            problems.append("There is no model for the critic, so it works by rules alone.")
        parts = Parts(
            mem=self.mem,
            policy=policy,
            toolbox=toolbox,
            recall=self._recall,
            critic=_critic(self._critic, chat),
            judge=self._judge,
            limits=self.limits,
            instructions=self.instructions,
        )
        session = asked.session or f"task:{asked.key or self.mem.scoped.clock.new_id()}"[:_SESSION].rstrip()
        return TaskRun(
            parts, asked.task, session, asked.key, asked.timeout, emit, asked.plan, asked.own, problems=problems
        )

    def _default_goals(self) -> GoalMemory | None:
        return None


class ReflectiveAgent(Agent):
    """The agent that has all parts: it remembers, reflects, and has goals.

    It reflects by rules, which costs no request; with ``critic="model"`` its model reflects too.
    """

    _default_critic = "rules"

    def _default_goals(self) -> GoalMemory | None:
        return self.mem.goals


def _critic(choice: CriticChoice | None, chat: Chat | None) -> Critic | None:
    if not isinstance(choice, str):
        return choice
    return ModelCritic(chat) if choice == "model" and chat is not None else RuleCritic()


def _validated_request(
    task: str, session: str | None, timeout: float | None, key: str | None, **more: Any
) -> _RunRequest:
    asked = validated(_RunRequest, {"task": task, "session": session, "timeout": timeout, "key": key, **more})
    if not asked.task.strip():
        raise InvalidInput("There is no task.", hint="Say in a sentence what is to be done.")
    return asked


async def run_plan_step(agent: Agent, task: str, *, session: str, timeout: float, plan: str) -> Outcome:
    """Do a step of a plan, which the agent gives to itself: it is not stored as words of the user."""
    return await agent._run_to_end(_validated_request(task, session, timeout, None, plan=plan, own=True), None)


def _emitting(on_text: Callable[[str], None]) -> Emit:
    async def emit(piece: str) -> None:
        on_text(piece)

    return emit
