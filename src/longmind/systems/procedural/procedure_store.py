"""Storage of procedures and their versions.

A procedure has one head record (``procedure:<name>``), which holds the version in use and is what search finds. Each
version also has a record of its own (``procedure:<name>@<number>``) that never changes. Restoring a version copies it
to the head record. A version number is never used twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import Field

from longmind.errors import Conflict, Forbidden, InvalidInput, NotFound
from longmind.store.base import AddLink, Delete, Put, Update, Write
from longmind.systems.procedural.models import Procedure, Version, dump_procedure
from longmind.systems.procedural.runs import DERIVED_FROM, RUN
from longmind.systems.scoped_store import ScopedStore, validated
from longmind.types import Filter, Json, Link, Memory, Model, Moment

PROCEDURE = "procedure"
VERSIONS_KEPT = 5


class ProcedureMeta(Model):
    """The metadata of a procedure's head record."""

    name: str
    category: str
    number: int
    latest: int
    parent: int | None = None
    made_at: Moment
    why: str = ""
    kept: tuple[int, ...]
    labels: dict[str, int] = Field(default_factory=dict)


class VersionMeta(Model):
    """The metadata of a version's record."""

    of: str
    number: int
    parent: int | None = None
    made_at: Moment
    why: str = ""


@dataclass(frozen=True, slots=True)
class LoadedProcedure:
    """A procedure loaded from its head record."""

    memory: Memory
    meta: ProcedureMeta
    procedure: Procedure

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def name(self) -> str:
        return self.meta.name


def procedure_session(name: str) -> str:
    """Return the session of a procedure's records. It keeps consolidation from merging similar procedures."""
    return f"{PROCEDURE}:{name}"


