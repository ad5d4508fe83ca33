"""The blocking ``Longmind`` and ``AgentMemory``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING

from longmind import memory as asynchronous
from longmind.sync.blocking import Blocking, EventLoopThread, blocking
from longmind.types import Change, Scope

if TYPE_CHECKING:
    from longmind.clock import Clock
    from longmind.config import Settings
    from longmind.model_tools import BlockingMemoryTools
    from longmind.models.embed import Embedder
    from longmind.models.span_reader import SpanReader
    from longmind.recall.policy import RecallPolicy
    from longmind.recall.rerank import ContextReranker, Reranker
    from longmind.sync.conversation import Conversation
    from longmind.sync.dialogue import DialogueMemory
    from longmind.sync.episodic import EpisodicMemory
    from longmind.sync.goals import GoalMemory
    from longmind.sync.jobs import JobAdministration
    from longmind.sync.manager import MemoryManager
    from longmind.sync.persona import PersonaMemory
    from longmind.sync.procedural import ProceduralMemory
    from longmind.sync.semantic import SemanticMemory
    from longmind.sync.shared import SharedAdministration, SharedMemory
    from longmind.sync.values import StateMemory, ValueMemory
    from longmind.sync.working import WorkingMemory
    from longmind.systems.procedural import ToolDecorator, ToolRegistry


class Longmind(Blocking[asynchronous.Longmind]):
    """An open store; see ``longmind.Longmind``."""

    def __init__(self, target: asynchronous.Longmind) -> None:
        super().__init__(EventLoopThread(), target)
        try:
            self._loop.run(target.__aenter__())
        except BaseException:
            self._loop.stop()
            raise

    @classmethod
    def open(
        cls,
        url: str | None = None,
        *,
        embedder: Embedder | str | None = None,
        tenant: str | None = None,
        settings: Settings | None = None,
        clock: Clock | None = None,
        reranker: Reranker | ContextReranker | None = None,
        span_reader: SpanReader | None = None,
        create: bool = True,
        key: str | None = None,
    ) -> Longmind:
        """Open a store by its URL; see ``longmind.Longmind.open``."""
        return cls(
            asynchronous.Longmind.open(
                url,
                embedder=embedder,
                tenant=tenant,
                settings=settings,
                clock=clock,
                reranker=reranker,
                span_reader=span_reader,
                create=create,
                key=key,
            )
        )

    def __enter__(self) -> Longmind:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write what is still to be written and close the store. Closing it twice does nothing."""
        if not self._loop.running:
            return
        try:
            self._loop.run(self._target.close())
        finally:
            self._loop.stop()

    def agent(
        self, name: str, user: str | None = None, *, tenant: str | None = None, all_users: bool = False
    ) -> AgentMemory:
        """Return what an agent knows with a user; without one, what belongs to no user; or all of it."""
        return AgentMemory(self._loop, self._target.agent(name, user, tenant=tenant, all_users=all_users))

    def shared(self, tenant: str | None = None) -> SharedAdministration:
        """The shared memory of a tenant for its administrator: the rules, what waits, and reviews.

        Agents read it and add to it by ``longmind.agent(...).shared``; this face is not for them.
        """
        from longmind.sync.shared import SharedAdministration

        return SharedAdministration(self._loop, self._target.shared(tenant))

    def jobs(self, tenant: str | None = None) -> JobAdministration:
        """The durable jobs of a tenant, to look at and to steer, and what consolidation in this process is doing."""
        from longmind.sync.jobs import JobAdministration

        return JobAdministration(self._loop, self._target.jobs(tenant))

    def register(self, policy: RecallPolicy) -> None:
        """Register a recall policy of yours, for every agent."""
        self._target.register(policy)

    def export(self, scopes: Sequence[Scope] | None = None, *, across_tenants: bool = False) -> Iterator[str]:
        """Yield the lines of an export: of these scopes, or of every agent of the tenant."""
        return self._loop.iterate(self._target.export(scopes, across_tenants=across_tenants))

    @property
    def tools(self) -> ToolRegistry:
        """The functions that procedures may call, by name. They belong to this process and are never stored."""
        return self._target.tools

    @property
    def tool(self) -> ToolDecorator:
        """Register a function that procedures may call: ``@longmind.tool``; its schema comes from its type hints."""
        return self._target.tool

    count_reads = blocking(asynchronous.Longmind.count_reads)
    agents = blocking(asynchronous.Longmind.agents)
    reembed = blocking(asynchronous.Longmind.reembed)
    check = blocking(asynchronous.Longmind.check)
    erase_user = blocking(asynchronous.Longmind.erase_user)
    erase_agent = blocking(asynchronous.Longmind.erase_agent)
    erase_tenant = blocking(asynchronous.Longmind.erase_tenant)
    verify_erasure = blocking(asynchronous.Longmind.verify_erasure)
    scrub = blocking(asynchronous.Longmind.scrub)
    load = blocking(asynchronous.Longmind.load)


