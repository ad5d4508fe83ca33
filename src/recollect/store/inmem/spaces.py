"""The life of a vector space: declared, built beside the active one, activated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.errors import ModelMismatch
from recollect.store.base import Space
from recollect.store.inmem.state import State
from recollect.store.inmem.writes import pack
from recollect.types import Scope

if TYPE_CHECKING:
    from recollect.store.base import Vector


def declare(state: State, space: Space) -> None:
    """The first space of a store."""
    if state.active is None:
        state.active, state.epoch = space, state.epoch + 1
    elif state.active != space:
        raise ModelMismatch(
            f"The store was built with {state.active.name} ({state.active.dimensions} numbers).",
            hint=f"Open it with that embedder, or re-embed it for {space.name}.",
        )


def begin(state: State, space: Space) -> None:
    """Build this space beside the active one; what was begun of another is dropped."""
    if state.active is None:
        raise ModelMismatch("The store has no vector space yet.", hint="Declare this one instead of building a second.")
    if space == state.active:
        return
    if space.name == state.active.name:
        raise ModelMismatch(
            f"{space.name} is active with other dimensions.", hint="Give the new space a name of its own."
        )
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
    packed = [(scope, id, content, pack(vector, space)) for scope, id, content, vector in rows]
    stored = 0
    for scope, id, content, vector in packed:
        agent = state.agent(scope)
        memory = agent.visible(scope, id)
        if memory is not None and memory.content == content:
            agent.vectors[space.name, id] = vector
            stored += 1
    if stored and space == state.active:
        state.epoch += 1
    return stored


def activate(state: State, space: Space) -> None:
    """Read this space from now on. Refused while a memory would lose its vector by it."""
    if space == state.active:
        return
    left = missing(state, space)
    if left:
        raise ModelMismatch(
            f"{len(left)} memories have no vector of {space.name} yet.",
            hint="Go on re-embedding until none is missing.",
        )
    if state.active is not None:
        _drop_vectors(state, state.active)
    state.active, state.building, state.epoch = space, None, state.epoch + 1


def _require_known(state: State, space: Space) -> None:
    if space not in (state.active, state.building):
        raise ModelMismatch(f"{space.name} is not a space of this store.", hint="Begin the space first.")


def _drop_vectors(state: State, space: Space) -> None:
    for agent in state.agents.values():
        agent.vectors = {place: vector for place, vector in agent.vectors.items() if place[0] != space.name}
