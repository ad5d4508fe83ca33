"""``Longmind`` and ``AgentMemory`` over HTTP."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from longmind.agent_memory import AgentMemory
from longmind.client.connection import Connection
from longmind.client.faces import Remote, remote_class
from longmind.config import Settings
from longmind.errors import InvalidInput, Unsupported
from longmind.memory import Longmind
from longmind.model_tools.memory_tools import MemoryTools, tools_of
from longmind.operations import faces
from longmind.problems import first_problem
from longmind.types import Scope

if TYPE_CHECKING:
    import httpx2

    from longmind.clock import Clock
    from longmind.conversation import Conversation
    from longmind.jobs import JobAdministration
    from longmind.manager import MemoryManager
    from longmind.systems.dialogue import DialogueMemory
    from longmind.systems.episodic import EpisodicMemory
    from longmind.systems.goals import GoalMemory
    from longmind.systems.persona import PersonaMemory
    from longmind.systems.procedural import ProceduralMemory
    from longmind.systems.semantic import SemanticMemory
    from longmind.systems.shared import SharedAdministration, SharedMemory
    from longmind.systems.values import StateMemory, ValueMemory
    from longmind.systems.working import WorkingMemory

_Longmind: Any = remote_class(faces.LONGMIND)
_AgentMemory: Any = remote_class(faces.AGENT)
_WorkingMemory: Any = remote_class(faces.WORKING)


class RemoteLongmind(_Longmind):  # type: ignore[misc]
    """A server that is open; see ``longmind.Longmind``."""

    url: str
    settings: Settings
    clock: Clock

    def __init__(
        self,
        url: str,
        key: str | None,
        settings: Settings,
        clock: Clock,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        Remote.__init__(self, Connection(url, key, transport), {})
        self.url, self.settings, self.clock = url, settings, clock

    async def __aenter__(self) -> RemoteLongmind:
        try:
            await self._connection.check()
        except BaseException:
            await self.close()
            raise
        return self

    async def close(self) -> None:
        """Close the connections to the server."""
        await self._connection.close()

    def agent(
        self, name: str, user: str | None = None, *, tenant: str | None = None, all_users: bool = False
    ) -> AgentMemory:
        """What an agent knows with a user; the tenant is that of the key."""
        if tenant is not None:
            raise Unsupported("Over a server the tenant is that of the key.", hint="Leave it out.")
        try:
            scope = Scope(tenant=self.settings.tenant, agent=name, user=user, all_users=all_users)
        except ValidationError as error:
            where, reason = first_problem(error)
            what = f"The {where}'s name" if where else "The scope"
            raise InvalidInput(f"{what} is not usable: {reason}.", field=where) from None
        return cast(AgentMemory, RemoteAgentMemory(self._connection, scope))

    def shared(self, tenant: str | None = None) -> SharedAdministration:
        """The shared memory of the tenant, for its administrator."""
        if tenant is not None:
            raise Unsupported("Over a server the tenant is that of the key.", hint="Leave it out.")
        return cast("SharedAdministration", remote_class(faces.SHARED_ADMINISTRATION)(self._connection, {}))

    def jobs(self, tenant: str | None = None) -> JobAdministration:
        """The durable jobs of the tenant, and what consolidation in the server is doing."""
        if tenant is not None:
            raise Unsupported("Over a server the tenant is that of the key.", hint="Leave it out.")
        return cast("JobAdministration", remote_class(faces.JOBS)(self._connection, {}))

    async def count_reads(self) -> None:
        """Do nothing: the server counts reads itself."""


class RemoteAgentMemory(_AgentMemory):  # type: ignore[misc]
    """What one agent on a server knows; see ``longmind.AgentMemory``."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        located = {"agent": scope.agent, "user": scope.user, "all_users": scope.all_users or None}
        super().__init__(connection, {name: value for name, value in located.items() if value is not None})
        self.scope = scope

    def conversation(self, id: str, *, window: int = 20) -> Conversation:
        """Return a conversation by its id."""
        binding = {**self._binding, "conversation": id, "window": window}
        made: Any = remote_class(faces.CONVERSATION)(self._connection, binding)
        made.id = id
        return cast("Conversation", made)

    def tools(self, *names: str, read_only: bool = False) -> MemoryTools:
        """Return tools over this memory for a language model."""
        return tools_of(cast(AgentMemory, self), names, read_only=read_only)

    @cached_property
    def working(self) -> WorkingMemory:
        """Working memory on the server."""
        return cast("WorkingMemory", RemoteWorkingMemory(self._connection, self._binding))

    @cached_property
    def episodic(self) -> EpisodicMemory:
        """Episodic memory on the server."""
        return cast("EpisodicMemory", self._room(faces.EPISODIC))

    @cached_property
    def semantic(self) -> SemanticMemory:
        """Semantic memory on the server."""
        return cast("SemanticMemory", self._room(faces.SEMANTIC))

    @cached_property
    def procedural(self) -> ProceduralMemory:
        """Procedural memory on the server; procedures run there, with the tools that are registered there."""
        return cast("ProceduralMemory", self._room(faces.PROCEDURAL))

    @cached_property
    def goals(self) -> GoalMemory:
        """Goals on the server."""
        return cast("GoalMemory", self._room(faces.GOALS))

    @cached_property
    def dialogue(self) -> DialogueMemory:
        """Dialogue memory on the server."""
        return cast("DialogueMemory", self._room(faces.DIALOGUE))

    @cached_property
    def persona(self) -> PersonaMemory:
        """Persona memory on the server."""
        return cast("PersonaMemory", self._room(faces.PERSONA))

    @cached_property
    def shared(self) -> SharedMemory:
        """Shared memory on the server."""
        return cast("SharedMemory", self._room(faces.SHARED))

    @cached_property
    def values(self) -> ValueMemory:
        """Exact values on the server."""
        return cast("ValueMemory", self._room(faces.VALUES))

    @cached_property
    def state(self) -> StateMemory:
        """Exact values on the server that are never recalled."""
        return cast("StateMemory", self._room(faces.STATE))

    @cached_property
    def manager(self) -> MemoryManager:
        """The manager over the memory systems on the server."""
        return cast("MemoryManager", self._room(faces.MANAGER))

    def _room(self, face: faces.Face) -> Remote:
        return remote_class(face)(self._connection, self._binding)


class RemoteWorkingMemory(_WorkingMemory):  # type: ignore[misc]
    """Working memory on a server."""

    def session(self, id: str) -> WorkingMemory:
        """Return the working memory of one session."""
        return cast("WorkingMemory", RemoteWorkingMemory(self._connection, {**self._binding, "session": id}))


def open_remote(url: str, key: str | None, settings: Settings, clock: Clock) -> Longmind:
    """Return the server at a URL, to be entered or awaited."""
    return cast(Longmind, RemoteLongmind(url, key, settings, clock))
