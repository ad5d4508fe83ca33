"""The checks of a state, one rule at a time."""

from __future__ import annotations

from collections import Counter

from longmind.store.inmem.state import AgentState, State

DAMAGED = "The state was changed from outside: open an older snapshot."


def find_faults(state: State) -> list[str]:
    """Return every broken rule, one line each."""
    sizes = {space.name: space.dimensions for space in (state.active, state.building) if space is not None}
    faults = [] if state.active or not state.epoch else ["An epoch is counted but no vector space is active."]
    for (tenant, name), agent in state.agents.items():
        faults.extend(f"{tenant}/{name}: {fault}" for fault in _agent_faults(agent, sizes))
    return [f"{fault} {DAMAGED}" for fault in faults]


def _agent_faults(agent: AgentState, sizes: dict[str, int]) -> list[str]:
    faults = []
    if [line.seq for line in agent.journal] != list(range(1, agent.head + 1)):
        faults.append("The journal has a gap.")
    held = Counter((row.memory.user, row.memory.key) for row in agent.rows.values() if row.memory.key is not None)
    faults += [f"The key {key!r} is held {count} times." for (_, key), count in held.items() if count > 1]
    faults += [
        f"The memory {row.memory.id} was put by change {row.seq}, which is not there."
        for row in agent.rows.values()
        if not 1 <= row.seq <= agent.head
    ]
    faults += [
        f"A link {relation!r} leads from {source} to {target}, one of which is gone."
        for source, relation, target in agent.links
        if source not in agent.rows or target not in agent.rows
    ]
    faults += [
        f"The vector of {id} in {space!r} belongs to no memory or has a wrong length."
        for (space, id), vector in agent.vectors.items()
        if id not in agent.rows or len(vector) != 2 * sizes.get(space, -1)
    ]
    return faults
