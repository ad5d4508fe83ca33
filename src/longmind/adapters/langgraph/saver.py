"""``LongmindSaver``: LangGraph's ``BaseCheckpointSaver`` over the state of an agent."""

from __future__ import annotations

import copy
import random
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from longmind.adapters.access import MemoryAccess
from longmind.adapters.langgraph.threads import Threads
from longmind.adapters.packages import framework
from longmind.errors import InvalidInput
from longmind.memory import Longmind
from longmind.sync import Longmind as BlockingLongmind

with framework("langgraph"):
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import (
        BaseCheckpointSaver,
        ChannelVersions,
        Checkpoint,
        CheckpointMetadata,
        CheckpointTuple,
        SerializerProtocol,
    )


class LongmindSaver(BaseCheckpointSaver[str]):
    """Checkpoints of graphs: durable, scoped to an agent and a user, erased with them, and never recalled.

    ``longmind`` is an open store; with one of ``longmind.sync`` blocking methods work everywhere.
    With ``user_key`` a thread belongs to the user that this key of ``configurable`` names, and only calls that name the
    user see it. Methods that take no config are about the adapter's own user; ``of_user`` is the saver of another one.
    """

    def __init__(
        self,
        longmind: Longmind | BlockingLongmind,
        *,
        agent: str | None = None,
        user: str | None = None,
        user_key: str | None = None,
        serde: SerializerProtocol | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self._access = MemoryAccess(longmind, agent=agent, user=user)
        self._user_key = user_key

    def of_user(self, user: str) -> LongmindSaver:
        """Return the saver of one user's threads."""
        saver = copy.copy(self)
        saver._access = self._access.of_user(user)
        return saver

    def _threads(self, config: RunnableConfig | None = None) -> Threads:
        user = None
        if config is not None and self._user_key is not None:
            user = config["configurable"].get(self._user_key)
        return Threads(self._access.memory(user=user).state, self.serde)

    # -- asynchronous --------------------------------------------------------------------------------------------------

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint of a thread with its writes: the one that the config names, or the latest."""
        return await self._access.run(self._threads(config).get(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield the checkpoints that match, the latest first."""
        found = self._threads(config).find(config, filter, before, limit)
        while (item := await self._access.run(_following(found))) is not None:
            yield item

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint after the one that the config names, and return the config of the new one."""
        return await self._access.run(self._threads(config).put(config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote after a checkpoint; what it wrote before stays as it is."""
        await self._access.run(self._threads(config).put_writes(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        """Erase a thread."""
        await self._access.run(self._threads().delete(thread_id))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Erase the checkpoints that these runs made."""
        await self._access.run(self._threads().delete_runs(run_ids))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all checkpoints and writes of a thread to another one."""
        await self._access.run(self._threads().copy(source_thread_id, target_thread_id))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Erase all but the latest checkpoint of each namespace, or with ``delete`` all.

        Ancestors that a ``DeltaChannel`` of the latest one is rebuilt from are kept as well.
        """
        if strategy not in ("keep_latest", "delete"):
            raise InvalidInput(f"There is no strategy {strategy!r}.", hint="Give keep_latest or delete.")
        await self._access.run(self._threads().prune(thread_ids, keep_latest=strategy == "keep_latest"))

    # -- blocking ------------------------------------------------------------------------------------------------------

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint of a thread with its writes: the one that the config names, or the latest."""
        return self._access.wait(self._threads(config).get(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield the checkpoints that match, the latest first."""
        found = self._threads(config).find(config, filter, before, limit)
        while (item := self._access.wait(_following(found))) is not None:
            yield item

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint after the one that the config names, and return the config of the new one."""
        return self._access.wait(self._threads(config).put(config, checkpoint, metadata, new_versions))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote after a checkpoint; what it wrote before stays as it is."""
        self._access.wait(self._threads(config).put_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        """Erase a thread."""
        self._access.wait(self._threads().delete(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Erase the checkpoints that these runs made."""
        self._access.wait(self._threads().delete_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all checkpoints and writes of a thread to another one."""
        self._access.wait(self._threads().copy(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Erase all but the latest checkpoint of each namespace, or with ``delete`` all."""
        self._access.wait(self.aprune(thread_ids, strategy=strategy))

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Return a later version of a channel. It is random behind the point, so that two branches never share one."""
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{random.random():016}"


async def _following(found: AsyncIterator[CheckpointTuple]) -> CheckpointTuple | None:
    return await anext(found, None)
