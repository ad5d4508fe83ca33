"""A state machine: random operations on a backend and on the in-memory one must always have the same results.

After every step what the scope of that step sees is compared, and at the end everything is. Closing and opening again
is one of the steps. Needs hypothesis; run it with ``run_state_machine_as_test(lambda: StoreMachine(host))``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Protocol

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from longmind.errors import LongmindError, OperationMismatch
from longmind.store.base import AddLink, Backend, Batch, Feed, Put, Space, Write
from longmind.store.conformance import strategies
from longmind.store.conformance.strategies import (
    AGENT,
    ALICE,
    ANY,
    BOB,
    IDS,
    NOON,
    OTHER,
    SCOPES,
    SPACES,
    STRANGER,
    DrawnWrite,
    Targets,
    pick,
    vector,
    with_vector,
)
from longmind.store.inmem import InmemBackend
from longmind.testing import memory
from longmind.types import Filter, Link, Scope

THEN: dict[str, Any] = {"occurred_at": NOON, "recorded_at": NOON}


class Host(Protocol):
    """Where the backend under test lives."""

    async def empty(self) -> Backend:
        """A backend on a store that holds nothing."""
        ...

    async def again(self, backend: Backend) -> Backend:
        """Close a backend and open its store again."""
        ...


def run_to_end(step: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Turn a coroutine step into one that the machine can call: one run of the event loop for each step."""

    @wraps(step)
    def waiting(machine: StoreMachine, *args: Any, **kwargs: Any) -> None:
        machine.runner.run(step(machine, *args, **kwargs))

    return waiting


