"""The in-memory store examines itself: each planted fault is told, with what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from longmind.store.base import AddLink, Batch, Put, Space
from longmind.store.inmem import InmemBackend, State
from longmind.store.inmem.state import AgentState
from longmind.testing import START, memory
from longmind.types import Link, Scope

SCOPE = Scope(agent="assistant")


async def sound() -> State:
    backend = await InmemBackend.open()
    await backend.declare_space(Space("small", 2))
    one, two = memory(scope=SCOPE, key="k"), memory(scope=SCOPE)
    vector = np.array([1, 0], np.float32)
    link = AddLink(Link(source=one.id, relation="next", target=two.id))
    await backend.apply(Batch(SCOPE, "op", START, (Put(one, vector), Put(two), link)))
    return backend.snapshot()


def gap(agent: AgentState) -> None:
    del agent.journal[0]


def doubled_key(agent: AgentState) -> None:
    for id, row in agent.rows.items():
        agent.rows[id] = replace(row, memory=row.memory.model_copy(update={"key": "k"}))


def unknown_put(agent: AgentState) -> None:
    id, row = next(iter(agent.rows.items()))
    agent.rows[id] = replace(row, seq=99)


def loose_link(agent: AgentState) -> None:
    del agent.rows[list(agent.rows)[1]]


def short_vector(agent: AgentState) -> None:
    agent.vectors = dict.fromkeys(agent.vectors, b"\x00\x00")


def stray_vector(agent: AgentState) -> None:
    agent.vectors["elsewhere", next(iter(agent.rows))] = b"\x00\x00\x00\x00"


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (gap, "gap"),
        (doubled_key, "'k' is held 2 times"),
        (unknown_put, "change 99"),
        (loose_link, "'next' leads"),
        (short_vector, "wrong length"),
        (stray_vector, "'elsewhere'"),
    ],
)
async def test_a_fault_is_told(harm: Callable[[AgentState], None], told: str) -> None:
    state = await sound()
    harm(state.agents["default", "assistant"])
    faults = await (await InmemBackend.open(state)).check()
    assert any(told in fault for fault in faults)
    assert all(fault.startswith("default/assistant: ") and "snapshot" in fault for fault in faults)


async def test_a_sound_state_has_none() -> None:
    assert await (await InmemBackend.open(await sound())).check() == []


async def test_an_epoch_without_a_space_is_told() -> None:
    (fault,) = await (await InmemBackend.open(State(epoch=3))).check()
    assert "epoch" in fault
