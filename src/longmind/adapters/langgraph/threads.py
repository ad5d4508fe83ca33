"""Threads of LangGraph as state: checkpoints, the values of their channels, and the writes of tasks.

Each is one value of ``mem.state`` in the session of its thread. The value of a channel is stored once for each version
of the channel, however many checkpoints have it; texts of moderate length, numbers and the like are in the checkpoint.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from longmind.adapters.packages import framework
from longmind.adapters.scope import name_of
from longmind.errors import InvalidInput
from longmind.systems.values import StateMemory, Value, ValueName, ValueWrite
from longmind.types import Json

with framework("langgraph"):
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import (
        WRITES_IDX_MAP,
        ChannelVersions,
        Checkpoint,
        CheckpointMetadata,
        CheckpointTuple,
        SerializerProtocol,
        get_checkpoint_metadata,
        writes_sort_key,
    )

CHECKPOINT, CHANNEL, WRITE = "checkpoint", "channel", "write"
_PAGE = 50
_INLINE = 1_000
"""Up to how many characters a text is stored within the checkpoint."""
_DELTA_COUNTERS = "counters_since_delta_snapshot"
_UUID6_EPOCH = datetime(1582, 10, 15, tzinfo=UTC)


class Threads:
    """The threads of one agent and user."""

    def __init__(self, state: StateMemory, serde: SerializerProtocol) -> None:
        self._state = state
        self._serde = serde

    # -- one checkpoint ------------------------------------------------------------------------------------------------

    async def get(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that a config names, or the latest of its thread and namespace."""
        place = config["configurable"]
        thread, space, id = _thread_of(place), place.get("checkpoint_ns", ""), place.get("checkpoint_id")
        if id is not None:
            stored = await self._state.get((CHECKPOINT, thread, space), id)
        else:
            stored = await self._latest(thread, space)
        return None if stored is None else (await self._tuples([stored]))[0]

    async def _latest(self, thread: str, space: str) -> Value | None:
        limit = 2
        while True:
            page = await self._state.list(
                (CHECKPOINT, thread, space), session=thread, order="updated", descending=True, limit=limit
            )
            same = [value for value in page.items if value.updated_at == page.items[0].updated_at]
            if len(same) < limit or page.cursor is None:
                return max(same, key=lambda value: value.key, default=None)
            limit *= 4  # so many within one microsecond

    async def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint and the new values of its channels, in one transaction."""
        place = config["configurable"]
        thread_id, thread, space = place["thread_id"], _thread_of(place), place.get("checkpoint_ns", "")
        values: Mapping[str, Any] = checkpoint["channel_values"]
        inline = {channel: value for channel, value in values.items() if _is_small(value)}
        described = get_checkpoint_metadata(config, metadata)
        body = {
            "thread_id": thread_id,
            "checkpoint": self._dump({**checkpoint, "channel_values": inline}),
            "metadata": self._dump(described),
            "parent": place.get("checkpoint_id"),
            "run_id": described.get("run_id"),
        }
        writes = [
            ValueWrite(
                namespace=(CHECKPOINT, thread, space),
                key=checkpoint["id"],
                value=body,
                session=thread,
                at=_moment_of(checkpoint),
            )
        ]
        for channel, version in new_versions.items():
            if channel in values and channel not in inline:
                name = _channel_key(channel, version)
                kept = {"value": self._dump(values[channel])}
                writes.append(
                    ValueWrite(namespace=(CHANNEL, thread, space), key=name, value=kept, session=thread, keep=True)
                )
        await self._state.write(writes)
        return _config(thread_id, space, checkpoint["id"])

    async def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> None:
        """Store the writes of a task. Those with a place of their own, such as an error, replace what is there."""
        place = config["configurable"]
        thread = _thread_of(place)
        namespace = (WRITE, thread, place.get("checkpoint_ns", ""), place["checkpoint_id"])
        stored = []
        for number, (channel, value) in enumerate(writes):
            index = WRITES_IDX_MAP.get(channel, number)
            body = {
                "task": task_id,
                "channel": channel,
                "value": self._dump(value),
                "path": task_path,
                "index": index,
            }
            key = json.dumps([task_id, index])
            write = ValueWrite(namespace=namespace, key=key, value=body, session=thread, keep=index >= 0)
            stored.append(write)
        await self._state.write(stored)

    # -- many checkpoints ----------------------------------------------------------------------------------------------

    async def find(
        self,
        config: RunnableConfig | None,
        conditions: Mapping[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield the checkpoints that match, the latest first."""
        place: Mapping[str, Any] = config["configurable"] if config else {}
        prefix: tuple[str, ...] = (CHECKPOINT,)
        if "thread_id" in place:
            prefix += (_thread_of(place),)
            prefix += (place["checkpoint_ns"],) if place.get("checkpoint_ns") is not None else ()
        ceiling = before["configurable"].get("checkpoint_id") if before else None
        left = limit
        async for page in self._pages(prefix):
            named = (value for value in page if place.get("checkpoint_id") in (None, value.key))
            earlier = (value for value in named if ceiling is None or value.key < ceiling)
            matching = [value for value in earlier if self._has(value, conditions)][:left]
            for item in await self._tuples(matching):
                yield item
            if left is not None:
                left -= len(matching)
                if left <= 0:
                    return

    async def _pages(self, prefix: tuple[str, ...]) -> AsyncIterator[list[Value]]:
        """Yield the values below a prefix, the latest first; those of one moment by their keys."""
        cursor: str | None = None
        session = prefix[1] if len(prefix) > 1 else None
        while True:
            page = await self._state.list(
                prefix, session=session, order="updated", descending=True, limit=_PAGE, cursor=cursor
            )
            yield sorted(page.items, key=lambda value: (value.updated_at, value.key), reverse=True)
            cursor = page.cursor
            if cursor is None:
                return

    async def _all(self, prefix: tuple[str, ...]) -> list[Value]:
        return [value async for page in self._pages(prefix) for value in page]

    def _has(self, stored: Value, conditions: Mapping[str, Any] | None) -> bool:
        if not conditions:
            return True
        metadata = self._load(stored.value["metadata"])
        return all(metadata.get(name) == wanted for name, wanted in conditions.items())

    async def _tuples(self, stored: Sequence[Value]) -> list[CheckpointTuple]:
        """Return checkpoints with the values of their channels and with their writes."""
        checkpoints: list[Checkpoint] = [self._load(value.value["checkpoint"]) for value in stored]
        names: dict[tuple[int, str], ValueName] = {}
        for n, (value, checkpoint) in enumerate(zip(stored, checkpoints, strict=True)):
            space = (CHANNEL, *value.namespace[1:])
            for channel, version in checkpoint["channel_versions"].items():
                if channel not in checkpoint["channel_values"]:
                    names[n, channel] = ValueName(namespace=space, key=_channel_key(channel, version))
        found = await self._state.read(list(names.values())) if names else []
        for (n, channel), kept in zip(names, found, strict=True):
            if kept is not None:
                checkpoints[n]["channel_values"][channel] = self._load(kept.value["value"])
        return [await self._tuple(value, checkpoint) for value, checkpoint in zip(stored, checkpoints, strict=True)]

    async def _tuple(self, stored: Value, checkpoint: Checkpoint) -> CheckpointTuple:
        thread_id, space, parent = stored.value["thread_id"], stored.namespace[2], stored.value["parent"]
        writes = [value.value for value in await self._all((WRITE, *stored.namespace[1:], stored.key))]
        writes.sort(key=lambda write: writes_sort_key(write["path"], write["task"], write["index"]))
        return CheckpointTuple(
            config=_config(thread_id, space, stored.key),
            checkpoint=checkpoint,
            metadata=self._load(stored.value["metadata"]),
            parent_config=None if parent is None else _config(thread_id, space, parent),
            pending_writes=[(write["task"], write["channel"], self._load(write["value"])) for write in writes],
        )

    # -- whole threads -------------------------------------------------------------------------------------------------

    async def delete(self, thread_id: str) -> None:
        """Erase all of a thread."""
        await self._state.clear(session=name_of(thread_id, "thread_id"), erase=True)

    async def delete_runs(self, run_ids: Sequence[str]) -> None:
        """Erase the checkpoints of these runs, their writes, and the channel values that no other checkpoint has."""
        runs = set(run_ids)
        if not runs:
            return
        checkpoints = await self._all((CHECKPOINT,))
        for thread in {value.namespace[1] for value in checkpoints if value.value["run_id"] in runs}:
            own = [value for value in checkpoints if value.namespace[1] == thread]
            await self._keep(thread, [value for value in own if value.value["run_id"] not in runs])

    async def prune(self, thread_ids: Sequence[str], *, keep_latest: bool) -> None:
        """Erase all checkpoints of these threads, or all but those that the latest ones need."""
        for thread_id in thread_ids:
            thread = name_of(thread_id, "thread_id")
            checkpoints = await self._all((CHECKPOINT, thread)) if keep_latest else []
            needed: list[Value] = []
            for space in {value.namespace[2] for value in checkpoints}:
                needed += await self._needed([value for value in checkpoints if value.namespace[2] == space])
            await self._keep(thread, needed)

    async def _needed(self, checkpoints: Sequence[Value]) -> list[Value]:
        """Return the latest checkpoint of a namespace, and the ancestors that its delta channels are rebuilt from."""
        latest = max(checkpoints, key=lambda value: value.key)
        by_id = {value.key: value for value in checkpoints}
        needed = [latest]
        (current,) = await self._tuples([latest])
        missing = set(current.metadata.get(_DELTA_COUNTERS) or ()) - current.checkpoint["channel_values"].keys()
        while missing and (parent := by_id.get(needed[-1].value["parent"] or "")) is not None:
            needed.append(parent)
            (current,) = await self._tuples([parent])
            missing -= current.checkpoint["channel_values"].keys()
        return needed

    async def _keep(self, thread: str, kept: Sequence[Value]) -> None:
        """Erase what a thread holds beside these checkpoints, their writes and the values of their channels."""
        names = {(value.namespace, value.key) for value in kept}
        writes = {(WRITE, *value.namespace[1:], value.key) for value in kept}
        for value in kept:
            versions = self._load(value.value["checkpoint"])["channel_versions"]
            space = (CHANNEL, *value.namespace[1:])
            names |= {(space, _channel_key(channel, version)) for channel, version in versions.items()}
        stored = [value for kind in (CHECKPOINT, CHANNEL, WRITE) for value in await self._all((kind, thread))]
        removed = [v for v in stored if (v.namespace, v.key) not in names and v.namespace not in writes]
        await self._state.write([ValueWrite(namespace=v.namespace, key=v.key, value=None, erase=True) for v in removed])

    async def copy(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread, in one transaction."""
        source, target = name_of(source_thread_id, "thread_id"), name_of(target_thread_id, "thread_id")
        copies = []
        for kind in (CHECKPOINT, CHANNEL, WRITE):
            for value in await self._all((kind, source)):
                body = {**value.value, "thread_id": target_thread_id} if kind == CHECKPOINT else value.value
                namespace = (kind, target, *value.namespace[2:])
                copies.append(
                    ValueWrite(namespace=namespace, key=value.key, value=body, session=target, at=value.updated_at)
                )
        await self._state.write(copies)

    # -- serialisation -------------------------------------------------------------------------------------------------

    def _dump(self, value: Any) -> Json:
        kind, data = self._serde.dumps_typed(value)
        return {"type": kind, "data": b64encode(data).decode()}

    def _load(self, dumped: Json) -> Any:
        return self._serde.loads_typed((dumped["type"], b64decode(dumped["data"])))


def _thread_of(place: Mapping[str, Any]) -> str:
    if "thread_id" not in place:
        raise InvalidInput("The config names no thread.", hint='Give {"configurable": {"thread_id": ...}}.')
    return name_of(place["thread_id"], "thread_id")


def _config(thread_id: str, space: str, checkpoint_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": space, "checkpoint_id": checkpoint_id}}


def _channel_key(channel: str, version: str | int | float) -> str:
    return json.dumps([channel, version])


def _is_small(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _INLINE
    return value is None or isinstance(value, bool | int | float)


def _moment_of(checkpoint: Checkpoint) -> datetime | None:
    """Return when a checkpoint was made: its id is a time-ordered uuid6, or else its timestamp says it."""
    try:
        id = UUID(checkpoint["id"])
    except ValueError:
        id = None
    if id is not None and id.version == 6:
        ticks = (id.int >> 80) << 12 | (id.int >> 64) & 0xFFF
        return _UUID6_EPOCH + timedelta(microseconds=ticks // 10)
    try:
        moment = datetime.fromisoformat(checkpoint["ts"])
    except (KeyError, ValueError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
