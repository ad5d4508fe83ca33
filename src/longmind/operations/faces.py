"""The classes of the public face, and how a request says which object of them it means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from longmind.agent import Agent
from longmind.agent_memory import AgentMemory
from longmind.conversation import Conversation
from longmind.jobs import JobAdministration
from longmind.manager import MemoryManager
from longmind.memory import Longmind
from longmind.security import AuditLog, KeyAdministration
from longmind.systems.dialogue import DialogueMemory
from longmind.systems.episodic import EpisodicMemory
from longmind.systems.goals import GoalMemory
from longmind.systems.persona import PersonaMemory
from longmind.systems.procedural import ProceduralMemory
from longmind.systems.semantic import SemanticMemory
from longmind.systems.shared import SharedAdministration, SharedMemory
from longmind.systems.values import StateMemory, ValueMemory
from longmind.systems.working import WorkingMemory
from longmind.types import Name

Values = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Face:
    """A class of the public face: where its operations are, and how a request finds the object."""

    cls: type
    prefix: str
    """The path that its operations begin with. Its parameters locate the object."""
    locate: Callable[[Longmind, Values], Any]
    """Return the object, from the parameters of the path and the query."""
    of_server: bool = False
    """Whether the object belongs to the server and not to a store: the server makes it for who asks."""
    query: Mapping[str, Any] = field(default_factory=dict)
    """The parameters in the query that locate the object, with their types; None where a request leaves them out."""

    def names(self) -> frozenset[str]:
        """Return the names of all parameters that locate the object."""
        path = {part[1:-1] for part in self.prefix.split("/") if part.startswith("{")}
        return frozenset(path | set(self.query))


_AGENT = "/agents/{agent}"
_USER: Mapping[str, Any] = {"user": Name | None, "all_users": bool | None}


def _agent(longmind: Longmind, values: Values) -> AgentMemory:
    return longmind.agent(values["agent"], values.get("user"), all_users=bool(values.get("all_users")))


def _room(cls: type, name: str) -> Face:
    """Return the face of a memory system: an attribute of ``AgentMemory``."""
    return Face(cls, _AGENT, lambda longmind, values: getattr(_agent(longmind, values), name), query=_USER)


def _working(longmind: Longmind, values: Values) -> WorkingMemory:
    working, session = _agent(longmind, values).working, values.get("session")
    return working if session is None else working.session(session)


def _conversation(longmind: Longmind, values: Values) -> Conversation:
    window = values.get("window")
    mem = _agent(longmind, values)
    return mem.conversation(values["conversation"], **({} if window is None else {"window": window}))


LONGMIND = Face(Longmind, "", lambda longmind, values: longmind)
AGENT = Face(AgentMemory, _AGENT, _agent, query=_USER)
CONVERSATION = Face(
    Conversation, _AGENT + "/conversations/{conversation}", _conversation, query={**_USER, "window": int | None}
)
AGENT_AT_WORK = Face(Agent, _AGENT, lambda longmind, values: Agent(_agent(longmind, values)), query=_USER)
WORKING = Face(WorkingMemory, _AGENT, _working, query={**_USER, "session": Name | None})
EPISODIC = _room(EpisodicMemory, "episodic")
SEMANTIC = _room(SemanticMemory, "semantic")
PROCEDURAL = _room(ProceduralMemory, "procedural")
GOALS = _room(GoalMemory, "goals")
DIALOGUE = _room(DialogueMemory, "dialogue")
PERSONA = _room(PersonaMemory, "persona")
SHARED = _room(SharedMemory, "shared")
VALUES = _room(ValueMemory, "values")
STATE = _room(StateMemory, "state")
MANAGER = _room(MemoryManager, "manager")
SHARED_ADMINISTRATION = Face(SharedAdministration, "", lambda longmind, values: longmind.shared())
JOBS = Face(JobAdministration, "", lambda longmind, values: longmind.jobs())
KEYS = Face(KeyAdministration, "", lambda longmind, values: None, of_server=True)
AUDIT = Face(AuditLog, "", lambda longmind, values: None, of_server=True)
FACES = (
    LONGMIND,
    AGENT,
    AGENT_AT_WORK,
    CONVERSATION,
    WORKING,
    EPISODIC,
    SEMANTIC,
    PROCEDURAL,
    GOALS,
    DIALOGUE,
    PERSONA,
    SHARED,
    VALUES,
    STATE,
    MANAGER,
    SHARED_ADMINISTRATION,
    JOBS,
    KEYS,
    AUDIT,
)
