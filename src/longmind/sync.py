"""The same verbs, blocking: for scripts, notebooks and threads.

    from longmind.sync import Longmind

    with Longmind.open() as rc:
        mem = rc.agent("assistant", user="alice")
        mem.remember("I moved to Lisbon in May.")

An event loop in a thread of its own does the work; every method here waits for it and may be called from any thread.
There is no second implementation: each method is the asynchronous one, awaited elsewhere. The rooms (``mem.working``,
``mem.episodic`` and so on) are made from the asynchronous classes when first used: what is awaited there blocks here,
``async for`` is ``for``, ``async with`` is ``with``, and all else is the same. To a type checker their methods are
``Any``; ``help(mem.episodic)`` shows signatures and documentation.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from types import FunctionType, TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from longmind import memory as asynchronous
from longmind.errors import InvalidInput, StoreUnavailable
from longmind.types import Scope

if TYPE_CHECKING:
    from longmind.clock import Clock
    from longmind.config import Settings
    from longmind.models.base import Embedder
    from longmind.recall.rerank import Reranker
    from longmind.systems.procedural import ToolRegistry

P = ParamSpec("P")
R = TypeVar("R")


class _Loop:
    """An event loop in a daemon thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._ending: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, name="longmind", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        if not self.running:
            work.close()
            raise StoreUnavailable("The store is closed.")
        if threading.current_thread() is self._thread:
            work.close()
            raise InvalidInput(
                "A blocking call was made from within the work that it would wait for.",
                hint="There, use the asynchronous face: `from longmind import Longmind`.",
            )
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def end(self, items: AsyncGenerator[Any, Any]) -> None:
        """End a generator that was left early. One that is thrown away may be so in any thread, also in the loop's."""

        async def close() -> None:
            await items.aclose()

        if threading.current_thread() is self._thread:
            self._ending.add(task := self._loop.create_task(close()))
            task.add_done_callback(self._ending.discard)
        elif self.running:
            self.run(close())

    def stop(self) -> None:
        if self.running:
            self.run(self._loop.shutdown_asyncgens())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


class _Face:
    """What is behind: the loop that does the work, and the asynchronous object it is done on."""

    _loop: _Loop
    _behind: Any


class Blocking(_Face):
    """A blocking face of an asynchronous object: each class of these gets a subclass with its methods."""

    def __init__(self, loop: _Loop, behind: Any) -> None:
        self._loop = loop
        self._behind = behind

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return _faced(self._loop, getattr(self._behind, name))

    def __repr__(self) -> str:
        return f"<blocking {self._behind!r}>"


def _blocking(verb: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]) -> Callable[Concatenate[Any, P], R]:
    """An asynchronous method as a blocking one, with the same signature and documentation."""

    @functools.wraps(verb)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        loop: _Loop = self._loop
        return loop.run(verb(self._behind, *args, **kwargs))

    return call


_FACES: dict[type, type[Blocking]] = {}


def _each(loop: _Loop, items: AsyncIterator[R]) -> Iterator[R]:
    """What an asynchronous iterator gives. Leaving early ends it, unless closing the store has done so already."""

    async def following() -> R:
        return await anext(items)

    try:
        while True:
            try:
                found = loop.run(following())
            except StopAsyncIteration:
                return
            yield found
    finally:
        if inspect.isasyncgen(items):
            loop.end(items)


def _iterating(verb: Callable[..., AsyncIterator[R]]) -> Callable[..., Iterator[R]]:
    """An asynchronous generator method as a plain one."""

    @functools.wraps(verb)
    def call(self: Any, /, *args: Any, **kwargs: Any) -> Iterator[R]:
        return _each(self._loop, verb(self._behind, *args, **kwargs))

    return call


def _entering(verb: Callable[..., AbstractAsyncContextManager[Any]]) -> Callable[..., Any]:
    """A method for ``async with`` as one for ``with``."""

    @functools.wraps(verb)
    @contextmanager
    def call(self: Any, /, *args: Any, **kwargs: Any) -> Iterator[Any]:
        loop: _Loop = self._loop
        manager = verb(self._behind, *args, **kwargs)

        async def enter() -> Any:
            return await manager.__aenter__()

        async def leave(*error: Any) -> bool | None:
            return await manager.__aexit__(*error)

        entered = loop.run(enter())
        try:
            yield _faced(loop, entered)
        except BaseException as error:
            if not loop.run(leave(type(error), error, error.__traceback__)):
                raise
        else:
            loop.run(leave(None, None, None))

    return call


def _straight(verb: Callable[..., Any]) -> Callable[..., Any]:
    """A method that does not wait itself. What it hands out may still be there to wait for."""

    @functools.wraps(verb)
    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        made = verb(self._behind, *args, **kwargs)
        if inspect.iscoroutine(made):
            return self._loop.run(made)
        return _each(self._loop, made) if inspect.isasyncgen(made) else made

    return call


def _faced(loop: _Loop, value: Any) -> Any:
    """The blocking face of an object that has something to await, and any other as it is."""
    own = type(value).__module__.startswith("longmind.")
    return _face_of(type(value))(loop, value) if own and _waits(type(value)) else value


def _waits(kind: type) -> bool:
    return any(
        inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(inspect.unwrap(method))
        for method in _methods(kind).values()
    )


def _methods(kind: type) -> dict[str, Callable[..., Any]]:
    """The public methods of a class, those it inherits too."""
    found = {name: inspect.getattr_static(kind, name) for name in dir(kind) if not name.startswith("_")}
    return {name: method for name, method in found.items() if isinstance(method, FunctionType)}


