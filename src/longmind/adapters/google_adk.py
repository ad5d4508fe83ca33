"""Google ADK: a ``BaseMemoryService`` over what agents know with their users.

from longmind.adapters.google_adk import LongmindMemoryService

runner = Runner(agent=agent, app_name="shop", session_service=sessions, memory_service=LongmindMemoryService(longmind))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from longmind.adapters.access import MemoryAccess
from longmind.adapters.packages import framework
from longmind.adapters.scope import name_of
from longmind.agent_memory import AgentMemory
from longmind.errors import InvalidInput
from longmind.memory import Longmind
from longmind.sync import Longmind as BlockingLongmind
from longmind.systems.values import ValueName
from longmind.types import Json, Memory

with framework("google-adk"):
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai.types import Content, Part

if TYPE_CHECKING:
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

_DELETED = ("adk", "deleted")
"""Where the ids are kept of what was deleted: a session that is added again must not bring it back."""
_OWN = frozenset({"id", "author"})


class LongmindMemoryService(BaseMemoryService):
    """What agents know with their users, as a memory service of ADK.

    The application is the agent, unless ``agent`` names one; the user of a call is the user. An event is stored once,
    known by its id, however often its session is added. Search finds everything that is known: events, what was added
    directly, and what Longmind learnt from them.
    """

    def __init__(
        self,
        longmind: Longmind | BlockingLongmind,
        *,
        agent: str | None = None,
        user: str | None = None,
        k: int = 10,
    ) -> None:
        self._access = MemoryAccess(longmind, agent=agent, user=user)
        self._k = k

    def _memory(self, app_name: str, user_id: str) -> AgentMemory:
        return self._access.memory(application=app_name, user=user_id)

    async def add_session_to_memory(self, session: Session) -> None:
        """Remember what is said in the events of a session."""
        memory = self._memory(session.app_name, session.user_id)
        await self._access.run(_remember(memory, session.events, session.id, None))

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember what is said in events."""
        memory = self._memory(app_name, user_id)
        await self._access.run(_remember(memory, events, session_id, custom_metadata))

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember texts directly, with their author and time."""
        memory = self._memory(app_name, user_id)
        await self._access.run(_add(memory, memories, custom_metadata))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the memories that fit a query best."""
        hits = await self._access.run(self._memory(app_name, user_id).recall(query, self._k))
        return SearchMemoryResponse(memories=[_entry(hit.memory, hit.score) for hit in hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget a memory by the id that a search gave; a session that is added again does not bring it back."""
        if memory_id:
            await self._access.run(_delete(self._memory(app_name, user_id), memory_id))


async def _remember(
    memory: AgentMemory, events: Sequence[Event], session_id: str | None, metadata: Mapping[str, object] | None
) -> None:
    messages = [message for event in events if (message := _message(event, metadata)) is not None]
    names = [ValueName(namespace=_DELETED, key=message["metadata"]["id"]) for message in messages]
    deleted = await memory.state.read(names) if names else []
    kept = [message for message, gone in zip(messages, deleted, strict=True) if gone is None]
    session = None if session_id is None else name_of(session_id, "session_id")
    if kept and session is not None:
        await memory.remember(kept, session=session)
        return
    for message in kept:  # without a session there is no conversation to find them in
        await _remember_alone(memory, message)


async def _add(memory: AgentMemory, entries: Sequence[MemoryEntry], metadata: Mapping[str, object] | None) -> None:
    for entry in entries:
        text = _text(entry.content)
        if not text:
            raise InvalidInput("A memory without a text cannot be added.")
        own: Json = {**entry.custom_metadata, **(metadata or {})}
        if entry.author is not None:
            own["author"] = entry.author
        if entry.id is not None:
            own["id"] = entry.id
        message = {"role": _role(entry.author), "content": text, "name": _speaker(entry.author), "metadata": own}
        if entry.timestamp is not None:
            message["occurred_at"] = entry.timestamp
        await _remember_alone(memory, message)


async def _remember_alone(memory: AgentMemory, message: Json) -> None:
    """Remember a message of no session; one with an id is known by it."""
    id = message["metadata"].get("id")
    if id is None or (await memory.state.get(_DELETED, id) is None and await _by_event(memory, id) is None):
        await memory.remember(message)


async def _delete(memory: AgentMemory, memory_id: str) -> None:
    stored = await _by_event(memory, memory_id)
    if stored is None and _is_own_id(memory_id):
        found = await memory.get(memory_id)
        stored = found if found is not None and found.user == memory.scope.user else None
    if stored is not None:
        await memory.forget(stored.id)
        if "id" in stored.metadata:
            await memory.state.put(_DELETED, memory_id, {})


async def _by_event(memory: AgentMemory, event_id: str) -> Memory | None:
    """Return what was stored of an event."""
    users = None if memory.scope.user is None else [memory.scope.user]
    page = await memory.list(kinds=["message"], where={"metadata": {"id": event_id}, "users": users}, limit=1)
    return page.items[0] if page.items else None


def _is_own_id(id: str) -> bool:
    return len(id) == 36 and id.count("-") == 4


def _message(event: Event, metadata: Mapping[str, object] | None) -> Json | None:
    """Return what an event says as a message; None if it says nothing, such as the call of a function."""
    text = _text(event.content)
    if not text or event.partial:
        return None
    return {
        "role": _role(event.author),
        "content": text,
        "name": _speaker(event.author),
        "occurred_at": datetime.fromtimestamp(event.timestamp, UTC),
        "metadata": {**(metadata or {}), "id": event.id, "author": event.author},
    }


def _text(content: Content | None) -> str:
    parts = (content.parts if content is not None else None) or []
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _role(author: str | None) -> str:
    return "user" if author in (None, "user") else "assistant"


def _speaker(author: str | None) -> str | None:
    return None if author in (None, "user") else name_of(author, "author")


def _entry(memory: Memory, score: float) -> MemoryEntry:
    author = memory.metadata.get("author") or memory.source.name or memory.source.role
    own: dict[str, Any] = {name: value for name, value in memory.metadata.items() if name not in _OWN}
    return MemoryEntry(
        id=str(memory.metadata.get("id") or memory.id),
        content=Content(role="user" if memory.source.role == "user" else "model", parts=[Part(text=memory.content)]),
        author=str(author),
        timestamp=memory.occurred_at.isoformat(),
        custom_metadata={**own, "kind": memory.kind, "score": score},
    )
