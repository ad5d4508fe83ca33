"""``Memory`` and ``AsyncMemory``: mem0's classes over Longmind."""

from __future__ import annotations

import functools
import hashlib
import logging
from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

from longmind import AgentMemory, Filter, InvalidInput, Longmind, NotFound, VersionConflict
from longmind import Memory as StoredMemory
from longmind.adapters.access import MemoryAccess
from longmind.adapters.mem0 import shapes
from longmind.adapters.mem0.selection import (
    InvalidRequest,
    Selection,
    check_no_entities,
    check_search,
)
from longmind.adapters.scope import name_of
from longmind.sync import Longmind as BlockingLongmind

_log = logging.getLogger(__name__)
P = ParamSpec("P")
R = TypeVar("R")
Json = dict[str, Any]
KINDS = ("message", "document", "fact")
"""Kinds of memories that are told here: what was said and read, and what was learnt from it."""
_PROCEDURAL = "procedural_memory"
_PAGE = 500
_TRIES = 5
_MOST_IDS = 10_000
_KEEP: Any = object()
"""Stands for an expiration date that is not to be changed."""


class _Operations:
    """What both classes do, on the event loop of the store."""

    def __init__(self, access: MemoryAccess) -> None:
        self._access = access

    async def add(
        self,
        messages: str | Mapping[str, Any] | list[Any],
        *,
        user_id: Any = None,
        agent_id: Any = None,
        run_id: Any = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: Any = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> Json:
        """Store messages for a user, an agent or a run, and return what was added.

        With ``infer`` the same text of one scope is stored once; consolidation learns facts from it. Without it every
        message is a memory of its own.
        """
        if timestamp is not None:
            raise InvalidRequest("timestamp is not supported.", hint="Give metadata={'created_at': ...} instead.")
        day = shapes.expiration_date(expiration_date)
        selection = Selection.of_ids(user_id, agent_id, run_id)
        if memory_type not in (None, _PROCEDURAL):
            raise InvalidRequest(
                f"Invalid 'memory_type'. Please pass {_PROCEDURAL} to create procedural memories.", field="memory_type"
            )
        listed = _messages(messages)
        own = shapes.own_metadata(metadata)
        if memory_type == _PROCEDURAL and agent_id is not None:
            own["memory_type"] = memory_type
            text = "\n".join(f"{message['role']}: {message['content']}" for message in listed)
            listed, infer = ([{"role": "assistant", "content": text}] if text else []), False
        own |= {"agent_id": selection.agent_id} if selection.agent_id else {}
        own |= {"expiration_date": day} if day else {}
        mem = self._owner(selection)
        results = []
        for message in listed:
            stored = await self._store(mem, message, selection, own, infer)
            if stored is not None:
                results.append(_added(stored, message, detailed=not infer))
        return {"results": results}

    async def _store(
        self, mem: AgentMemory, message: Json, selection: Selection, metadata: Json, infer: bool
    ) -> StoredMemory | None:
        """Store a message, and return it; None if it is there already."""
        now = self._access.longmind.clock.now()
        identity = [selection.user_id, selection.agent_id, selection.run_id, message["role"], message.get("name")]
        identity += [str(message["content"])] if infer else [token_hex()]
        key = "mem0:" + hashlib.sha256(repr(identity).encode(errors="replace")).hexdigest()[:40]
        if infer and await mem.get(key=key, include_expired=True) is not None:
            return None
        expiry = shapes.expiry_of(metadata.get("expiration_date"))
        hidden = expiry is not None and expiry <= now
        stored = await mem.remember(
            {name: message[name] for name in ("role", "content", "name") if message.get(name)},
            key=key,
            session=None if selection.run_id is None else name_of(selection.run_id, "run_id"),
            occurred_at=_moment(metadata.get("created_at")),
            metadata=metadata,
            expires_at=None if hidden else expiry,
        )
        if hidden:  # a new memory cannot have expired, but mem0 takes it and hides it
            stored = await mem.update(stored.id, expires_at=expiry, reason=shapes.HIDDEN)
        return stored

    async def get(self, memory_id: str) -> Json | None:
        """Return a memory by its id, or None."""
        memory = await self._everyone().get(memory_id, include_expired=True)
        return None if memory is None else shapes.item_of(memory) | {"score": None}

    async def get_all(
        self,
        /,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **others: Any,
    ) -> Json:
        """Return the memories that filters select, the earliest first."""
        check_no_entities(others, "get_all")
        check_search(top_k=top_k)
        selection = Selection.of_filters(filters)
        results: list[Json] = []
        async for memory in self._scan(selection, show_expired):
            if len(results) == top_k:
                break
            results.append(shapes.item_of(memory))
        return {"results": results}

    async def search(
        self,
        /,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any = None,
        show_expired: bool = False,
        **others: Any,
    ) -> Json:
        """Return the memories that fit a query best, of those that filters select."""
        if reference_date is not None:
            raise InvalidRequest("reference_date is not supported.")
        check_no_entities(others, "search")
        check_search(threshold, top_k)
        if not isinstance(query, str):
            raise InvalidRequest("Invalid query: must be a non-empty string.")
        if not query.strip():
            raise InvalidRequest("Invalid query: cannot be empty or whitespace-only.")
        selection = Selection.of_filters(filters)
        where = self._where(selection, show_expired)
        if selection.conditions:
            ids = [memory.id async for memory in self._scan(selection, show_expired)]
            if len(ids) > _MOST_IDS:
                raise InvalidRequest(f"The filters select more than {_MOST_IDS} memories.", hint="Narrow them.")
            where = where.model_copy(update={"ids": tuple(ids)})
            if not ids:
                return {"results": []}
        if top_k == 0:
            return {"results": []}
        mem = self._reader(selection)
        hits = await mem.recall(query.strip(), top_k, where=where, explain=explain)
        # mem0's score is a similarity, and so is its default threshold: compare the fit, not the chance
        return {"results": [shapes.hit_of(hit, explain=explain) for hit in hits if hit.fit >= (threshold or 0.0)]}

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = _KEEP,
        data: str | None = None,
    ) -> Json:
        """Change the text, the metadata or the expiration date of a memory."""
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is _KEEP:
            raise InvalidRequest("At least one of text, metadata, or expiration_date must be provided.")
        changes: Json = {} if text is None else {"content": text, "key": None}
        changed = shapes.own_metadata(metadata)
        if expiration_date is not _KEEP:
            changed["expiration_date"] = shapes.expiration_date(expiration_date)
            changes["expires_at"] = shapes.expiry_of(changed["expiration_date"])
        for attempt in range(_TRIES):
            memory = await self._existing(memory_id, "Please provide a valid 'memory_id'")
            kept = {**memory.metadata, **changed, "updated_at": self._access.longmind.clock.now().isoformat()}
            changes["metadata"] = {name: value for name, value in kept.items() if value is not None}
            try:
                await self._everyone().update(memory_id, expected_version=memory.version, **changes)
                break
            except VersionConflict:
                if attempt == _TRIES - 1:
                    raise
        return {"message": "Memory updated successfully!"}

    async def delete(self, memory_id: str) -> Json:
        """Forget a memory."""
        await self._existing(memory_id)
        await self._everyone().forget(memory_id, reason="mem0: delete")
        return {"message": "Memory deleted successfully!"}

    async def delete_all(self, user_id: Any = None, agent_id: Any = None, run_id: Any = None) -> Json:
        """Forget all memories of a user, an agent or a run."""
        try:
            selection = Selection.of_ids(user_id, agent_id, run_id)
        except InvalidRequest as error:
            if (user_id, agent_id, run_id) != (None, None, None):
                raise
            raise InvalidRequest(
                "At least one filter is required to delete all memories. "
                "If you want to delete all memories, use the `reset()` method."
            ) from error
        where = self._where(selection, show_expired=True)
        await self._reader(selection).forget(where=where, reason="mem0: delete all")
        return {"message": "Memories deleted successfully!"}

    async def history(self, memory_id: str) -> list[Json]:
        """Return the changes of a memory, the earliest first; none for an id that never was."""
        try:
            return shapes.history_of(await self._everyone().history(memory_id))
        except NotFound:
            return []

    async def reset(self) -> None:
        """Erase all memories that this object reaches."""
        user = self._access.scope.user
        if user is None:
            await self._access.longmind.erase_agent(self._access.scope.agent_name())
        else:
            await self._access.memory().forget(where={"users": [user], "states": None}, erase=True)

    # -- whose memories ------------------------------------------------------------------------------------------------

    def _owner(self, selection: Selection) -> AgentMemory:
        """Return the memory that new memories belong to."""
        return self._access.memory(user=selection.user_id)

    def _reader(self, selection: Selection) -> AgentMemory:
        return self._everyone() if selection.user_id is None else self._access.memory(user=selection.user_id)

    def _everyone(self) -> AgentMemory:
        """Return the memory with every user, or with the only user of this object."""
        if self._access.scope.user is not None:
            return self._access.memory()
        return self._access.longmind.agent(self._access.scope.agent_name(), all_users=True)

    def _where(self, selection: Selection, show_expired: bool) -> Filter:
        user = None if selection.user_id is None else name_of(selection.user_id, "user_id")
        metadata = {**selection.equal, **({"agent_id": selection.agent_id} if selection.agent_id else {})}
        try:
            return Filter(
                kinds=KINDS,
                users=(user,) if user is not None else None,
                sessions=None if selection.run_id is None else (name_of(selection.run_id, "run_id"),),
                metadata=metadata or None,
                expired=None if show_expired else False,
            )
        except ValueError as error:
            raise InvalidRequest("The filters cannot be used: a value has a type that metadata cannot have.") from error

    async def _scan(self, selection: Selection, show_expired: bool) -> Any:
        mem, where, cursor = self._reader(selection), self._where(selection, show_expired), None
        while True:
            page = await mem.list(where=where, descending=False, limit=_PAGE, cursor=cursor)
            for memory in page.items:
                if selection.meets(shapes.payload_of(memory)):
                    yield memory
            cursor = page.cursor
            if cursor is None:
                return

    async def _existing(self, memory_id: str, advice: str = "") -> StoredMemory:
        memory = await self._everyone().get(memory_id, include_expired=True)
        if memory is None:
            raise InvalidRequest(f"Memory with id {memory_id} not found{'. ' + advice if advice else ''}")
        return memory


