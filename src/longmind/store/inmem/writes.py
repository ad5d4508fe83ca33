"""Applying a batch to an agent's state: load what it names, plan it, store what the plan says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from longmind.store import refusals
from longmind.store.base import Batch, Receipt, Space
from longmind.store.inmem.state import AgentState, AppliedBatch, Row, State, owned_copy
from longmind.store.plan import (
    Cleared,
    Snapshot,
    StoredLink,
    StoredMemory,
    WritePlan,
    operation_after_erasure,
    plan_batch,
    required,
)
from longmind.store.reads import link_key
from longmind.text.index_terms import index_terms

if TYPE_CHECKING:
    from longmind.store.base import Vector


def apply(state: State, batch: Batch) -> Receipt:
    """Make all writes of a batch on a copy of its agent, which replaces the agent if none is refused."""
    refusals.require_storable(batch)
    agent = state.agent(batch.scope).copy()
    if batch.idempotent and (applied := agent.operations.get((batch.scope.user, batch.operation))):
        return _replay(batch, applied, agent)
    refusals.require_space(batch, state.active)
    plan = plan_batch(batch, _snapshot(agent, batch, state.active))
    _store(agent, plan)
    if batch.idempotent:
        ids = tuple(memory.id for memory, _ in plan.results)
        agent.operations[batch.scope.user, batch.operation] = AppliedBatch(batch.fingerprint(), ids)
    state.agents[batch.scope.tenant, batch.scope.agent] = agent
    receipt = plan.receipt()
    return receipt._replace(memories=tuple(map(owned_copy, receipt.memories)))


def _replay(batch: Batch, applied: AppliedBatch, agent: AgentState) -> Receipt:
    refusals.require_same_writes(batch.operation, applied.fingerprint, batch.fingerprint())
    visible = [agent.visible(batch.scope, id) for id in applied.ids]
    memories = tuple(owned_copy(memory) for memory in visible if memory is not None)
    return Receipt(batch.operation, memories, (False,) * len(memories), replayed=True)


def _snapshot(agent: AgentState, batch: Batch, active: Space | None) -> Snapshot:
    needs = required(batch)
    ids, keys, deleted = set(needs.ids), set(needs.keys), set(needs.deleted)
    rows = {
        id: StoredMemory(row.memory, row.seq)
        for id, row in agent.rows.items()
        if id in ids or (row.memory.key is not None and row.memory.key in keys)
    }
    named = {key for key in needs.links if key in agent.links}
    named.update(key for key in agent.links if deleted and (key[0] in deleted or key[2] in deleted))
    links = {key: StoredLink(agent.links[key], agent.owner(agent.links[key])) for key in named}
    return Snapshot(agent.head, active, rows, links)


def _store(agent: AgentState, plan: WritePlan) -> None:
    if plan.cleared:
        _clear(agent, plan.cleared)
    for key in plan.removed_links():
        del agent.links[key]
    for id in plan.removed():
        del agent.rows[id]
    for id in plan.dropped_vectors:
        agent.drop_vectors(id)
    for memory, seq, reindex in (*plan.updated(), *plan.inserted()):
        terms = index_terms(memory) if reindex else agent.rows[memory.id].terms
        agent.rows[memory.id] = Row(memory, seq, terms)
    for id, vector in plan.vectors.items():
        assert plan.snapshot.active is not None
        agent.vectors[plan.snapshot.active.name, id] = packed(vector)
    agent.links.update((link_key(link), link) for link, _ in plan.changed_links())
    agent.journal += plan.lines


def _clear(agent: AgentState, cleared: Cleared) -> None:
    """Clear the journal and the ids of operations."""
    affected = {line.operation for line in agent.journal if cleared.applies_to(line)}
    renamed: dict[str, str] = {}
    for line in agent.journal:
        if line.operation in affected and line.operation not in renamed:
            renamed[line.operation] = operation_after_erasure(line.operation, line.seq)
    agent.journal = [
        cleared.clear(line)._replace(reason="", operation=renamed[line.operation])
        if line.operation in renamed
        else line
        for line in agent.journal
    ]
    agent.operations = {
        (user, operation): applied
        for (user, operation), applied in agent.operations.items()
        if not (
            cleared.everything or operation in renamed or user in cleared.users or cleared.ids.keys() & set(applied.ids)
        )
    }


def packed(vector: Vector) -> bytes:
    """Return a vector as it is stored."""
    return np.asarray(vector).astype("<f2").tobytes()
