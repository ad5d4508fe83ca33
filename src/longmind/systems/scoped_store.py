"""The store as a memory system uses it: within one scope, with validation and retries.

A system keeps no state of its own. What it knows is memories of its kinds and the links between them, so persistence,
search, history, undo, export and erasure need nothing from it, and two processes may use the same agent.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from longmind.clock import Clock
from longmind.errors import InvalidInput, KeyTaken, NotFound, VersionConflict
from longmind.problems import first_problem
from longmind.store.base import Receipt, Write
from longmind.store.store import Store
from longmind.types import Filter, Hit, Memory, Page, Scope, Source

if TYPE_CHECKING:
    from longmind.store.store import Embed

T = TypeVar("T")
B = TypeVar("B", bound=BaseModel)
_TRIES = 100
_ASSISTANT = Source(role="assistant")


class Search(Protocol):
    """Recall within this scope, as ``AgentMemory.recall`` does it."""

    async def __call__(
        self, query: str, *, k: int = 10, kinds: Sequence[str] | None = None, where: Filter | None = None
    ) -> list[Hit]: ...


async def _all_counted() -> None:
    """Return at once: nothing that uses this store counts reads in the background."""


@dataclass(frozen=True, slots=True)
class ScopedStore:
    """A scope of a store, as a memory system uses it."""

    store: Store
    scope: Scope
    clock: Clock
    embed: Embed
    search: Search
    count_reads: Callable[[], Awaitable[None]] = _all_counted
    """Wait until every read so far is counted. Reads are counted in the background, and heat depends on them."""

    def new(
        self,
        kind: str,
        content: str,
        *,
        body: Mapping[str, Any] | None = None,
        checked_body: dict[str, Any] | None = None,
        **fields: Any,
    ) -> Memory:
        """Build a memory of this scope, not stored yet; ``InvalidInput`` if a field is not valid.

        ``checked_body`` is a body that is known to be plain JSON and is not looked through again.
        """
        now = self.clock.now()
        values: dict[str, Any] = {
            "id": self.clock.new_id(),
            "tenant": self.scope.tenant,
            "agent": self.scope.agent,
            "user": self.scope.user,
            "kind": kind,
            "content": content,
            "body": dict(body or {}),
            "source": _ASSISTANT,
            "occurred_at": now,
            "recorded_at": now,
            **fields,
        }
        memory = validated(Memory, values)
        return memory if checked_body is None else memory.model_copy(update={"body": checked_body})

    async def write(
        self,
        writes: Sequence[Write],
        *,
        reason: str = "",
        actor: str = "agent",
        operation: str | None = None,
        request: Sequence[Write] | None = None,
    ) -> Receipt:
        """Make these writes in one transaction. New or changed texts are embedded.

        ``request`` are those of the writes by which a repeated operation is recognised; by default all of them.
        """
        return await self.store.apply(
            self.scope, writes, embed=self.embed, reason=reason, actor=actor, operation=operation, request=request
        )

    async def need(self, id: str, kind: str) -> Memory:
        """Return the memory of this kind with this id; ``NotFound`` if there is none."""
        memory = await self.store.get(self.scope, id)
        if memory is None or memory.kind != kind:
            raise NotFound(f"There is no {kind} {id} here.", id=id, kind=kind)
        return memory

    async def page(
        self, kind: str, *, where: Filter | None = None, limit: int = 50, cursor: str | None = None, **order: Any
    ) -> Page[Memory]:
        """Return a page of the memories of one kind."""
        of_kind = (where or Filter()).model_copy(update={"kinds": (kind,)})
        return await self.store.scan(self.scope, of_kind, limit=limit, cursor=cursor, **order)

    async def rewrite(self, writes: Sequence[Write], reason: str, *, operation: str | None = None) -> Receipt:
        """Make writes that depend on records read before; a record that is gone since is a ``VersionConflict``."""
        try:
            return await self.write(writes, reason=reason, operation=operation)
        except NotFound as error:
            raise VersionConflict(f"A record was removed meanwhile. {error.message}", hint=error.hint) from error

    def now(self) -> datetime:
        return self.clock.now()


async def retry_on_conflict(change: Callable[[], Awaitable[T]]) -> T:
    """Run a change that reads, decides and writes; retry it on a version conflict or a key that was just taken.

    Of any number of concurrent writers one succeeds each round, so the number of tries bounds how many there may be.
    """
    for attempt in range(1, _TRIES):
        try:
            return await change()
        except (KeyTaken, VersionConflict):
            await asyncio.sleep(random.uniform(0, 0.002 * min(attempt, 20)))
    return await change()


def validated(model: type[B], values: Mapping[str, Any]) -> B:
    """Return the validated model; ``InvalidInput`` names the invalid field and the reason."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        where, reason = first_problem(error)
        internal = model.__name__.startswith("_") or model.__name__.endswith("Body")
        what = "This" if internal else model.__name__
        raise InvalidInput(f"{what} is not valid: {where or what}: {reason}.", field=where) from None