def _face_of(kind: type) -> type[Blocking]:
    """The blocking twin of a class, made once: each public method with the same signature and documentation."""
    if kind in _FACES:
        return _FACES[kind]
    twins: dict[str, Any] = {"__doc__": kind.__doc__, "__module__": __name__}
    for name, method in _methods(kind).items():
        if inspect.iscoroutinefunction(method):
            twins[name] = _blocking(method)
        elif inspect.isasyncgenfunction(method):
            twins[name] = _iterating(method)
        elif inspect.isasyncgenfunction(inspect.unwrap(method)):
            twins[name] = _entering(method)
        else:
            twins[name] = _straight(method)
    return _FACES.setdefault(kind, type(kind.__name__, (Blocking,), twins))


def _scoped(name: str, doc: str) -> Any:
    """A room of an agent as a property: its blocking face, the same each time it is asked for."""

    def scoped(self: AgentMemory) -> Blocking:
        if name not in self._rooms:
            self._rooms[name] = _faced(self._loop, getattr(self._behind, name))
        return self._rooms[name]

    return property(scoped, doc=doc)


class Longmind(_Face):
    """A store that is open; see ``longmind.Longmind``."""

    def __init__(self, behind: asynchronous.Longmind) -> None:
        self._behind = behind
        self._loop = _Loop()
        try:
            self._loop.run(behind.__aenter__())
        except BaseException:
            self._loop.stop()
            raise

    @classmethod
    def open(
        cls,
        url: str | None = None,
        *,
        embedder: Embedder | str | None = None,
        tenant: str | None = None,
        settings: Settings | None = None,
        clock: Clock | None = None,
        reranker: Reranker | None = None,
    ) -> Longmind:
        """Open a store by its URL; see ``longmind.Longmind.open``."""
        return cls(
            asynchronous.Longmind.open(
                url, embedder=embedder, tenant=tenant, settings=settings, clock=clock, reranker=reranker
            )
        )

    def __enter__(self) -> Longmind:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write what is still to be written and let go of the store. Closing twice does nothing more."""
        if not self._loop.running:
            return
        try:
            self._loop.run(self._behind.close())
        finally:
            self._loop.stop()

    def agent(self, name: str, user: str | None = None, *, tenant: str | None = None) -> AgentMemory:
        """All that an agent knows; with a user, what it knows with this user."""
        return AgentMemory(self._loop, self._behind.agent(name, user, tenant=tenant))

    def register(self, policy: Any) -> None:
        """Let a recall policy of yours take part, for every agent."""
        self._behind.register(policy)

    def export(self, scopes: Sequence[Scope] | None = None) -> Iterator[str]:
        """The lines of an export: of these scopes, or of every agent of the tenant."""
        return _each(self._loop, self._behind.export(scopes))

    @property
    def tools(self) -> ToolRegistry:
        """The functions that procedures may call, by name. They belong to this process and are never stored."""
        found: ToolRegistry = self._behind.tools
        return found

    @property
    def tool(self) -> Callable[..., Any]:
        """Register a function that procedures may call: ``@rc.tool``; its schema comes from its type hints."""
        return self.tools.tool

    agents = _blocking(asynchronous.Longmind.agents)
    reembed = _blocking(asynchronous.Longmind.reembed)
    check = _blocking(asynchronous.Longmind.check)
    load = _blocking(asynchronous.Longmind.load)


class AgentMemory(_Face):
    """What one agent knows; see ``longmind.AgentMemory``."""

    def __init__(self, loop: _Loop, behind: asynchronous.AgentMemory) -> None:
        self._loop = loop
        self._behind = behind
        self._rooms: dict[str, Blocking] = {}

    working = _scoped("working", "What is on the agent's mind now: few things, ranked by attention.")
    episodic = _scoped("episodic", "What happened: episodes of events, their replay, and the lessons in them.")
    semantic = _scoped(
        "semantic", "What is known: concepts, facts with their validity in time, and the graph they make."
    )
    procedural = _scoped("procedural", "How to do things: procedures that run, resume, keep their versions and learn.")
    goals = _scoped("goals", "What is wanted and the way there: goals with criteria and evidence, plans, and progress.")
    dialogue = _scoped("dialogue", "What was said: the last pages, what came before by topic, and what of it is hot.")
    persona = _scoped("persona", "Who they are: traits and knowledge of the user and the agent, with evidence.")
    shared = _scoped("shared", "What many agents of the tenant learnt, approved, and without what is personal.")
    manager = _scoped("manager", "All of these under one manager, with the systems you register.")

    @property
    def scope(self) -> Scope:
        """Whose memories these are."""
        found: Scope = self._behind.scope
        return found

    def conversation(self, id: str, *, window: int = 20) -> Blocking:
        """One conversation with its history, its summary, and what memory adds; ``window`` messages are told whole."""
        faced: Blocking = _faced(self._loop, self._behind.conversation(id, window=window))
        return faced

    remember = _blocking(asynchronous.AgentMemory.remember)
    recall = _blocking(asynchronous.AgentMemory.recall)
    context = _blocking(asynchronous.AgentMemory.context)
    forget = _blocking(asynchronous.AgentMemory.forget)
    consolidate = _blocking(asynchronous.AgentMemory.consolidate)
    get = _blocking(asynchronous.AgentMemory.get)
    update = _blocking(asynchronous.AgentMemory.update)
    list = _blocking(asynchronous.AgentMemory.list)
    history = _blocking(asynchronous.AgentMemory.history)
    undo = _blocking(asynchronous.AgentMemory.undo)
    stats = _blocking(asynchronous.AgentMemory.stats)
    configuration = _blocking(asynchronous.AgentMemory.configuration)
    configure = _blocking(asynchronous.AgentMemory.configure)