class StoreMachine(RuleBasedStateMachine):
    """Does everything to the in-memory backend and to the one under test, and compares the answers."""

    def __init__(self, host: Host) -> None:
        super().__init__()
        self.host = host
        self.runner = asyncio.Runner()
        self.sent: list[tuple[Batch, bool]] = []
        self.model: InmemBackend = self.runner.run(InmemBackend.open())
        self.backend: Backend = self.runner.run(host.empty())

    def teardown(self) -> None:
        try:
            self.compare_all()
        finally:
            self.runner.run(self.backend.close())
            self.runner.close()

    @run_to_end
    async def compare_all(self) -> None:
        for scope in (*SCOPES, STRANGER):
            await self.compare(scope)

    # -- doing the same to both ------------------------------------------------------------------------------------

    async def both(self, call: Callable[[Any], Awaitable[Any]], *, same_error: bool = True) -> Any:
        """Do something to the specification and to the backend, and compare what they answer or refuse."""
        expected, actual = await _outcome(call, self.model), await _outcome(call, self.backend)
        if isinstance(expected, LongmindError) or isinstance(actual, LongmindError):
            assert isinstance(expected, LongmindError), f"only the backend refused: {actual!r}"
            assert isinstance(actual, LongmindError), f"only the specification refused: {expected!r}"
            # A batch under a used operation id may have another fault as well, and either may be reported.
            if same_error and not isinstance(expected, OperationMismatch):
                assert type(actual) is type(expected)
            return None
        assert comparable(actual) == comparable(expected)
        return expected

    async def compare(self, scope: Scope, after: int = 0) -> None:
        """Everything a scope sees, by every method that reads."""
        await self.both(lambda b: b.head(scope))
        await self.both(lambda b: b.stats(scope))
        await self.both(lambda b: b.get(scope, IDS))
        await self.both(lambda b: b.scan(scope, ANY, limit=1_000))
        await self.both(lambda b: b.links(scope, IDS, relation=None, direction="both", limit=100))
        await self.both(lambda b: b.journal(scope, limit=1_000))
        await self.both(lambda b: comparable_feed(b, scope, 0))
        await self.both(lambda b: comparable_feed(b, scope, after))

    # -- the rules ---------------------------------------------------------------------------------------------------

    @initialize(spaces=pick(2, 1, 1, 0))
    @run_to_end
    async def begin(self, spaces: int) -> None:
        """Some memories of everybody, linked, so that there is something to collide with."""
        if spaces > 0:
            await self.both(lambda b: b.declare_space(SPACES[0]))
        if spaces > 1:
            await self.both(lambda b: b.begin_space(SPACES[1]))
        owners = (AGENT, ALICE, BOB, AGENT)
        new: list[Write] = [Put(memory(f"walk {n}", scope=owner, id=IDS[n], **THEN)) for n, owner in enumerate(owners)]
        links: list[Write] = [AddLink(Link(source=IDS[n], relation="next", target=IDS[(n + 1) % 4])) for n in range(4)]
        await self.make(AGENT, [DrawnWrite(write, True, "right") for write in (*new, *links)])
        await self.make(
            OTHER, [DrawnWrite(Put(memory("twin", scope=OTHER, id=IDS[n], key=f"k{n}", **THEN)), True) for n in (1, 2)]
        )

    async def make(
        self, scope: Scope, drawn: list[DrawnWrite], how: Any = ("free", False), why: Any = ("user", "")
    ) -> None:
        """Send one batch to both."""
        space = await self.model.space()
        targets = await Targets.at(self.model, scope)
        writes = tuple(with_vector(d.write if d.wild else targets.aim(d.write), d.fit, space) for d in drawn)
        batch = Batch(scope, how[0], NOON, writes, why[0], why[1], idempotent=how[1])
        # With several faults in one batch, which of them is reported is not part of the contract.
        single_fault = len(writes) == 1 and drawn[0].fit != "wrong"
        await self.both(lambda b: b.apply(batch), same_error=single_fault)
        if batch.idempotent:
            # Sent again, a vector may be of a space that is left by then: a second fault.
            self.sent.append((batch, single_fault and drawn[0].fit == "none"))
        head = (await self.model.head(scope)).seq
        await self.compare(scope, max(0, head - 3))

    @rule(drawn=strategies.in_scope(strategies.puts), how=strategies.OPERATIONS, why=strategies.WHY)
    @run_to_end
    async def put(self, drawn: tuple[Scope, DrawnWrite], how: Any, why: Any) -> None:
        await self.make(drawn[0], [drawn[1]], how, why)

    @rule(scope=strategies.SCOPE, drawn=strategies.updates(), how=strategies.OPERATIONS)
    @run_to_end
    async def update(self, scope: Scope, drawn: DrawnWrite, how: Any) -> None:
        await self.make(scope, [drawn], how)

    @rule(scope=strategies.SCOPE, drawn=strategies.deletes(), how=strategies.OPERATIONS)
    @run_to_end
    async def delete(self, scope: Scope, drawn: DrawnWrite, how: Any) -> None:
        await self.make(scope, [drawn], how)

    @rule(scope=strategies.SCOPE, drawn=strategies.edges(), how=strategies.OPERATIONS)
    @run_to_end
    async def link(self, scope: Scope, drawn: DrawnWrite, how: Any) -> None:
        await self.make(scope, [drawn], how)

    @rule(scope=strategies.SCOPE, drawn=strategies.touches())
    @run_to_end
    async def touch(self, scope: Scope, drawn: DrawnWrite) -> None:
        await self.make(scope, [drawn])

    @rule(drawn=strategies.in_scope(strategies.mixtures), how=strategies.OPERATIONS, why=strategies.WHY)
    @run_to_end
    async def write_together(self, drawn: tuple[Scope, list[DrawnWrite]], how: Any, why: Any) -> None:
        await self.make(*drawn, how, why)

    @precondition(lambda self: self.sent)
    @rule(which=st.integers(0, 20))
    @run_to_end
    async def repeat(self, which: int) -> None:
        batch, single_fault = self.sent[which % len(self.sent)]
        await self.both(lambda b: b.apply(batch), same_error=single_fault)
        await self.compare(batch.scope)

    @rule(
        scope=st.sampled_from((*SCOPES, STRANGER)),
        where=strategies.FILTERS,
        order=pick("recorded", "occurred", "importance", "accessed"),
        descending=st.booleans(),
        limit=st.integers(0, 4),
    )
    @run_to_end
    async def list_pages(self, scope: Scope, where: Filter, order: Any, descending: bool, limit: int) -> None:
        await self.both(lambda b: pages(b, scope, where, order, descending, limit))
        await self.both(lambda b: b.matching(scope, where))

    @rule(scope=st.sampled_from(SCOPES), id=strategies.IDENTITY, after=st.integers(0, 10), limit=st.integers(1, 5))
    @run_to_end
    async def look_back(self, scope: Scope, id: str, after: int, limit: int) -> None:
        await self.both(lambda b: b.journal(scope, after=after, limit=limit))
        await self.both(lambda b: b.journal(scope, memory_id=id, limit=limit))
        await self.both(lambda b: b.journal(scope, operation="op1", after=after))
        await self.both(lambda b: b.links(scope, [id], relation="next", direction="out", limit=limit))
        await self.both(lambda b: b.links(scope, [id], relation=None, direction="in", limit=limit))

    @rule(
        step=pick("declare", "begin", "begin", "embed", "embed all", "activate", "activate"),
        space=st.sampled_from(SPACES),
        stray=strategies.WILD,
    )
    @run_to_end
    async def change_space(self, step: str, space: Space, stray: bool) -> None:
        """One step on the way from a space to another; a stray one may be about a space that is not being built."""
        built = space if stray else self.model.snapshot().building or space
        match step:
            case "declare":
                await self.both(lambda b: b.declare_space(space))
            case "begin":
                await self.both(lambda b: b.begin_space(space))
            case "activate":
                await self.both(lambda b: b.activate_space(built))
            case _:
                await self.embed(built, 1 if step == "embed" else 100)
        await self.both(lambda b: b.space())
        await self.compare(AGENT)

    async def embed(self, space: Space, limit: int) -> None:
        """Both get vectors for the same memories, those which the backend calls missing."""
        missing = await self.both(lambda b: missing_vectors_of(b, space))
        if missing is not None:
            rows = [
                (Scope(tenant=t, agent=a, all_users=True), id, text, vector(text, space))
                for t, a, id, text in missing[:limit]
            ]
            await self.both(lambda b: b.put_vectors(space, rows))
            await self.both(lambda b: missing_vectors_of(b, space))

    @rule(space=st.sampled_from(SPACES))
    @run_to_end
    async def move(self, space: Space) -> None:
        """The whole way to another space."""
        await self.both(lambda b: b.begin_space(space))
        await self.embed(space, 100)
        await self.both(lambda b: b.activate_space(space))
        await self.compare(AGENT)

    @rule()
    @run_to_end
    async def reopen(self) -> None:
        self.backend = await self.host.again(self.backend)
        self.model = await InmemBackend.open(self.model.snapshot())
        await self.both(scopes)


