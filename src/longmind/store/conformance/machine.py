"""Random operations on a backend and on the in-memory specification: both must always answer alike.

After every step what the scope of that step sees is compared, and at the end everything is. Closing and opening again
is one of the steps. Needs hypothesis; run it with ``run_state_machine_as_test(lambda: StoreMachine(host))``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Protocol

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from longmind.errors import LongmindError, OperationMismatch
from longmind.store.base import AddLink, Backend, Batch, Put, Space, Write
from longmind.store.conformance import draws
from longmind.store.conformance.aiming import Aim, vector, with_vector
from longmind.store.conformance.draws import (
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
    Asked,
    pick,
)
from longmind.store.conformance.readings import everything_missing, pages, plain, scopes, whole_feed
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


def in_one_run(step: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A step that waits for things, as one that the machine can call. A run of the event loop has its price."""

    @wraps(step)
    def waiting(machine: StoreMachine, *args: Any, **kwargs: Any) -> None:
        machine.runner.run(step(machine, *args, **kwargs))

    return waiting


class StoreMachine(RuleBasedStateMachine):
    """Does everything twice and compares."""

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

    @in_one_run
    async def compare_all(self) -> None:
        for scope in (*SCOPES, STRANGER):
            await self.compare(scope)

    # -- doing the same to both ------------------------------------------------------------------------------------

    async def both(self, call: Callable[[Any], Awaitable[Any]], *, same_error: bool = True) -> Any:
        """Do something to the specification and to the backend, and compare what they answer or refuse."""
        expected, told = await _outcome(call, self.model), await _outcome(call, self.backend)
        if isinstance(expected, LongmindError) or isinstance(told, LongmindError):
            assert isinstance(expected, LongmindError), f"only the backend refused: {told!r}"
            assert isinstance(told, LongmindError), f"only the specification refused: {expected!r}"
            # A batch under a used operation id may have another fault as well, and either may be told.
            if same_error and not isinstance(expected, OperationMismatch):
                assert type(told) is type(expected)
            return None
        assert plain(told) == plain(expected)
        return expected

    async def compare(self, scope: Scope, after: int = 0) -> None:
        """Everything a scope sees, by every method that reads."""
        await self.both(lambda b: b.head(scope))
        await self.both(lambda b: b.stats(scope))
        await self.both(lambda b: b.get(scope, IDS))
        await self.both(lambda b: b.scan(scope, ANY, limit=1_000))
        await self.both(lambda b: b.links(scope, IDS, relation=None, direction="both", limit=100))
        await self.both(lambda b: b.journal(scope, limit=1_000))
        await self.both(lambda b: whole_feed(b, scope, 0))
        await self.both(lambda b: whole_feed(b, scope, after))

    # -- the rules ---------------------------------------------------------------------------------------------------

    @initialize(spaces=pick(2, 1, 1, 0))
    @in_one_run
    async def begin(self, spaces: int) -> None:
        """Some memories of everybody, linked, so that there is something to collide with."""
        if spaces > 0:
            await self.both(lambda b: b.declare_space(SPACES[0]))
        if spaces > 1:
            await self.both(lambda b: b.begin_space(SPACES[1]))
        owners = (AGENT, ALICE, BOB, AGENT)
        new: list[Write] = [Put(memory(f"walk {n}", scope=owner, id=IDS[n], **THEN)) for n, owner in enumerate(owners)]
        links: list[Write] = [AddLink(Link(source=IDS[n], relation="next", target=IDS[(n + 1) % 4])) for n in range(4)]
        await self.make(AGENT, [Asked(write, True, "right") for write in (*new, *links)])
        await self.make(
            OTHER, [Asked(Put(memory("twin", scope=OTHER, id=IDS[n], key=f"k{n}", **THEN)), True) for n in (1, 2)]
        )

    async def make(self, scope: Scope, asked: list[Asked], how: Any = ("free", False), why: Any = ("user", "")) -> None:
        """Send one batch to both."""
        space = await self.model.space()
        aim = await Aim.at(self.model, scope)
        made = tuple(with_vector(one.write if one.wild else aim.aimed(one.write), one.fit, space) for one in asked)
        batch = Batch(scope, how[0], NOON, made, why[0], why[1], idempotent=how[1])
        # With several faults in one batch, which of them is told is not part of the contract.
        one_fault = len(made) == 1 and asked[0].fit != "wrong"
        await self.both(lambda b: b.apply(batch), same_error=one_fault)
        if batch.idempotent:
            # Sent again, a vector may be of a space that is left by then: a second fault.
            self.sent.append((batch, one_fault and asked[0].fit == "none"))
        head = (await self.model.head(scope)).seq
        await self.compare(scope, max(0, head - 3))

    @rule(asked=draws.in_scope(draws.puts), how=draws.OPERATIONS, why=draws.WHY)
    @in_one_run
    async def put(self, asked: tuple[Scope, Asked], how: Any, why: Any) -> None:
        await self.make(asked[0], [asked[1]], how, why)

    @rule(scope=draws.SCOPE, asked=draws.updates(), how=draws.OPERATIONS)
    @in_one_run
    async def update(self, scope: Scope, asked: Asked, how: Any) -> None:
        await self.make(scope, [asked], how)

    @rule(scope=draws.SCOPE, asked=draws.deletes(), how=draws.OPERATIONS)
    @in_one_run
    async def delete(self, scope: Scope, asked: Asked, how: Any) -> None:
        await self.make(scope, [asked], how)

    @rule(scope=draws.SCOPE, asked=draws.edges(), how=draws.OPERATIONS)
    @in_one_run
    async def link(self, scope: Scope, asked: Asked, how: Any) -> None:
        await self.make(scope, [asked], how)

    @rule(scope=draws.SCOPE, asked=draws.touches())
    @in_one_run
    async def touch(self, scope: Scope, asked: Asked) -> None:
        await self.make(scope, [asked])

    @rule(asked=draws.in_scope(draws.mixtures), how=draws.OPERATIONS, why=draws.WHY)
    @in_one_run
    async def write_together(self, asked: tuple[Scope, list[Asked]], how: Any, why: Any) -> None:
        await self.make(*asked, how, why)

    @precondition(lambda self: self.sent)
    @rule(which=st.integers(0, 20))
    @in_one_run
    async def repeat(self, which: int) -> None:
        batch, one_fault = self.sent[which % len(self.sent)]
        await self.both(lambda b: b.apply(batch), same_error=one_fault)
        await self.compare(batch.scope)

    @rule(
        scope=st.sampled_from((*SCOPES, STRANGER)),
        where=draws.FILTERS,
        order=pick("recorded", "occurred", "importance", "accessed"),
        descending=st.booleans(),
        limit=st.integers(0, 4),
    )
    @in_one_run
    async def list_pages(self, scope: Scope, where: Filter, order: Any, descending: bool, limit: int) -> None:
        await self.both(lambda b: pages(b, scope, where, order, descending, limit))
        await self.both(lambda b: b.matching(scope, where))

    @rule(scope=st.sampled_from(SCOPES), id=draws.IDENTITY, after=st.integers(0, 10), limit=st.integers(1, 5))
    @in_one_run
    async def look_back(self, scope: Scope, id: str, after: int, limit: int) -> None:
        await self.both(lambda b: b.journal(scope, after=after, limit=limit))
        await self.both(lambda b: b.journal(scope, memory_id=id, limit=limit))
        await self.both(lambda b: b.journal(scope, operation="op1", after=after))
        await self.both(lambda b: b.links(scope, [id], relation="next", direction="out", limit=limit))
        await self.both(lambda b: b.links(scope, [id], relation=None, direction="in", limit=limit))

    @rule(
        step=pick("declare", "begin", "begin", "embed", "embed all", "activate", "activate"),
        space=st.sampled_from(SPACES),
        stray=draws.WILD,
    )
    @in_one_run
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
        missing = await self.both(lambda b: everything_missing(b, space))
        if missing is not None:
            rows = [(Scope(tenant=t, agent=a), id, text, vector(text, space)) for t, a, id, text in missing[:limit]]
            await self.both(lambda b: b.put_vectors(space, rows))
            await self.both(lambda b: everything_missing(b, space))

    @rule(space=st.sampled_from(SPACES))
    @in_one_run
    async def move(self, space: Space) -> None:
        """The whole way to another space."""
        await self.both(lambda b: b.begin_space(space))
        await self.embed(space, 100)
        await self.both(lambda b: b.activate_space(space))
        await self.compare(AGENT)

    @rule()
    @in_one_run
    async def reopen(self) -> None:
        self.backend = await self.host.again(self.backend)
        self.model = await InmemBackend.open(self.model.snapshot())
        await self.both(scopes)


async def _outcome(call: Callable[[Any], Awaitable[Any]], backend: Any) -> Any:
    try:
        return await call(backend)
    except LongmindError as error:
        return error