class AgentMemory(Blocking[asynchronous.AgentMemory]):
    """What one agent knows; see ``longmind.AgentMemory``."""

    @property
    def scope(self) -> Scope:
        """The scope of these memories: tenant, agent and user."""
        return self._target.scope

    @cached_property
    def working(self) -> WorkingMemory:
        """Working memory: what is on the agent's mind now, ranked by attention."""
        from longmind.sync.working import WorkingMemory

        return WorkingMemory(self._loop, self._target.working)

    @cached_property
    def episodic(self) -> EpisodicMemory:
        """Episodic memory: episodes of events, their replay, and the lessons in them."""
        from longmind.sync.episodic import EpisodicMemory

        return EpisodicMemory(self._loop, self._target.episodic)

    @cached_property
    def semantic(self) -> SemanticMemory:
        """Semantic memory: concepts, facts with their validity in time, and the graph of them."""
        from longmind.sync.semantic import SemanticMemory

        return SemanticMemory(self._loop, self._target.semantic)

    @cached_property
    def procedural(self) -> ProceduralMemory:
        """Procedural memory: procedures that run, resume, keep their versions and learn."""
        from longmind.sync.procedural import ProceduralMemory

        return ProceduralMemory(self._loop, self._target.procedural)

    @cached_property
    def goals(self) -> GoalMemory:
        """Goals with criteria and evidence, plans, and progress."""
        from longmind.sync.goals import GoalMemory

        return GoalMemory(self._loop, self._target.goals)

    @cached_property
    def dialogue(self) -> DialogueMemory:
        """Dialogue memory: the last pages of a conversation, older ones by topic, and their heat."""
        from longmind.sync.dialogue import DialogueMemory

        return DialogueMemory(self._loop, self._target.dialogue)

    @cached_property
    def persona(self) -> PersonaMemory:
        """Persona memory: traits and knowledge of the user and of the agent, with evidence and history."""
        from longmind.sync.persona import PersonaMemory

        return PersonaMemory(self._loop, self._target.persona)

    @cached_property
    def shared(self) -> SharedMemory:
        """Shared memory: what many agents of the tenant learnt, approved and without personal details."""
        from longmind.sync.shared import SharedMemory

        return SharedMemory(self._loop, self._target.shared)

    @cached_property
    def values(self) -> ValueMemory:
        """Exact values by namespace and key, which recall finds too."""
        from longmind.sync.values import ValueMemory

        return ValueMemory(self._loop, self._target.values)

    @cached_property
    def state(self) -> StateMemory:
        """Exact values that a program keeps for itself, such as checkpoints; never recalled."""
        from longmind.sync.values import StateMemory

        return StateMemory(self._loop, self._target.state)

    @cached_property
    def manager(self) -> MemoryManager:
        """The manager over all memory systems, with those you register."""
        from longmind.sync.manager import MemoryManager

        return MemoryManager(self._loop, self._target.manager)

    def conversation(self, id: str, *, window: int = 20) -> Conversation:
        """Return a conversation by its id. The last ``window`` messages are rendered whole, older ones in a summary."""
        from longmind.sync.conversation import Conversation

        return Conversation(self._loop, self._target.conversation(id, window=window))

    def tools(self, *names: str, read_only: bool = False) -> BlockingMemoryTools:
        """Return tools over this memory for a language model; see ``longmind.AgentMemory.tools``."""
        from importlib import import_module

        tools: BlockingMemoryTools = import_module("longmind.model_tools").BlockingMemoryTools(
            self._loop, self._target.tools(*names, read_only=read_only)
        )
        return tools

    def watch(self, *, after: int | None = None, poll_seconds: float = 1.0) -> Iterator[Change]:
        """Yield the changes of these memories as they are made, in this process and in others, until it is closed.

        It begins with the next change, or after a sequence number: keep the ``seq`` of the last change that you
        handled, and go on from there after a restart. Other processes are heard by polling.
        """
        return self._loop.iterate(self._target.watch(after=after, poll_seconds=poll_seconds))

    remember = blocking(asynchronous.AgentMemory.remember)
    recall = blocking(asynchronous.AgentMemory.recall)
    ask = blocking(asynchronous.AgentMemory.ask)
    context = blocking(asynchronous.AgentMemory.context)
    context_lines = blocking(asynchronous.AgentMemory.context_lines)
    forget = blocking(asynchronous.AgentMemory.forget)
    consolidate = blocking(asynchronous.AgentMemory.consolidate)
    get = blocking(asynchronous.AgentMemory.get)
    update = blocking(asynchronous.AgentMemory.update)
    list = blocking(asynchronous.AgentMemory.list)
    history = blocking(asynchronous.AgentMemory.history)
    undo = blocking(asynchronous.AgentMemory.undo)
    users = blocking(asynchronous.AgentMemory.users)
    conversations = blocking(asynchronous.AgentMemory.conversations)
    stats = blocking(asynchronous.AgentMemory.stats)
    growth = blocking(asynchronous.AgentMemory.growth)
    configuration = blocking(asynchronous.AgentMemory.configuration)
    configure = blocking(asynchronous.AgentMemory.configure)