def _messages(messages: Any) -> list[Json]:
    """Return the messages to store: not those of the system, nor what is no message."""
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if isinstance(messages, Mapping):
        messages = [messages]
    if not isinstance(messages, list):
        raise InvalidRequest("messages must be str, dict, or list[dict]")
    listed = []
    for message in messages:
        if not isinstance(message, Mapping) or message.get("role") is None or message.get("content") is None:
            _log.warning("A message without a role or a content was left out.")
        elif message["role"] != "system" and (content := _text_of(message["content"])) is not None:
            listed.append({**message, "content": content})
    return listed


def _text_of(content: Any) -> Any:
    """Return the text of a content that is a list of parts, as mem0 does without a model that sees; None if none is."""
    if isinstance(content, Mapping):
        return None if content.get("type") == "image_url" else content
    if not isinstance(content, list):
        return content
    parts = [part["text"] for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
    return " ".join(parts) if parts else None


def _added(stored: StoredMemory, message: Json, *, detailed: bool) -> Json:
    result: Json = {"id": stored.id, "memory": stored.content, "event": "ADD"}
    return result | {"actor_id": message.get("name"), "role": message["role"]} if detailed else result


def _moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)


Method = Callable[Concatenate[_Operations, P], Coroutine[Any, Any, R]]


