"""What each write does to an agent's state. The caller gives a copy and throws it away if anything is raised."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
from pydantic import TypeAdapter, ValidationError

from recollect.clock import as_utc
from recollect.errors import Conflict, Forbidden, InvalidInput, KeyTaken, ModelMismatch, NotFound, VersionConflict
from recollect.store.base import AddLink, Batch, Delete, Put, RemoveLink, Space, Touch, Update
from recollect.store.inmem.state import Action, AgentState, Line, LinkKey, Row
from recollect.store.search.analysis import index_terms
from recollect.types import UPDATABLE, Json, Link, Memory, Text

if TYPE_CHECKING:
    from recollect.store.base import Vector

_TEXT: TypeAdapter[str] = TypeAdapter(Text)

Written = tuple[Memory, bool]
"""A memory as a write left it, and whether that write changed it."""


class Writer:
    """Makes the writes of one batch on a copy of its agent."""

    def __init__(self, batch: Batch, agent: AgentState, active: Space | None) -> None:
        self.batch, self.scope, self.agent, self.active = batch, batch.scope, agent, active

    def put(self, write: Put) -> Written:
        memory = _plain(write.memory)
        if not self.scope.sees(memory):
            raise Forbidden(
                "The memory belongs to another tenant, agent or user.",
                hint="Write it with the scope it belongs to.",
                id=memory.id,
            )
        if memory.id in self.agent.rows:
            raise Conflict(
                "A memory with this id exists.", hint="Update it, or let the clock make a new id.", id=memory.id
            )
        if memory.key is not None and (holder := self.agent.key_holder(memory.user, memory.key)):
            if write.existing == "return":
                return holder, False
            raise _key_taken(memory.key, holder.id)
        self._log("put", memory.id, memory.user)
        self.agent.rows[memory.id] = Row(memory, self.agent.head, index_terms(memory))
        if write.vector is not None:
            self._store_vector(memory.id, write.vector)
        return memory, True

    def update(self, write: Update) -> Written:
        old = self._expect(write.id, write.expected_version)
        new = _changed(old, write.changes)
        before = {name: value for name, value in _told(old).items() if _told(new)[name] != value}
        if not before:
            return old, False
        if new.key is not None and new.key != old.key and (holder := self.agent.key_holder(new.user, new.key)):
            raise _key_taken(new.key, holder.id)
        self._log("update", old.id, old.user, before={name: json.loads(value) for name, value in before.items()})
        new = new.model_copy(update={"version": old.version + 1})
        self.agent.rows[old.id] = Row(new, self.agent.rows[old.id].seq, index_terms(new))
        if "content" in before:
            self.agent.drop_vectors(old.id)
        if write.vector is not None:
            self._store_vector(old.id, write.vector)
        return new, True

    def delete(self, write: Delete) -> None:
        memory = self._expect(write.id, write.expected_version)
        for key in self.agent.links_of(memory.id):
            if write.erase:
                del self.agent.links[key]
            else:
                self._unlink(key)
        if write.erase:
            self.agent.journal = [line.cleared() if line.names(memory.id) else line for line in self.agent.journal]
            self._log("erase", memory.id, memory.user)
        else:
            self._log("delete", memory.id, memory.user, before=memory.model_dump(mode="json"))
        self.agent.drop_vectors(memory.id)
        del self.agent.rows[memory.id]

    def add_link(self, write: AddLink) -> None:
        link = Link.model_validate_json(write.link.model_dump_json())
        self._expect(link.source)
        self._expect(link.target)
        key = (link.source, link.relation, link.target)
        old = self.agent.links.get(key)
        if old is not None and old.model_dump_json() == link.model_dump_json():
            return
        before = None if old is None else old.model_dump(mode="json")
        self._log("link", link.source, self._user_of(link), before=before, link=link)
        self.agent.links[key] = link

    def remove_link(self, write: RemoveLink) -> None:
        key = (write.source, write.relation, write.target)
        ends_seen = all(self.agent.visible(self.scope, end) for end in (write.source, write.target))
        if key not in self.agent.links or not ends_seen:
            raise NotFound(
                "There is no such link in this scope.",
                hint="List the links of the memory to see which there are.",
                source=write.source,
                relation=write.relation,
                target=write.target,
            )
        self._unlink(key)

    def touch(self, write: Touch) -> None:
        for id in set(write.ids):
            memory = self.agent.visible(self.scope, id)
            if memory is not None:
                counted = {
                    "access_count": memory.access_count + 1,
                    "last_accessed_at": as_utc(write.at),
                    "interaction": memory.interaction + write.interaction,
                }
                row = self.agent.rows[id]
                self.agent.rows[id] = Row(memory.model_copy(update=counted), row.seq, row.terms)

    def _expect(self, id: str, version: int | None = None) -> Memory:
        memory = self.agent.visible(self.scope, id)
        if memory is None:
            raise NotFound("There is no such memory in this scope.", hint="Check the id, and whose it is.", id=id)
        if version is not None and version != memory.version:
            raise VersionConflict(
                f"The memory is at version {memory.version}, not {version}.",
                hint="Read it again and repeat the change on what it says now.",
                id=id,
                expected=version,
                actual=memory.version,
            )
        return memory

    def _unlink(self, key: LinkKey) -> None:
        link = self.agent.links.pop(key)
        self._log("unlink", link.source, self._user_of(link), before=link.model_dump(mode="json"), link=link)

    def _user_of(self, link: Link) -> str | None:
        """Whose journal line a link is: the user's at its source, else the user's at its target."""
        return self.agent.rows[link.source].memory.user or self.agent.rows[link.target].memory.user

    def _store_vector(self, id: str, vector: Vector) -> None:
        if self.active is None:
            raise ModelMismatch("The store has no vector space yet.", hint="Declare one before giving vectors.")
        self.agent.vectors[self.active.name, id] = pack(vector, self.active)

    def _log(
        self, action: Action, id: str, user: str | None, *, before: Json | None = None, link: Link | None = None
    ) -> None:
        batch = self.batch
        line = Line(
            self.agent.head + 1, batch.operation, batch.at, batch.actor, batch.reason, action, id, user, before, link
        )
        self.agent.journal.append(line)


def pack(vector: Vector, space: Space) -> bytes:
    """A vector as it is stored; one of another length belongs to another model."""
    if len(vector) != space.dimensions:
        raise ModelMismatch(
            f"The vector has {len(vector)} numbers, but those of {space.name} have {space.dimensions}.",
            hint="Use the embedder the store was built with, or re-embed the store.",
        )
    return np.asarray(vector).astype("<f2").tobytes()


def require_space(batch: Batch, active: Space | None) -> None:
    """Refuse a batch whose vectors are of a space that is not, or no longer, the active one."""
    if batch.space is not None and (active is None or active.name != batch.space):
        raise ModelMismatch(
            f"The vectors are of {batch.space}, but {'no space' if active is None else active.name} is active.",
            hint="Use the embedder the store was built with, or re-embed the store.",
        )


def require_plain_texts(batch: Batch) -> None:
    """Refuse what no database stores as text: NUL and lone surrogates."""
    for name in ("operation", "actor", "reason"):
        try:
            _TEXT.validate_python(getattr(batch, name))
        except ValidationError as error:
            raise _invalid(f"The {name} of the batch", error) from error


def _plain(memory: Memory) -> Memory:
    """The memory as JSON tells it, sharing nothing with the one the caller holds."""
    try:
        return Memory.model_validate_json(memory.model_dump_json())
    except ValidationError as error:
        raise _invalid("The memory", error) from error


def _told(memory: Memory) -> dict[str, str]:
    """Each field as JSON text, which tells true from 1 and 1 from 1.0 where Python's equality does not."""
    return {name: json.dumps(value, sort_keys=True) for name, value in memory.model_dump(mode="json").items()}


def _changed(old: Memory, changes: Json) -> Memory:
    unknown = sorted(set(changes) - UPDATABLE)
    if unknown:
        raise InvalidInput(
            f"These fields cannot be changed: {', '.join(unknown)}.",
            hint=f"An update may change: {', '.join(sorted(UPDATABLE))}.",
            fields=unknown,
        )
    try:
        return _plain(Memory.model_validate({**dict(old), **changes}))
    except ValidationError as error:
        raise _invalid("The memory as changed", error) from error


def _invalid(what: str, error: ValidationError) -> InvalidInput:
    """Which fields are wrong, and why."""
    reasons = {".".join(map(str, e["loc"])) or "value": e["msg"] for e in error.errors()}
    told = "; ".join(f"{field}: {reason}" for field, reason in reasons.items())
    return InvalidInput(f"{what} is not valid: {told}.", hint="Correct it.", fields=reasons)


def _key_taken(key: str, holder: str) -> KeyTaken:
    return KeyTaken(
        f"The key {key!r} is taken.", hint="Update the memory that holds it, or use another key.", key=key, id=holder
    )