class ProcedureStore:
    """The procedures of one scope. Methods that change something return the writes to make."""

    def __init__(self, scoped: ScopedStore, versions_kept: int = VERSIONS_KEPT) -> None:
        if not 1 <= versions_kept <= 100:
            raise InvalidInput(f"Between 1 and 100 versions can be kept, not {versions_kept}.")
        self._scoped = scoped
        self._kept = versions_kept

    # -- reading -------------------------------------------------------------------------------------------------

    async def find(self, name: str) -> LoadedProcedure | None:
        """Return a procedure by name or id, the user's own before the agent's; None if there is none."""
        scoped = self._scoped
        memory = await scoped.store.by_key(scoped.scope, f"{PROCEDURE}:{name}")
        if memory is None and len(name) == 36:
            memory = await scoped.store.get(scoped.scope, name)
        return load_procedure(memory) if memory is not None and memory.kind == PROCEDURE and _is_head(memory) else None

    async def need(self, name: str) -> LoadedProcedure:
        """Return a procedure by name or id; ``NotFound`` if there is none."""
        head = await self.find(name)
        if head is None:
            raise NotFound(f"There is no procedure {name} here.", hint="`list` and `search` tell which there are.")
        return head

    async def own(self, name: str) -> LoadedProcedure:
        """Return a procedure that this scope may change. A user's scope cannot change the agent's procedures."""
        head = await self.need(name)
        if self._scoped.scope.user is not None and head.memory.user != self._scoped.scope.user:
            raise Forbidden(
                f"The procedure {head.name} belongs to the agent, not to the user {self._scoped.scope.user}.",
                hint="Change it without a user, or store a version of this user's own.",
            )
        return head

    async def version(self, head: LoadedProcedure, number: int) -> Version:
        """Return one kept version."""
        versions = await self._versions(head, (number,))
        if not versions:
            kept = ", ".join(map(str, head.meta.kept))
            raise NotFound(f"Version {number} of {head.name} is not kept.", hint=f"Kept are {kept}.", number=number)
        return versions[0]

    async def versions(self, head: LoadedProcedure) -> list[Version]:
        """Return all kept versions, newest first."""
        return sorted(await self._versions(head, head.meta.kept), key=lambda v: -v.number)

    async def _versions(self, head: LoadedProcedure, numbers: tuple[int, ...]) -> list[Version]:
        return [_version(head, memory) for memory in await self._records(head, numbers)]

    def resolve_number(self, head: LoadedProcedure, number: int | str | None, index: int | None) -> int:
        """Return the number of a version given by number, by label, or by index (0 is the newest)."""
        if (number is None) == (index is None):
            raise InvalidInput("Name a version by its number or label, or by its index.")
        if index is not None:
            newest_first = sorted(head.meta.kept, reverse=True)
            if not 0 <= index < len(newest_first):
                raise NotFound(f"{head.name} has {len(newest_first)} versions, so there is no index {index}.")
            return newest_first[index]
        if isinstance(number, str):
            if number not in head.meta.labels:
                raise NotFound(
                    f"No version of {head.name} has the label {number}.",
                    hint=f"Labels are: {', '.join(sorted(head.meta.labels)) or 'none'}.",
                )
            return head.meta.labels[number]
        assert number is not None
        return number

    # -- writing -------------------------------------------------------------------------------------------------

    def create(self, procedure: Procedure, why: str) -> tuple[Memory, list[Write]]:
        """Build the writes that store a procedure for the first time."""
        meta = ProcedureMeta(
            name=procedure.name,
            category=procedure.category,
            number=1,
            latest=1,
            kept=(1,),
            made_at=self._scoped.now(),
            why=why,
        )
        head = self._scoped.new(
            PROCEDURE,
            procedure.text(),
            body=dump_procedure(procedure),
            key=f"{PROCEDURE}:{procedure.name}",
            session=procedure_session(procedure.name),
            tags=procedure.tags,
            importance=0.7,
            metadata=meta.model_dump(mode="json"),
        )
        version_meta = VersionMeta(of=head.id, number=1, made_at=meta.made_at, why=why)
        return head, [Put(head, existing="fail"), *self._version_writes(head, procedure, version_meta)]

    async def add_version(
        self, head: LoadedProcedure, procedure: Procedure, why: str, *, use: bool, keep: tuple[int, ...] = ()
    ) -> tuple[int, list[Write]]:
        """Build the writes that add a version and, with ``use``, put it in use; surplus versions are deleted."""
        number = head.meta.latest + 1
        current = number if use else head.meta.number
        gone = await self._surplus(head, (number, current, *keep))
        kept = tuple(n for n in (*head.meta.kept, number) if n not in gone)
        meta = head.meta.model_copy(update={"latest": number, "kept": kept})
        version_meta = VersionMeta(
            of=head.id, number=number, parent=head.meta.number, made_at=self._scoped.now(), why=why
        )
        writes = self._version_writes(head.memory, procedure, version_meta)
        if use:
            writes.append(self._head_update(head, meta, procedure, version_meta))
        else:
            changes: Json = {"metadata": meta.model_dump(mode="json")}
            writes.append(Update(head.id, changes, expected_version=head.memory.version))
        return number, [*writes, *(Delete(memory.id) for memory in await self._records(head, tuple(gone)))]

    def use_version(self, head: LoadedProcedure, version: Version) -> Write:
        """Build the write that puts a kept version in use."""
        return self._head_update(head, head.meta, version.procedure, version)

    def set_labels(self, head: LoadedProcedure, labels: dict[str, int]) -> Write:
        """Build the write that replaces the labels."""
        meta = head.meta.model_copy(update={"labels": labels})
        changes: Json = {"metadata": meta.model_dump(mode="json")}
        return Update(head.id, changes, expected_version=head.memory.version)

    async def delete(self, head: LoadedProcedure) -> list[Write]:
        """Build the writes that delete a procedure, its versions and its statistics; its runs remain."""
        open_runs = await self._open_runs(head, None)
        if open_runs:
            raise Conflict(
                f"A run of {head.name} is not finished: {open_runs}.", hint="Cancel it first.", run=open_runs
            )
        where = Filter(sessions=(procedure_session(head.name),), states=None)
        memories = [
            m async for m in self._scoped.store.scan_all(self._scoped.scope, where) if m.user == head.memory.user
        ]
        others = [Delete(memory.id) for memory in memories if memory.id != head.id]
        return [*others, Delete(head.id, expected_version=head.memory.version)]

    def _head_update(
        self, head: LoadedProcedure, meta: ProcedureMeta, procedure: Procedure, version_meta: VersionMeta | Version
    ) -> Write:
        changed = meta.model_copy(
            update={
                "number": version_meta.number,
                "parent": version_meta.parent,
                "made_at": version_meta.made_at,
                "why": version_meta.why,
                "category": procedure.category,
            }
        )
        changes: Json = {
            "metadata": changed.model_dump(mode="json"),
            "body": dump_procedure(procedure),
            "tags": list(procedure.tags),
        }
        if procedure.text() != head.memory.content:
            changes["content"] = procedure.text()
        return Update(head.id, changes, expected_version=head.memory.version)

    def _version_writes(self, head: Memory, procedure: Procedure, version_meta: VersionMeta) -> list[Write]:
        record = self._scoped.new(
            PROCEDURE,
            "",
            body=dump_procedure(procedure),
            key=_key(procedure.name, version_meta.number),
            session=procedure_session(procedure.name),
            user=head.user,
            state="archived",
            metadata=version_meta.model_dump(mode="json"),
        )
        return [Put(record, existing="fail"), AddLink(Link(source=record.id, relation=DERIVED_FROM, target=head.id))]

    async def _surplus(self, head: LoadedProcedure, needed: tuple[int, ...]) -> set[int]:
        """Return the oldest versions beyond the limit. A version in use, labelled or being run is never among them."""
        gone: set[int] = set()
        pinned = {*needed, *head.meta.labels.values()}
        for number in sorted(head.meta.kept):
            if len(head.meta.kept) + 1 - len(gone) <= self._kept:
                break
            if number not in pinned and not await self._open_runs(head, number):
                gone.add(number)
        return gone

    async def _open_runs(self, head: LoadedProcedure, number: int | None) -> str | None:
        asked: dict[str, Any] = {"procedure": head.id, "open": True} | ({} if number is None else {"number": number})
        page = await self._scoped.page(RUN, where=Filter(metadata=asked, states=None), limit=1)
        return page.items[0].id if page.items else None

    async def _records(self, head: LoadedProcedure, numbers: tuple[int, ...]) -> list[Memory]:
        if not numbers:
            return []
        where = Filter(keys=tuple(_key(head.name, n) for n in numbers), kinds=(PROCEDURE,), states=None)
        return [m async for m in self._scoped.store.scan_all(self._scoped.scope, where) if m.user == head.memory.user]