def _asynchronous(method: Method[P, R]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]:
    @functools.wraps(method)
    async def call(self: _Face, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._access.run(method(self._operations, *args, **kwargs))

    return call


def _blocking(method: Method[P, R]) -> Callable[Concatenate[Any, P], R]:
    @functools.wraps(method)
    def call(self: _Face, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._access.wait(method(self._operations, *args, **kwargs))

    return call


class _Face:
    """A store that is open, and what is done with it."""

    def __init__(
        self, longmind: Longmind | BlockingLongmind | None = None, *, agent: str | None = None, user: str | None = None
    ) -> None:
        self._own = BlockingLongmind.open() if longmind is None else None
        self._access = MemoryAccess(longmind or cast(BlockingLongmind, self._own), agent=agent, user=user)
        self._operations = _Operations(self._access)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Return a memory from a configuration of mem0. What it says of mem0's own parts is not used.

        ``{"longmind": {"url": ..., "agent": ..., "user": ...}}`` says which store it is, and for whom.
        """
        own = dict(config_dict.get("longmind") or {})
        if unused := sorted(set(config_dict) - {"longmind", "version"}):
            _log.warning("Longmind does not use these parts of mem0's configuration: %s.", ", ".join(unused))
        if unknown := sorted(set(own) - {"url", "agent", "user"}):
            raise InvalidInput(f"There is no setting {', '.join(unknown)}.", hint="Settings: url, agent, user.")
        store = BlockingLongmind.open(own.get("url"))
        try:
            face = cls(store, agent=own.get("agent"), user=own.get("user"))
        except BaseException:
            store.close()
            raise
        face._own = store
        return face

    def close(self) -> None:
        """Close the store, if this object opened it."""
        if self._own is not None:
            self._own.close()


class AsyncMemory(_Face):
    """mem0's ``AsyncMemory`` over Longmind."""

    add = _asynchronous(_Operations.add)
    get = _asynchronous(_Operations.get)
    get_all = _asynchronous(_Operations.get_all)
    search = _asynchronous(_Operations.search)
    update = _asynchronous(_Operations.update)
    delete = _asynchronous(_Operations.delete)
    delete_all = _asynchronous(_Operations.delete_all)
    history = _asynchronous(_Operations.history)
    reset = _asynchronous(_Operations.reset)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        self.close()


class Memory(_Face):
    """mem0's ``Memory`` over Longmind."""

    add = _blocking(_Operations.add)
    get = _blocking(_Operations.get)
    get_all = _blocking(_Operations.get_all)
    search = _blocking(_Operations.search)
    update = _blocking(_Operations.update)
    delete = _blocking(_Operations.delete)
    delete_all = _blocking(_Operations.delete_all)
    history = _blocking(_Operations.history)
    reset = _blocking(_Operations.reset)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
