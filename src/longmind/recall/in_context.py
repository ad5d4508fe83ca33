"""What a reranker reads of memories: each with who said it, and what was said before and after it.

A reranker keeps what it has read by these texts, so recall and ``read_ahead`` make them here, in one way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longmind.kinds import SAID
from longmind.models.rerank_small import TextInContext
from longmind.store.search.columns import NONE
from longmind.store.search.view import View
from longmind.store.store import Store
from longmind.types import Memory, Scope


def ids_beside(view: View, id: str) -> tuple[str | None, str | None]:
    """Return the ids of what was said before and after a memory in its session, or in its document."""
    row = view.row_of(id)
    if row is None:
        return None, None
    before, after = (int(view.column(side)[row]) for side in ("before", "after"))
    return None if before == NONE else view.ids[before], None if after == NONE else view.ids[after]


async def texts_in_context(
    store: Store, scope: Scope, view: View, ids: Sequence[str], known: Mapping[str, Memory]
) -> dict[str, TextInContext]:
    """Return the texts of memories by id; what is not ``known`` is read in one query, and left out if it is gone."""
    beside = {id: ids_beside(view, id) for id in ids}
    wanted = {each for id, sides in beside.items() for each in (id, *sides) if each is not None}
    memories = dict(known)
    if missing := sorted(wanted - known.keys()):
        memories |= {memory.id: memory for memory in await store.get_all(scope, missing)}
    texts = {id: _spoken(memory) for id, memory in memories.items() if id in wanted}
    return {
        id: TextInContext(texts[id], *("" if side is None else texts.get(side, "") for side in sides))
        for id, sides in beside.items()
        if id in texts
    }


def _spoken(memory: Memory) -> str:
    """Return a memory's content after the name of who said it, as the reranker has learnt to read it."""
    speaker = memory.source.name or (memory.source.role if memory.kind in SAID else None)
    return f"{speaker}: {memory.content}" if speaker else memory.content
