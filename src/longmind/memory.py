"""The public face: ``Longmind`` opens a store; ``longmind.agent(...)`` is what one agent knows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Sequence
from contextlib import AsyncExitStack
from functools import cached_property
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from longmind import telemetry
from longmind.agent_memory import AgentMemory
from longmind.arguments import checked_arguments
from longmind.clock import Clock, SystemClock
from longmind.config import Settings
from longmind.embedding import Embedding
from longmind.errors import InvalidInput, StoreUnavailable
from longmind.pacing import load_module
from longmind.problems import first_problem
from longmind.store.base import Checkable
from longmind.store.open import open_store
from longmind.store.transfer import Imported, export_lines, import_lines
from longmind.types import Scope

if TYPE_CHECKING:
    from longmind.erasure import ErasureCheck, ErasureReceipt
    from longmind.erasure.models import Subject
    from longmind.jobs import JobAdministration, ServiceReport
    from longmind.models.chat_model import ChatModel
    from longmind.models.embed import Embedder
    from longmind.models.span_reader import SpanReader
    from longmind.recall.engine import Recaller
    from longmind.recall.policy import RecallPolicy
    from longmind.recall.rerank import ContextReranker, Reranker
    from longmind.store.base import Scrubbed
    from longmind.store.store import Store
    from longmind.systems.procedural import ToolDecorator, ToolRegistry
    from longmind.systems.shared import SharedAdministration
    from longmind.worker.store_queue import StoreQueue

__all__ = ["AgentMemory", "Longmind"]

_NOT_OPEN = "The store is not open."
_OPEN_IT = "Use `async with Longmind.open() as longmind`, or await Longmind.open()."


@checked_arguments
class Longmind:
    """A store that is open.

    ``async with Longmind.open() as longmind`` opens and closes it; ``longmind = await Longmind.open()`` opens it,
    and then ``await longmind.close()`` is yours to call.
    """

    def __init__(
        self,
        url: str | None,
        settings: Settings,
        clock: Clock,
        embedder: Embedder | str | None,
        reranker: Reranker | ContextReranker | None = None,
        span_reader: SpanReader | None = None,
        *,
        create: bool = True,
    ) -> None:
        self.url = settings.store_url() if url is None else url
        self.settings = settings
        self.clock = clock
        self._asked_embedder: Embedder | str | None = embedder or settings.embedder
        self._store: Store | None = None
        self._embedding: Embedding | None = None
        self._recaller: Recaller | None = None
        self._policies: list[RecallPolicy] = []
        self._reranker = reranker
        self._span_reader = span_reader
        self._create = create
        self.consolidation_service: ServiceReport | None = None
        """The service that consolidates in this process, while it runs."""

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
        """A store by its URL: a path, ``sqlite:///path``, ``postgresql://...`` or ``memory:``; or a server's.

        ``https://...`` is a server of Longmind, and ``key`` the API key for it; by default ``LONGMIND_KEY``.

        Without a URL it is ``LONGMIND_URL``, or else a file of the user. ``embedder`` counts for a new store; one that
        was built with another says so in the log and keeps its own until ``reembed``. A ``reranker`` is asked about the
        best hits of each recall, in the place of the one that is installed; closing it is yours. A ``span_reader`` of
        yours finds the answers of ``ask`` in the place of the one that is installed. With ``create=False`` a store that
        does not exist is ``NotFound``.
        """
        settings = settings or Settings.load(tenant=tenant)
        address = settings.store_url() if url is None else url
        if address.lower().startswith(("http://", "https://")):
            for name, value in (("embedder", embedder), ("reranker", reranker), ("span reader", span_reader)):
                if value is not None:
                    raise InvalidInput(f"A server has its own {name}.", hint="Leave it out.", field=name)
            if key is None and settings.key is not None:
                key = settings.key.get_secret_value()
            opened = import_module("longmind.client.memory").open_remote(address, key, settings, clock or SystemClock())
            return cast("Longmind", opened)
        if key is not None:
            raise InvalidInput("A key is for a server, and this is the URL of a store.", field="key")
        return cls(url, settings, clock or SystemClock(), embedder, reranker, span_reader, create=create)

    async def __aenter__(self) -> Longmind:
        if self.settings.otel:
            telemetry.configure(True)
        if self.settings.defaults:
            from longmind.systems.configuration import check_defaults

            check_defaults(self.settings.defaults)
        self._store = await open_store(self.url, clock=self.clock, settings=self.settings, create=self._create)
        self._embedding = Embedding(self._store, self._asked_embedder, self.settings)
        try:
            await self._embedding.current()
        except BaseException:
            await self.close()
            raise
        return self

    def __await__(self) -> Generator[Any, None, Longmind]:
        return self.__aenter__().__await__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Write what is still to be written and let go of the store. Closing twice does nothing more.

        In a fork of the process that opened it this only lets go: what is open belongs to the parent.
        """
        if self._store is not None and self._store.owner.forked:
            self._recaller, self._embedding, self._store = None, None, None  # they are the parent's
            return
        if self._store is not None:
            self._store.owner.require_here()
        chat: ChatModel | None = self.__dict__.pop("chat", None)  # only if it was ever asked for
        queue: StoreQueue | None = self.__dict__.pop("_job_queue", None)
        parts = (self._store, chat, self._embedding, self._recaller, queue)
        self._recaller, self._embedding, self._store = None, None, None
        async with AsyncExitStack() as closing:
            for part in parts:  # the last is closed first, and what goes wrong with one is raised after the others
                if part is not None:
                    closing.push_async_callback(part.close)

    @property
    def store(self) -> Store:
        """The store underneath, for those who build a memory system of their own."""
        if self._store is None:
            raise StoreUnavailable(_NOT_OPEN, hint=_OPEN_IT)
        return self._store

    def agent(
        self, name: str, user: str | None = None, *, tenant: str | None = None, all_users: bool = False
    ) -> AgentMemory:
        """What an agent knows with a user; without one, what belongs to no user.

        ``all_users`` is what it knows with every user: for those who run the agent, never for a request of a user.
        """
        if name.startswith("@"):
            raise InvalidInput(f"An agent cannot be called {name}: names with @ are Longmind's own.")
        try:
            scope = Scope(tenant=tenant or self.settings.tenant, agent=name, user=user, all_users=all_users)
        except ValidationError as error:
            where, reason = first_problem(error)
            what = f"The {where}'s name" if where else "The scope"
            raise InvalidInput(f"{what} is not usable: {reason}.", field=where) from None
        return AgentMemory(self, scope)

    def register(self, policy: RecallPolicy) -> None:
        """Let a recall policy of yours take part, for every agent."""
        self._policies.append(policy)
        if self._recaller is not None:
            self._recaller.register(policy)

    @property
    def embedding(self) -> Embedding:
        """The embedder of this store."""
        if self._embedding is None:
            raise StoreUnavailable(_NOT_OPEN, hint=_OPEN_IT)
        return self._embedding

    @cached_property
    def chat(self) -> ChatModel | None:
        """The language model of the settings (``LONGMIND_MODEL``); None when there is none."""
        if self.settings.model is None:
            return None
        from longmind.models.chat_open import chat_from

        return chat_from(self.settings, clock=self.clock)

    @cached_property
    def tools(self) -> ToolRegistry:
        """The functions that procedures may call, by name. They belong to this process and are never stored."""
        from longmind.systems.procedural import ToolRegistry

        return ToolRegistry()

    @property
    def tool(self) -> ToolDecorator:
        """Register a function that procedures may call: ``@longmind.tool``; its schema comes from its type hints."""
        return self.tools.tool

    async def recaller(self) -> Recaller:
        """The one that answers recalls, with the embedder the store uses now."""
        embedder = await self.embedding.current()
        if self._recaller is None:
            await load_module("longmind.recall.engine")
            from longmind.recall.engine import Recaller

            if self._reranker is None and self.settings.rerank_ms > 0:
                from longmind.models.rerank_small import open_reranker

                self._reranker = await asyncio.to_thread(open_reranker, self.settings.rerank_ms)
        if self._recaller is None:  # another call may have made it meanwhile, and counts reads with it
            self._recaller = Recaller(
                self.store, embedder, self.clock, reranker=self._reranker, read_ahead=self.settings.read_ahead
            )
            for policy in self._policies:
                self._recaller.register(policy)
        self._recaller.embedder = embedder
        return self._recaller

    async def span_reader(self) -> SpanReader:
        """The one that finds answers in memories: the model of ``longmind-models``, or without it shared words."""
        if self._span_reader is None:
            await load_module("longmind.answering")
            from longmind.answering import open_reader

            self._span_reader = await open_reader()
        return self._span_reader

    async def count_reads(self) -> None:
        """Wait until every read so far is counted. Recall counts them in the background."""
        if self._recaller is not None:
            await self._recaller.flush()

    async def agents(self) -> list[Scope]:
        """Every agent of this tenant that holds something."""
        known = await self.store.backend.scopes()
        return [s for s in known if s.tenant == self.settings.tenant and not s.agent.startswith("@")]

    async def reembed(self, embedder: Embedder | str, progress: Callable[[int, int], None] | None = None) -> int:
        """Change the embedder of this store while it is in use; says how many memories got new vectors."""
        return await self.embedding.reembed(embedder, progress or (lambda done, total: None))

    def shared(self, tenant: str | None = None) -> SharedAdministration:
        """The shared memory of a tenant for its administrator: the rules, what waits, and reviews.

        Agents read it and add to it by ``longmind.agent(...).shared``; this face is not for them.
        """
        from longmind.systems.shared import SharedAdministration

        return SharedAdministration(self.agent("administrator", tenant=tenant).scoped)

    def jobs(self, tenant: str | None = None) -> JobAdministration:
        """The durable jobs of a tenant, to look at and to steer, and what consolidation in this process is doing."""
        from longmind.jobs import JobAdministration

        return JobAdministration(self._job_queue, tenant or self.settings.tenant, self.consolidation_service)

    @cached_property
    def _job_queue(self) -> StoreQueue:
        """The queue of the workers of this store. It is opened when it is first asked for anything."""
        queue: StoreQueue = import_module("longmind.worker.store_queue").StoreQueue(self.url)
        return queue

    # -- erasure -------------------------------------------------------------------------------------------------------

    async def erase_user(self, user: str, *, tenant: str | None = None) -> ErasureReceipt:
        """Erase all that belongs to a user, in every agent of the tenant, and all that was ever derived from it.

        That is memories of every kind and state, their vectors and links, what the journal tells of them and of those
        that were forgotten before, and the user's support of shared knowledge. What belongs to no user stays, unless
        it was derived. The receipt counts what was removed and holds no words; an erasure can be repeated.
        """
        return await self._erase("user", user, tenant)

    async def erase_agent(self, agent: str, *, tenant: str | None = None) -> ErasureReceipt:
        """Erase all that an agent holds, of all its users, its journal and its support of shared knowledge.

        The name of the agent and the count of its changes stay.
        """
        return await self._erase("agent", agent, tenant)

    async def erase_tenant(self, tenant: str | None = None) -> ErasureReceipt:
        """Erase all that the agents of a tenant hold, its shared memory included.

        The names of the tenant and its agents, and the counts of their changes, stay.
        """
        return await self._erase("tenant", tenant or self.settings.tenant, tenant)

    async def verify_erasure(self, receipt: ErasureReceipt, *, tenant: str | None = None) -> ErasureCheck:
        """Look whether anything that a receipt says was erased is still, or again, in the store."""
        from longmind.erasure import ErasureReceipt, verify

        if not isinstance(receipt, ErasureReceipt):
            raise InvalidInput("receipt must be the ErasureReceipt that an erasure returned.")
        return await verify(self.store, tenant or self.settings.tenant, receipt)

    async def scrub(self) -> Scrubbed:
        """Rewrite the storage so that it keeps nothing of what was removed, and say what could not be reached."""
        return await self.store.scrub()

    async def _erase(self, subject: Subject, name: str, tenant: str | None) -> ErasureReceipt:
        from longmind.erasure import Erasure

        scope = self.agent(name if subject == "agent" else "erasure", tenant=tenant).scope  # checks the names
        if subject == "user":
            self.agent("erasure", name)
        scoped = self.agent("erasure", tenant=scope.tenant).scoped
        await self._forget_texts()
        try:
            return await Erasure(scoped, subject, name).run()
        finally:
            await self._forget_texts()

    async def _forget_texts(self) -> None:
        """Let go of what recall has kept of texts: something is erased, or was."""
        if self._recaller is not None:
            await self._recaller.forget_texts()

    async def check(self) -> list[str]:
        """What is wrong with the store, one line each with what to do; empty when all is well."""
        backend = self.store.backend
        return await backend.check() if isinstance(backend, Checkable) else []

    def export(self, scopes: Sequence[Scope] | None = None, *, across_tenants: bool = False) -> AsyncIterator[str]:
        """The lines of an export: of these scopes, or of every agent of the tenant, without its shared memory.

        ``across_tenants`` takes every tenant, and the agents that are Longmind's own, such as shared memory.
        """
        return self._export(scopes, across_tenants)

    async def _export(self, scopes: Sequence[Scope] | None, across_tenants: bool) -> AsyncIterator[str]:
        if scopes is None:
            scopes = await self.store.backend.scopes() if across_tenants else await self.agents()
        async for line in export_lines(self.store, scopes):
            yield line

    async def load(
        self,
        lines: Iterable[str],
        progress: Callable[[int], None] | None = None,
        *,
        across_tenants: bool = False,
    ) -> Imported:
        """Store what an export holds; what is there already is left as it is.

        A line of another tenant, or of an agent that is Longmind's own such as shared memory, is ``Forbidden``, unless
        an administrator asks for it with ``across_tenants``.
        """
        return await import_lines(
            self.store,
            lines,
            self.embedding.embed,
            tenant=None if across_tenants else self.settings.tenant,
            progress=progress or (lambda done: None),
        )