async def _outcome(call: Callable[[Any], Awaitable[Any]], backend: Any) -> Any:
    try:
        return await call(backend)
    except LongmindError as error:
        return error


# -- answers in a form in which they can be compared -------------------------------------------------------------------


async def scopes(backend: Backend) -> set[str]:
    return {str(scope) for scope in await backend.scopes()}


async def comparable_feed(backend: Backend, scope: Scope, after: int) -> Any:
    """A feed in one piece and in an order; its times to a tenth of a millisecond, since they are floats."""
    chunks: list[Feed] = [chunk async for chunk in backend.feed(scope, after)]
    rows = [row for chunk in chunks for row in chunk.rows]
    times = ("occurred_at", "recorded_at", "valid_from", "valid_to", "expires_at")
    for row in rows:
        for name in times:
            moment = getattr(row, name)
            setattr(row, name, None if moment is None else f"{moment:.4f}")
    ordered = rows if after == 0 else sorted(rows, key=lambda row: row.id)
    return chunks[0].head, ordered, sorted(id for chunk in chunks for id in chunk.gone)


async def pages(
    backend: Backend, scope: Scope, where: Filter, order: Any, descending: bool, limit: int
) -> list[list[str]]:
    """The ids of a listing, page by page."""
    ids: list[list[str]] = []
    cursor: str | None = None
    while not ids or cursor is not None:
        page = await backend.scan(scope, where, order=order, descending=descending, limit=limit, cursor=cursor)
        ids.append([m.id for m in page.items])
        cursor = page.cursor
    return ids


async def missing_vectors_of(backend: Any, space: Space) -> list[tuple[str, str, str, str]]:
    missing = await backend.missing_vectors(space, 1_000)
    return sorted((scope.tenant, scope.agent, id, text) for scope, id, text in missing)


def comparable(value: Any) -> Any:
    """An answer as something that tells true from 1 when compared."""
    if isinstance(value, list | tuple):
        return [comparable(item) for item in value]
    if hasattr(value, "model_dump"):
        return json.dumps(value.model_dump(mode="json", exclude={"cursor"}), sort_keys=True)
    if hasattr(value, "memories"):
        return [value.operation, comparable(value.memories), value.created, value.replayed]
    return value
