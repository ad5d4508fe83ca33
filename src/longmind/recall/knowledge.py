"""What of the hits is knowledge: a question is none, nor is a reply that tells nothing."""

from __future__ import annotations

from collections.abc import Sequence

from longmind.store.search.columns import NONE
from longmind.store.store import Store
from longmind.text.replies import only_asks, tells_nothing
from longmind.types import Hit, Memory, Scope

QUESTION = 0.3
"""The weight of a user's message that only asks, in a context."""
REPLY = 0.4
"""The weight of what an assistant said: most of it answers a question of that day, and is no memory of the user."""


async def without_empty_replies(store: Store, scope: Scope, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits without replies that say that nothing is known, or only repeat what they reply to."""
    replies = [hit.memory for hit in hits if _is_reply(hit.memory)]
    if not replies:
        return list(hits)
    view = await store.view(scope)
    before: dict[str, str] = {}
    for reply in replies:
        row = view.row_of(reply.id)
        previous = NONE if row is None else int(view.column("before")[row])
        if previous != NONE:
            before[reply.id] = view.ids[previous]
    known = {hit.memory.id: hit.memory for hit in hits}
    missing = [id for id in before.values() if id not in known]
    known |= {memory.id: memory for memory in (await store.get_all(scope, missing) if missing else [])}
    empty = {
        reply.id
        for reply in replies
        if tells_nothing(reply.content, known[before[reply.id]].content if before.get(reply.id) in known else "")
    }
    return [hit for hit in hits if hit.memory.id not in empty]


def statements_first(hits: Sequence[Hit], *, asks_assistant: bool) -> list[Hit]:
    """Return the hits with questions and replies weighed less; replies not, if the task asks for what was replied."""
    weighed: list[tuple[float, Hit]] = []
    for hit in hits:
        weight = 1.0
        if _is_reply(hit.memory):
            weight = 1.0 if asks_assistant else REPLY
        elif hit.memory.kind == "message" and only_asks(hit.memory.content):
            weight = QUESTION
        weighed.append((weight * hit.fit, hit if weight == 1.0 else _lowered(hit, weight)))
    return [hit for _, hit in sorted(weighed, key=lambda pair: -pair[0])]


def _lowered(hit: Hit, weight: float) -> Hit:
    return hit.model_copy(update={"score": hit.score * weight})


def _is_reply(memory: Memory) -> bool:
    return memory.kind == "message" and memory.source.role == "assistant"
