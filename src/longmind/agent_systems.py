"""``AgentSystems``: the memory systems of an agent, each opened when it is first used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import cached_property
from typing import TYPE_CHECKING, Any

from longmind.agent_listing import AgentListing

if TYPE_CHECKING:
    from longmind.manager import MemoryManager
    from longmind.models.chat_model import ChatModel
    from longmind.systems.dialogue import DialogueMemory
    from longmind.systems.episodic import EpisodicMemory
    from longmind.systems.goals import GoalMemory
    from longmind.systems.persona import PersonaMemory
    from longmind.systems.procedural import ProceduralMemory
    from longmind.systems.scoped_store import ScopedStore
    from longmind.systems.semantic import SemanticMemory
    from longmind.systems.shared import SharedMemory
    from longmind.systems.values import StateMemory, ValueMemory
    from longmind.systems.working import WorkingMemory
    from longmind.types import Hit


class AgentSystems(AgentListing):
    """The memory systems of an agent, over the verbs that ``AgentMemory`` adds to them."""

    if TYPE_CHECKING:
        recall: Callable[..., Coroutine[Any, Any, list[Hit]]]
        remember: Callable[..., Awaitable[Any]]
        chat: Callable[[], Awaitable[ChatModel | None]]

    @cached_property
    def scoped(self) -> ScopedStore:
        """The store of this agent's scope, for those who build a memory system of their own."""
        from longmind.systems.scoped_store import ScopedStore

        longmind = self._longmind
        return ScopedStore(
            self.store, self.scope, longmind.clock, longmind.embedding.embed, self.recall, longmind.count_reads
        )

    @cached_property
    def working(self) -> WorkingMemory:
        """Working memory: what is on the agent's mind now, ranked by attention."""
        from longmind.systems.working import WorkingMemory

        return WorkingMemory(self.scoped)

    @cached_property
    def episodic(self) -> EpisodicMemory:
        """Episodic memory: episodes of events, their replay, and the lessons in them."""
        from longmind.systems.episodic import EpisodicMemory

        return EpisodicMemory(self.scoped)

    @cached_property
    def semantic(self) -> SemanticMemory:
        """Semantic memory: concepts, facts with their validity in time, and the graph of them."""
        from longmind.systems.semantic import SemanticMemory

        return SemanticMemory(self.scoped)

    @cached_property
    def procedural(self) -> ProceduralMemory:
        """Procedural memory: procedures that run, resume, keep their versions and learn."""
        from longmind.systems.procedural import ProceduralMemory

        return ProceduralMemory(self.scoped, self._longmind.tools)

    @cached_property
    def goals(self) -> GoalMemory:
        """Goals with criteria and evidence, plans, and progress."""
        from longmind.systems.goals import GoalMemory

        return GoalMemory(self.scoped, self.procedural, self.chat)

    @cached_property
    def dialogue(self) -> DialogueMemory:
        """Dialogue memory: the last pages of a conversation, older ones by topic, and their heat."""
        from longmind.systems.dialogue import DialogueMemory

        return DialogueMemory(self.scoped)

    @cached_property
    def persona(self) -> PersonaMemory:
        """Persona memory: traits and knowledge of the user and of the agent, with evidence and history."""
        from longmind.systems.persona import PersonaMemory

        return PersonaMemory(self.scoped)

    @cached_property
    def shared(self) -> SharedMemory:
        """Shared memory: what many agents of the tenant learnt, approved and without personal details."""
        from longmind.systems.shared import SharedMemory

        return SharedMemory(self.scoped)

    @cached_property
    def values(self) -> ValueMemory:
        """Exact values by namespace and key, which recall finds too."""
        from longmind.systems.values import ValueMemory

        return ValueMemory(self.scoped)

    @cached_property
    def state(self) -> StateMemory:
        """Exact values that a program keeps for itself, such as checkpoints; never recalled."""
        from longmind.systems.values import StateMemory

        return StateMemory(self.scoped)

    @cached_property
    def manager(self) -> MemoryManager:
        """The manager over all memory systems, with those you register."""
        from longmind.manager import MemoryManager

        return MemoryManager(
            self.scoped,
            working=self.working,
            episodic=self.episodic,
            semantic=self.semantic,
            procedural=self.procedural,
            goals=self.goals,
            persona=self.persona,
            dialogue=self.dialogue,
            shared=self.shared,
            recall=self.recall,
            remember=self.remember,
        )
