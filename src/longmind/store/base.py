"""The contract between Longmind and a database.

A backend gives the twelve methods of ``Backend``: ``apply``, which writes, ten that read, and ``close``. Everything a
caller uses (``Store``) is built on them once, so a new backend is small and cannot drift: search runs in
``store/search`` over what ``feed`` returns, and ``put``, ``update``, ``link`` and the rest are batches of one write.
Optional powers are further protocols: ``ReembedBackend``, ``ExclusiveReembedBackend``, ``ErasureBackend``,
``Checkable``, ``SnapshotBackend``.

Invariants that the conformance suite checks:

* ``apply`` is atomic and durable when it returns: all writes of a batch happened, or none did and an error says why.
* The writes of one agent are numbered 1, 2, 3 ... in commit order (``Change.seq``), with no gap and no number ever
  visible before a smaller one. So "what is new since n" is one range read, in any process.
* An ``idempotent`` batch whose operation id was applied before, for the same user, changes nothing and returns the
  records it wrote then, as they are now (those deleted since are left out); the same id with different writes is
  ``OperationMismatch``.
* Nothing outside ``scope`` is read or written, whatever ids are given.
* ``Touch`` counts reads. It is neither journalled nor versioned.
* A backend makes no time of its own. ``Filter.expired`` is decided at ``Filter.expired_at``, which ``Store`` fills in;
  a filter without that moment does not look at expiry.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

from longmind.types import Change, Direction, Filter, Json, Link, Memory, Order, Page, Scope, Stats

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from longmind.store.search.snapshot_format import Snapshots

    Vector = NDArray[np.float32]
    EmbedTexts = Callable[[Sequence[str]], Awaitable[Iterable[Vector]]]
    """Makes a vector of one given space for each text."""

MAX_PAGE = 1_000
MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Put:
    """Store a new memory, with its vector in the active space if it has one.

    When a live record of the agent holds the same key: ``existing="return"`` leaves that record as it is and returns
    it, ``existing="fail"`` is ``KeyTaken``. An id that exists is always ``Conflict``.
    """

    memory: Memory
    vector: Vector | None = None
    existing: Literal["return", "fail"] = "return"


@dataclass(frozen=True, slots=True)
class Update:
    """Change fields of a memory (``types.UPDATABLE``). New content drops the old vector, so give the new one."""

    id: str
    changes: Json
    expected_version: int | None = None
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a memory and its links. With ``erase`` also what the journal tells of it, so that it cannot be undone.

    The journal then keeps the lines, without content. The reason of every earlier operation that changed the memory is
    cleared, since it may quote it, and an operation id that a caller chose is replaced by a generated one.
    """

    id: str
    expected_version: int | None = None
    erase: bool = False


@dataclass(frozen=True, slots=True)
class ClearHistory:
    """Clear what the journal tells of memories, live or not, as ``Delete`` with ``erase`` does; the records stay.

    With ``users`` also what it tells of the memories of these users, whose names go from its lines; with
    ``everything`` all that it tells of the agent. Only the scope of a whole agent may do this.
    """

    ids: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    everything: bool = False


@dataclass(frozen=True, slots=True)
class AddLink:
    """Link two memories of the scope; the same source, relation and target again replaces the link."""

    link: Link


@dataclass(frozen=True, slots=True)
class RemoveLink:
    """Remove a link; it must exist."""

    source: str
    relation: str
    target: str


@dataclass(frozen=True, slots=True)
class Touch:
    """Count one read of each of these memories. Unknown ids are ignored."""

    ids: tuple[str, ...]
    at: datetime
    interaction: float = 0.0


Write = Put | Update | Delete | ClearHistory | AddLink | RemoveLink | Touch


def erases(write: Write) -> bool:
    """Return whether a write removes every trace of something."""
    return isinstance(write, ClearHistory) or (isinstance(write, Delete) and write.erase)


CONTENT_KEY = "said:"
"""How the key of a memory begins that was computed from its content and place, not chosen by the caller."""


def _stated_key(key: str | None) -> str | None:
    """Return a key unless it was computed: in a retry the place may be another, since more was said in between."""
    return None if key is not None and key.startswith(CONTENT_KEY) else key