def load_procedure(memory: Memory) -> LoadedProcedure:
    """Load a procedure from its head record."""
    return LoadedProcedure(memory, validated(ProcedureMeta, memory.metadata), validated(Procedure, memory.body))


def current_version(head: LoadedProcedure) -> Version:
    """Return the version in use, from the head record."""
    return _as_version(head, head.meta, head.procedure)


def _version(head: LoadedProcedure, memory: Memory) -> Version:
    return _as_version(head, validated(VersionMeta, memory.metadata), validated(Procedure, memory.body))


def _as_version(head: LoadedProcedure, version_meta: ProcedureMeta | VersionMeta, procedure: Procedure) -> Version:
    return Version(
        id=head.id,
        number=version_meta.number,
        procedure=procedure,
        current=version_meta.number == head.meta.number,
        made_at=version_meta.made_at,
        why=version_meta.why,
        parent=version_meta.parent,
        labels=_labels(head, version_meta.number),
    )


def _labels(head: LoadedProcedure, number: int) -> tuple[str, ...]:
    return tuple(sorted(label for label, held in head.meta.labels.items() if held == number))


def _is_head(memory: Memory) -> bool:
    return "kept" in memory.metadata


def _key(name: str, number: int) -> str:
    return f"{PROCEDURE}:{name}@{number}"
