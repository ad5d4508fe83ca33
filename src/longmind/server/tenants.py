"""The store of each tenant, opened when it is needed."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from longmind.config import Settings
from longmind.memory import Longmind
from longmind.store.open import tenant_url
from longmind.worker.service import ConsolidationService

if TYPE_CHECKING:
    from longmind.embedding import Embedding
    from longmind.models.chat_model import ChatModel
    from longmind.recall.engine import Recaller
    from longmind.store.store import Store
    from longmind.systems.procedural import ToolRegistry
    from longmind.worker.store_queue import StoreQueue


class TenantView(Longmind):
    """A store that tenants share, as one of them sees it. The whole is closed by its owner."""

    def __init__(self, whole: Longmind, tenant: str) -> None:
        settings = whole.settings.model_copy(update={"tenant": tenant})
        super().__init__(whole.url, settings, whole.clock, None)
        self._whole = whole
        self.consolidation_service = whole.consolidation_service

    async def close(self) -> None:
        """Do nothing: what is open belongs to the whole."""

    @property
    def store(self) -> Store:
        return self._whole.store

    @property
    def embedding(self) -> Embedding:
        return self._whole.embedding

    @cached_property
    def chat(self) -> ChatModel | None:
        return self._whole.chat

    @cached_property
    def tools(self) -> ToolRegistry:
        return self._whole.tools

    @cached_property
    def _job_queue(self) -> StoreQueue:
        return self._whole._job_queue

    async def recaller(self) -> Recaller:
        return await self._whole.recaller()

    async def count_reads(self) -> None:
        await self._whole.count_reads()

    async def _forget_texts(self) -> None:
        await self._whole._forget_texts()


class _OpenStore:
    """A store that is open, and how many requests use it."""

    def __init__(self) -> None:
        self.users = 0
        self.opening = asyncio.Lock()
        self.closing = AsyncExitStack()
        self.longmind: Longmind | None = None


class Tenants:
    """The stores of the tenants: one for all where they share it, else one for each, of which some are open."""

    def __init__(
        self,
        source: Longmind | str | None,
        settings: Settings,
        *,
        open_limit: int,
        consolidation: bool,
        tools: ToolRegistry | None = None,
    ) -> None:
        self._given = source if isinstance(source, Longmind) else None
        self._settings = self._given.settings if self._given is not None else settings
        self.url = source.url if isinstance(source, Longmind) else source or settings.store_url()
        self._limit = open_limit
        self._consolidation = consolidation
        self._tools = tools
        self._stores: OrderedDict[str, _OpenStore] = OrderedDict()

    @property
    def default(self) -> str:
        """The tenant of those that name none."""
        return self._settings.tenant

    @property
    def count(self) -> int:
        """How many stores are open."""
        return len(self._stores)

    @asynccontextmanager
    async def open(self, tenant: str) -> AsyncIterator[Longmind]:
        """Hold the store of a tenant open."""
        url = self.url if tenant == self.default else tenant_url(self.url, tenant)
        held = self._stores.get(url)
        if held is None:
            held = self._stores[url] = _OpenStore()
        held.users += 1
        try:
            self._stores.move_to_end(url)
            if held.longmind is None:
                await self._open(held, url, tenant)
            assert held.longmind is not None
            whole = held.longmind
            yield whole if whole.settings.tenant == tenant else TenantView(whole, tenant)
        finally:
            held.users -= 1
            if held.longmind is None and held.users == 0:
                self._stores.pop(url, None)
            if len(self._stores) > self._limit:
                await self._close_unused()

    async def close(self) -> None:
        """Close every store. Call it when no request is under way."""
        async with AsyncExitStack() as closing:
            while self._stores:
                _, held = self._stores.popitem()
                closing.push_async_callback(held.closing.aclose)

    async def _open(self, held: _OpenStore, url: str, tenant: str) -> None:
        async with held.opening:
            if held.longmind is not None:
                return
            async with AsyncExitStack() as opened:
                if self._given is not None and url == self.url:
                    longmind = self._given  # opened and closed by its owner
                else:
                    own = tenant if url != self.url else self._settings.tenant
                    settings = self._settings.model_copy(update={"tenant": own})
                    longmind = await opened.enter_async_context(Longmind.open(url, settings=settings))
                    if self._tools is not None:
                        longmind.tools = self._tools
                if self._consolidation:
                    await opened.enter_async_context(ConsolidationService(longmind))
                held.closing = opened.pop_all()
            held.longmind = longmind

    async def _close_unused(self) -> None:
        for url, held in list(self._stores.items()):
            if len(self._stores) <= self._limit:
                return
            still_open = self._stores.get(url) is held  # another request may have closed it while this one waited
            if still_open and held.users == 0 and held.longmind is not None:
                del self._stores[url]
                await held.closing.aclose()