class Batch(NamedTuple):
    """Writes that are applied together or not at all, with who makes them and why."""

    scope: Scope
    operation: str
    at: datetime
    writes: tuple[Write, ...]
    actor: str = "user"
    reason: str = ""
    idempotent: bool = False
    """Whether the caller chose the operation id and may send the batch again; only then is the id remembered."""
    space: str | None = None
    """The space of the vectors in this batch. If it is set and not the active one, the batch is ``ModelMismatch``."""
    request: tuple[Write, ...] | None = None
    """What the caller asked for, where the writes also depend on what is stored: a retry is known by this."""

    def fingerprint(self) -> str:
        """Return a hash of what this batch asks for, without the ids and times that differ in a retry."""
        requests: list[Any] = []
        for write in self.writes if self.request is None else self.request:
            match write:
                case Put(memory=m):
                    requests.append(["put", m.user, m.session, m.kind, _stated_key(m.key), m.content, m.body])
                case Update():
                    requests.append(["update", write.id, write.changes, write.expected_version])
                case Delete():
                    requests.append(["delete", write.id, write.expected_version, write.erase])
                case ClearHistory():
                    requests.append(["clear", write.ids, write.users, write.everything])
                case AddLink(link=link):
                    requests.append(["link", link.relation, link.weight])
                case RemoveLink():
                    requests.append(["unlink", write.source, write.relation, write.target])
                case Touch():
                    requests.append(["touch", write.ids, write.interaction])
        scope = [self.scope.tenant, self.scope.agent, self.scope.user]
        text = json.dumps([scope, requests], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


class Receipt(NamedTuple):
    """What a batch did. ``memories`` has one entry for each Put and Update of the batch, in their order."""

    operation: str
    memories: tuple[Memory, ...]
    created: tuple[bool, ...]
    """For each entry of ``memories``: whether this batch wrote it (False: a key was taken, the record returned)."""
    replayed: bool = False


class Head(NamedTuple):
    """The number of an agent's last journal line (0: none), and how often the active vector space has changed."""

    seq: int
    epoch: int


@dataclass(slots=True)
class IndexRow:
    """What search reads of a memory. ``vector`` is float16 bytes in the active space."""

    id: str
    seq: int
    """The number of the change that put this memory. It gives the order in which the agent learnt things."""
    user: str | None
    session: str | None
    kind: str
    state: str
    importance: float
    trust: float
    occurred_at: float
    recorded_at: float
    valid_from: float | None
    valid_to: float | None
    expires_at: float | None
    terms: bytes
    """``text.index_terms.index_terms`` of the memory, as it was stored."""
    vector: bytes | None


@dataclass(slots=True)
class Feed:
    """The rows written and the ids removed after a sequence number. ``head`` is where the journal stood then."""

    head: Head
    rows: list[IndexRow] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Space:
    """A vector space: the name of its embedder and the length of its vectors."""

    name: str
    dimensions: int


@runtime_checkable
class Backend(Protocol):
    """What a database must do. A read sees every write that was acknowledged before it began."""

    async def apply(self, batch: Batch) -> Receipt:
        """Apply all writes of a batch, durably, or none of them."""
        ...

    async def get(self, scope: Scope, ids: Sequence[str]) -> list[Memory]:
        """Return those of these memories that exist in the scope, in the order of ``ids``, each once."""
        ...

    async def scan(
        self,
        scope: Scope,
        where: Filter,
        *,
        order: Order = "recorded",
        descending: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Memory]:
        """Return a page of the memories that match. Ties are broken by id, so pages neither overlap nor skip."""
        ...

    async def links(
        self, scope: Scope, ids: Sequence[str], *, relation: str | None, direction: Direction, limit: int
    ) -> list[Link]:
        """Return links that leave (out) or reach (in) these memories.

        The heaviest come first, then they are sorted by source, relation and target.
        """
        ...

    async def journal(
        self,
        scope: Scope,
        *,
        after: int = 0,
        limit: int = 100,
        memory_id: str | None = None,
        operation: str | None = None,
    ) -> list[Change]:
        """Return changes in order. ``after`` of a change is ``before`` of the memory's next, or the record now."""
        ...

    async def stats(self, scope: Scope) -> Stats:
        """Return counts of what the scope holds."""
        ...

    async def head(self, scope: Scope) -> Head:
        """Return where the agent's journal stands. It must be cheap: every search asks first."""
        ...

    def feed(self, scope: Scope, after: int) -> AsyncIterator[Feed]:
        """Yield what changed in the scope after a number, in chunks, as it stands now.

        With ``after=0`` there are only rows, no removed ids. The chunks together are one consistent read, with the
        same ``head`` in each.
        """
        ...

    async def matching(self, scope: Scope, where: Filter) -> set[str]:
        """Return the ids of all memories that match, for filters that search cannot decide by itself."""
        ...

    async def scopes(self) -> list[Scope]:
        """Return every tenant and agent that holds something, without users."""
        ...

    async def space(self) -> Space | None:
        """Return the vector space that recall reads now; None until one is declared."""
        ...

    async def close(self) -> None:
        """Finish what is under way and release the database."""
        ...


@runtime_checkable
class ReembedBackend(Protocol):
    """The power to change the embedder of a live store. While a second space is being built, reads use the first."""

    async def declare_space(self, space: Space) -> None:
        """Make this the active space of a store that has none yet. No effect if it is the active one already."""
        ...

    async def begin_space(self, space: Space) -> None:
        """Begin, or continue, to build a second space."""
        ...

    async def missing_vectors(self, space: Space, limit: int) -> list[tuple[Scope, str, str]]:
        """Return (scope, id, content) of memories that have content and no vector in this space."""
        ...

    async def put_vectors(self, space: Space, rows: Sequence[tuple[Scope, str, str, Vector]]) -> int:
        """Store (scope, id, content, vector); a memory that is gone or whose content has changed since is skipped.

        Return how many were stored. In the active space this raises the epoch, so that cached views are read anew.
        """
        ...

    async def activate_space(self, space: Space) -> None:
        """Make reads use this space and drop the vectors of the other. Refused while any vector is missing."""
        ...


@runtime_checkable
class ExclusiveReembedBackend(Protocol):
    """The power to keep all writers of a store waiting, in every process, while the last vectors of a space are made.

    Writers give vectors of the active space while a second one is built, so each of their memories is one more to
    embed. If they are faster than the embedder, only this power ends the re-embedding.
    """

    async def finish_space(self, space: Space, embed: EmbedTexts, limit: int) -> tuple[int, int]:
        """Embed what is missing, at most ``limit``, while nobody else writes; activate the space if that was all.

        Return how many got a vector and how many are left. Writers wait and then go on, readers do not wait. If
        ``embed`` fails nothing has happened. It must not write to this store: it would wait for itself.
        """
        ...


class Scrubbed(NamedTuple):
    """What ``scrub`` did to the storage below the records, and what it could not do, in sentences."""

    done: tuple[str, ...]
    not_done: tuple[str, ...]


@runtime_checkable
class ErasureBackend(Protocol):
    """The power to erase completely: to follow provenance through the journal, and to clean the storage itself."""

    async def past_links(self, scope: Scope, ids: Sequence[str], *, direction: Literal["out", "in"]) -> list[Link]:
        """Return every link that leaves (out) or reaches (in) these memories or ever did, as far as the journal tells.

        Each source, relation and target is returned once. Memories that are gone have past links too.
        """
        ...

    async def past_ids(self, scope: Scope) -> list[str]:
        """Return the ids of the user's own memories, and of those that were before they were deleted.

        Those that belong to no user are not among them; with the scope of all users, all are. Memories of which the
        journal tells nothing any more are left out.
        """
        ...

    async def past_scopes(self) -> list[Scope]:
        """Return every tenant and agent that holds something or ever did, without users."""
        ...

    async def uncleared(self) -> list[str]:
        """Return where erased words may still be, one line each, with what to do; empty when that is nowhere known."""
        ...

    async def scrub(self) -> Scrubbed:
        """Rewrite the storage so that it keeps nothing of what was removed, as far as that can be done from here."""
        ...


@runtime_checkable
class DescribedLinks(Protocol):
    """The power to find the links of a memory by what their metadata says, without reading its other links."""

    async def links_described(self, scope: Scope, id: str, *, relation: str, metadata: Mapping[str, str]) -> list[Link]:
        """Return the links of a relation that reach a memory and whose metadata has these values."""
        ...


@runtime_checkable
class Checkable(Protocol):
    """The power to check itself, for ``longmind doctor``."""

    async def check(self) -> list[str]:
        """Return what is wrong, one line each, with what to do; empty when all is well."""
        ...


@runtime_checkable
class SnapshotBackend(Protocol):
    """A backend that keeps snapshots of views itself."""

    def snapshots(self) -> Snapshots:
        """Return where they are kept."""
        ...


@runtime_checkable
class SharedBackend(Protocol):
    """The power to hold many tenants and to keep each connection to one of them."""

    @property
    def unrestricted(self) -> str | None:
        """Why the connections see the rows of every tenant; None if each transaction sees those of one."""
        ...
