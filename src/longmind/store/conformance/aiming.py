"""From a write that was drawn to one that makes sense: aimed at records that exist, with a vector that fits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from longmind.store.base import AddLink, Delete, Put, RemoveLink, Space, Touch, Update, Write
from longmind.store.conformance.draws import ANY, IDS, SPACES
from longmind.store.inmem import InmemBackend
from longmind.types import Link, Scope

if TYPE_CHECKING:
    from longmind.store.base import Vector


@dataclass(frozen=True)
class Aim:
    """What a scope sees, so that a write can be turned to something that is there."""

    seen: list[str]
    free: list[str]
    links: list[Link]

    @classmethod
    async def at(cls, model: InmemBackend, scope: Scope) -> Aim:
        agent = Scope(tenant=scope.tenant, agent=scope.agent)
        taken = await model.matching(agent, ANY)
        seen = sorted(await model.matching(scope, ANY))
        links = await model.links(scope, seen, relation=None, direction="out", limit=100)
        return cls(seen or [IDS[0]], [id for id in IDS if id not in taken] or [IDS[0]], links)

    def aimed(self, write: Write) -> Write:
        match write:
            case Put():
                return replace(write, memory=write.memory.model_copy(update={"id": _nth(self.free, write.memory.id)}))
            case Update() | Delete():
                return replace(write, id=_nth(self.seen, write.id))
            case AddLink(link=link):
                ends = {"source": _nth(self.seen, link.source), "target": _nth(self.seen, link.target)}
                return AddLink(link.model_copy(update=ends))
            case RemoveLink() if self.links:
                link = _nth(self.links, write.source)
                return RemoveLink(link.source, link.relation, link.target)
            case Touch():
                return replace(write, ids=tuple(_nth(self.seen, id) for id in write.ids))
        return write


def _nth(values: list[Any], id: str) -> Any:
    return values[IDS.index(id) % len(values)]


def vector(text: str, space: Space) -> Vector:
    """A unit vector that depends on the text."""
    numbers = np.random.default_rng(len(text)).normal(size=space.dimensions).astype(np.float32)
    return numbers / np.linalg.norm(numbers)


def with_vector(write: Write, fit: str, space: Space | None) -> Write:
    """The write with a vector that fits the active space, one that does not, or none."""
    if fit == "none" or not isinstance(write, Put | Update) or (fit == "right" and space is None):
        return write
    text = write.memory.content if isinstance(write, Put) else repr(write.changes)
    right = space or SPACES[0]
    return replace(write, vector=vector(text, right if fit == "right" else Space("", right.dimensions + 1)))
