"""The life cycle of a vector space: declared, built beside the active one, activated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from longmind.store import refusals
from longmind.store.base import Space
from longmind.store.inmem.state import State
from longmind.store.inmem.writes import packed
from longmind.types import Scope

if TYPE_CHECKING:
    from longmind.store.base import EmbedTexts, Vector


def declare(state: State, space: Space) -> None:
    """Declare the first space of a store."""
    if state.active is None:
        state.active, state.epoch = space, state.epoch + 1
    else:
        refusals.require_declared(state.active, space)


def begin(state: State, space: Space) -> None:
    """Begin to build this space beside the active one. A third that was being built is dropped."""
    if refusals.require_beside(state.active, space) == space:
        return
    if state.building is not None and state.building != space:
        _drop_vectors(state, state.building)
    state.building = space


def missing(state: State, space: Space) -> list[tuple[Scope, str, str]]:
    """Return (scope, id, content) of memories that have content and no vector in this space."""
    _require_known(state, space)
    return [
        (Scope(tenant=tenant, agent=name, all_users=True), id, row.memory.content)
        for (tenant, name), agent in state.agents.items()
        for id, row in agent.rows.items()
        if row.memory.content and (space.name, id) not in agent.vectors
    ]


def put(state: State, space: Space, rows: Sequence[tuple[Scope, str, str, Vector]]) -> int:
    """Store the vectors of memories whose content has not changed since. Return how many were stored."""
    _require_known(state, space)
    for *_, vector in rows:
        refusals.require_fit(vector, space)
    stored = 0
    for scope, id, content, vector in rows:
        agent = state.agent(scope)
        memory = agent.visible(scope, id)
        if memory is not None and memory.content == content:
            agent.vectors[space.name, id] = packed(vector)
            stored += 1
    if stored and space == state.active:
        state.epoch += 1
    return stored


def activate(state: State, space: Space) -> None:
    """Make this the active space. Refused while a memory has no vector in it."""
    if space == state.active:
        return
    refusals.require_complete(len(missing(state, space)), space)
    if state.active is not None:
        _drop_vectors(state, state.active)
    state.active, state.building, state.epoch = space, None, state.epoch + 1


async def finish(state: State, space: Space, embed: EmbedTexts, limit: int) -> tuple[int, int]:
    """Embed at most ``limit`` of what is missing and activate the space if that was all, while nobody else writes."""
    left = missing(state, space)
    part = left[:limit]
    vectors = await embed([content for _, _, content in part]) if part else ()
    stored = put(state, space, [(*row, vector) for row, vector in zip(part, vectors, strict=True)])
    if stored == len(left):
        activate(state, space)
    return stored, len(left) - stored


def _require_known(state: State, space: Space) -> None:
    if space not in (state.active, state.building):
        raise refusals.unknown_space(space)


def _drop_vectors(state: State, space: Space) -> None:
    for agent in state.agents.values():
        agent.vectors = {place: vector for place, vector in agent.vectors.items() if place[0] != space.name}
