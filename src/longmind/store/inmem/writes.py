"""What each write does to an agent's state. The caller gives a copy and throws it away if anything is raised."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
from pydantic import ValidationError

from longmind.clock import as_utc
from longmind.store import refusals
from longmind.store.base import AddLink, Batch, Delete, Put, RemoveLink, Space, Touch, Update
from longmind.store.inmem.state import Action, AgentState, Line, LinkKey, Row
from longmind.store.updates import changed
from longmind.text.analysis import index_terms
from longmind.types import Json, Link, Memory

if TYPE_CHECKING:
    from longmind.store.base import Vector

Written = tuple[Memory, bool]
"""A memory as a write left it, and whether that write changed it."""


class Writer:
    """Makes the writes of one batch on a copy of its agent."""

    def __init__(self, batch: Batch, agent: AgentState, active: Space | None) -> None:
        self.batch, self.scope, self.agent, self.active = batch, batch.scope, agent, active

    def put(self, write: Put) -> Written:
        memory = _plain(write.memory)
        refusals.require_in_scope(self.scope, memory)
        if memory.id in self.agent.rows:
            raise refusals.exists(memory.id)
        if memory.key is not None and (holder := self.agent.key_holder(memory.user, memory.key)):
            if write.existing == "return":
                return holder, False
            raise refusals.key_taken(memory.key, holder.id)
        self._log("put", memory.id, memory.user)
        self.agent.rows[memory.id] = Row(memory, self.agent.head, index_terms(memory))
        if write.vector is not None:
            self._store_vector(memory.id, write.vector)
        return memory, True

    def update(self, write: Update) -> Written:
        old = self._expect(write.id, write.expected_version)
        new = _plain(changed(old, write.changes))
        before = {name: value for name, value in _told(old).items() if _told(new)[name] != value}
        if not before:
            return old, False
        if new.key is not None and new.key != old.key and (holder := self.agent.key_holder(new.user, new.key)):
            raise refusals.key_taken(new.key, holder.id)
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
            raise refusals.no_link(write)
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
        return refusals.expected(self.scope, id, self.agent.visible(self.scope, id), version)

    def _unlink(self, key: LinkKey) -> None:
        link = self.agent.links.pop(key)
        self._log("unlink", link.source, self._user_of(link), before=link.model_dump(mode="json"), link=link)

    def _user_of(self, link: Link) -> str | None:
        """Whose journal line a link is: the user's at its source, else the user's at its target."""
        return self.agent.rows[link.source].memory.user or self.agent.rows[link.target].memory.user

    def _store_vector(self, id: str, vector: Vector) -> None:
        space = refusals.require_fit(vector, self.active)
        self.agent.vectors[space.name, id] = packed(vector)

    def _log(
        self, action: Action, id: str, user: str | None, *, before: Json | None = None, link: Link | None = None
    ) -> None:
        batch = self.batch
        line = Line(
            self.agent.head + 1, batch.operation, batch.at, batch.actor, batch.reason, action, id, user, before, link
        )
        self.agent.journal.append(line)


def packed(vector: Vector) -> bytes:
    """A vector as it is stored."""
    return np.asarray(vector).astype("<f2").tobytes()


def _plain(memory: Memory) -> Memory:
    """The memory as JSON tells it, sharing nothing with the one the caller holds."""
    try:
        return Memory.model_validate_json(memory.model_dump_json())
    except ValidationError as error:
        raise refusals.invalid("The memory", error) from error


def _told(memory: Memory) -> dict[str, str]:
    """Each field as JSON text, which tells true from 1 and 1 from 1.0 where Python's equality does not."""
    return {name: json.dumps(value, sort_keys=True) for name, value in memory.model_dump(mode="json").items()}
