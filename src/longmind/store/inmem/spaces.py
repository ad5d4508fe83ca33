"""The life of a vector space: declared, built beside the active one, activated."""

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
    """The first space of a store."""
    if state.active is None:
        state.active, state.epoch = space, state.epoch + 1
    else:
        refusals.require_declared(state.active, space)


def begin(state: State, space: Space) -> None:
    """Build this space beside the active one; what was begun of another is dropped."""
    if refusals.require_beside(state.active, space) == space:
        return
    if state.building is not None and state.building != space:
        _drop_vectors(state, state.building)
    state.building = space


def missing(state: State, space: Space) -> list[tuple[Scope, str, str]]:
    """(scope, id, content) of memories that say something and have no vector in this space."""
    _require_known(state, space)
    return [
        (Scope(tenant=tenant, agent=name), id, row.memory.content)
        for (tenant, name), agent in state.agents.items()
        for id, row in agent.rows.items()
        if row.memory.content and (space.name, id) not in agent.vectors
    ]


def put(state: State, space: Space, rows: Sequence[tuple[Scope, str, str, Vector]]) -> int:
    """Store vectors of the memories that still say what was embedded; how many those were."""
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
    """Read this space from now on. Refused while a memory would lose its vector by it."""
    if space == state.active:
        return
    refusals.require_complete(len(missing(state, space)), space)
    if state.active is not None:
        _drop_vectors(state, state.active)
    state.active, state.building, state.epoch = space, None, state.epoch + 1


async def finish(state: State, space: Space, embed: EmbedTexts, limit: int) -> tuple[int, int]:
    """Embed what is missing, at most so many, and activate the space if that was all. No other writes meanwhile."""
    left = missing(state, space)
    part = left[:limit]
    vectors = await embed([content for _, _, content in part]) if part else ()
    made = put(state, space, [(*row, vector) for row, vector in zip(part, vectors, strict=True)])
    if made == len(left):
        activate(state, space)
    return made, len(left) - made


def _require_known(state: State, space: Space) -> None:
    if space not in (state.active, state.building):
        raise refusals.unknown_space(space)


def _drop_vectors(state: State, space: Space) -> None:
    for agent in state.agents.values():
        agent.vectors = {place: vector for place, vector in agent.vectors.items() if place[0] != space.name}
