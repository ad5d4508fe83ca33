"""The calls that an agent made in an episode, in order.

An event is a call when its data names a function: ``{"tool": "search", "args": {...}, "result": ...}``, with ``error``
in place of ``result`` when it failed. That is how an agent's loop records what it does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longmind.systems.scoped_store import ScopedStore
from longmind.types import Filter, Memory, Model

EPISODE, EVENT = "episode", "event"
_LOOKED_AT = 500
_CALLS = 200


class TracedCall(Model):
    """One call that succeeded."""

    tool: str
    args: Mapping[str, Any]
    result: Any = None


class Trace(Model):
    """The successful calls of one successful episode."""

    id: str
    title: str
    calls: tuple[TracedCall, ...]


async def load_traces(
    scoped: ScopedStore, task: str | None, episodes: Sequence[str] | None, *, limit: int, min_trust: float
) -> list[Trace]:
    """Load the traces of successful episodes: those given by id, those that match a task, or the latest."""
    traces: list[Trace] = []
    for memory in await _episodes(scoped, task, episodes, limit):
        if memory.kind != EPISODE or memory.body.get("outcome") != "succeeded" or memory.trust < min_trust:
            continue
        calls = await _calls(scoped, memory, min_trust)
        if calls:
            title = str(memory.body.get("title") or memory.content.partition("\n")[0])
            traces.append(Trace(id=memory.id, title=title, calls=calls))
        if len(traces) == limit:
            break
    return traces


async def _episodes(
    scoped: ScopedStore, task: str | None, episodes: Sequence[str] | None, limit: int
) -> Sequence[Memory]:
    if episodes is not None:
        return [await scoped.need(id, EPISODE) for id in dict.fromkeys(episodes)]
    if task is not None:
        return [hit.memory for hit in await scoped.search(task, k=4 * limit, kinds=(EPISODE,))]
    return (await scoped.page(EPISODE, limit=_LOOKED_AT, descending=True)).items


async def _calls(scoped: ScopedStore, episode: Memory, min_trust: float) -> tuple[TracedCall, ...]:
    where = Filter(kinds=(EVENT,), sessions=(episode.id,), states=None)
    page = await scoped.store.scan(scoped.scope, where, order="occurred", limit=_CALLS)
    calls: list[TracedCall] = []
    for event in page.items:
        data = event.body.get("data")
        if not isinstance(data, Mapping) or not isinstance(data.get("tool"), str) or event.trust < min_trust:
            continue
        args = data.get("args", {})
        if data.get("error") is None and isinstance(args, Mapping):
            calls.append(TracedCall(tool=data["tool"], args=args, result=data.get("result")))
    return tuple(calls)
