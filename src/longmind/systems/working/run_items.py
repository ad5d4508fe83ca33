"""What a run of an agent has in mind: its goal, its plan and its results, in the working memory of its session.

The texts of these items are recorded in the episode of the run. So they leave working memory without an event of their
own, are derived from the episode, and are erased with it.

What a run puts at its beginning, after an action and at its end is written in the batch that records it in episodic
memory: ``begin``, ``result`` and ``end`` return writes, and ``written`` takes over what the batch has stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from longmind.store.base import Receipt, Write
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict
from longmind.systems.working import attention
from longmind.systems.working.memory import WorkingMemory
from longmind.systems.working.models import Item, WorkingLimits
from longmind.systems.working.state import WorkingState, new_item
from longmind.tokens import estimate
from longmind.types import TRUST, Source

GOAL, PLAN, RESULT = "goal", "plan", "result"
_NAME = "run"
IMPORTANCE = {GOAL: 0.9, PLAN: 0.8, RESULT: 0.7}
"""How important the items of a run are."""
_LONGEST = 500


class RunItems(WorkingMemory):
    """The working memory of a session, as a run in it uses it."""

    def __init__(self, scoped: ScopedStore, session: str, episode: str) -> None:
        super().__init__(scoped, session=session, chunking=False)  # its results are short, and the last ones matter
        self._episode = episode
        self._latest: WorkingState | None = None
        """The state as it was last read or written. A change begins with it, and reads again if it is not current."""
        self._prepared: WorkingState | None = None
        """The state whose writes were returned last."""

    async def begin(self, goal: str, plan: str = "") -> list[Write]:
        """Return the writes that put the goal, and the plan if there is one; what a dead run left is removed."""

        def change(state: WorkingState) -> None:
            _remove_run_items(state)
            self._put(state, GOAL, goal, self._episode)
            if plan:
                self._put(state, PLAN, plan, self._episode)

        return await self._writes(change)

    async def plan(self, text: str) -> None:
        """Put what is to be done next, in place of what was."""

        async def attempt() -> None:
            writes = await self._writes(lambda state: self._put(state, PLAN, text, self._episode))
            self.written(await self._scoped.rewrite(writes, "working memory: run goes on"))

        await retry_on_conflict(attempt)

    async def result(self, number: int, text: str, event: str) -> list[Write]:
        """Return the writes that put the result of an action; ``event`` is the id of the event that records it."""
        return await self._writes(lambda state: self._put(state, f"{RESULT} {number}", text, event))

    async def attended(self, query: str) -> tuple[Item, ...]:
        """Return what is in mind for a query, the most attended first: as many items as there are slots.

        What was put by hand counts as just used. If all items fit, none has to be chosen, and their words alone decide
        the order; so an embedder is asked only when something is left out.
        """
        states = await self._states()
        self._latest = states[0]
        most = self._limits_of(states[0].body).items
        records = [(record, None) for state in states for record in state.items.values()]
        if len(records) <= most:
            words = attention.word_relevance(query, [record.content for record, _ in records])
            now = self._scoped.now()
            items = [self._item(record, chunk, now, fit) for (record, chunk), fit in zip(records, words, strict=True)]
        else:
            items = await self._score_items(states, query)
        ranked = sorted(items, key=lambda item: (-item.attention, item.id))[:most]
        by_hand = [item.id for item in ranked if not is_of_run(item)]
        if by_hand:
            await self._scoped.store.touch(self._scoped.scope, by_hand)
        return tuple(ranked)

    async def end(self) -> list[Write]:
        """Return the writes that remove the items of the run; what was put by hand stays."""
        return await self._writes(_remove_run_items)

    async def remove(self) -> None:
        """Remove the items of the run, in a write of their own."""

        async def attempt() -> None:
            self.written(await self._scoped.rewrite(await self.end(), "working memory: run ended"))

        await retry_on_conflict(attempt)

    async def _writes(self, change: Callable[[WorkingState], None]) -> list[Write]:
        """Return the writes of a change. They fail if the state has changed since; then ask for them again."""
        state, self._latest = self._latest or await self._read(), None
        state.now = self._scoped.now()
        change(state)
        await self._fit_into_limits(state, next(reversed(state.items), None))
        self._prepared = state
        return await state.batch()

    def written(self, receipt: Receipt) -> None:
        """Take over the state that the writes returned last have stored."""
        state, self._prepared = self._prepared, None
        if state is not None and not receipt.replayed:  # a repeated batch was written as another call prepared it
            state.written(receipt)
            self._latest = state if state.stored else None

    def _put(self, state: WorkingState, key: str, text: str, origin: str) -> None:
        fields: dict[str, Any] = {
            "importance": IMPORTANCE[key.partition(" ")[0]],
            "source": Source(role="assistant", name=_NAME),
            "trust": TRUST["assistant"],
            "occurred_at": state.now,
        }
        item = new_item(state, key, _shortened(text), origin, recorded=True, **fields)
        known = state.find(key)
        if known is None:
            state.add(item)
        else:
            state.replace(known, item)


def is_of_run(item: Item) -> bool:
    """Whether an item was put by a run, and not by hand."""
    return item.session is not None and item.source.name == _NAME


def items_of_run(
    goal: str, plan: str, results: Sequence[str], by_hand: Sequence[Item], at: datetime
) -> tuple[Item, ...]:
    """Return what a run has in mind after these results, for a replay: as ``attended`` returned it then."""
    texts = {GOAL: goal, PLAN: plan, **{f"{RESULT} {n}": text for n, text in enumerate(results, 1)}}
    slots = WorkingLimits().items
    kept = [key for key, text in texts.items() if text]
    kept = kept[:2] + kept[2:][-(slots - 2) :]
    contents = [_shortened(texts[key]) for key in kept]
    items = [
        _replayed(key, content, fit, at)
        for key, content, fit in zip(kept, contents, attention.word_relevance(goal, contents), strict=True)
    ]
    return tuple(sorted([*items, *by_hand], key=lambda item: -item.attention)[:slots])


def _replayed(key: str, content: str, relevance: float, at: datetime) -> Item:
    importance = IMPORTANCE[key.partition(" ")[0]]
    score = attention.score(importance, 1.0)
    return Item(
        id="",
        key=key,
        content=content,
        session="replay",
        importance=importance,
        source=Source(role="assistant", name=_NAME),
        trust=TRUST["assistant"],
        tokens=estimate(content),
        put_at=at,
        attended_at=at,
        recency=1.0,
        score=score,
        relevance=relevance,
        attention=(score + relevance) / 2,
    )


def _shortened(text: str) -> str:
    content = " ".join(text.split())
    return content if len(content) <= _LONGEST else content[: _LONGEST - 1] + "…"


def _remove_run_items(state: WorkingState) -> None:
    own = [id for id, item in state.items.items() if item.body.get("recorded") and item.source.name == _NAME]
    if own:
        state.remove(own, "released")
