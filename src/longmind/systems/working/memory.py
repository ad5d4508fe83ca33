"""``WorkingMemory``: what an agent has in mind now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, overload

from longmind.arguments import checked_arguments
from longmind.errors import InvalidInput, NotFound
from longmind.systems import configuration
from longmind.systems.episodic import EventDraft
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.systems.working import attention, fitting, rendering
from longmind.systems.working.models import (
    ConversationState,
    Evicted,
    Item,
    Placed,
    Slot,
    SlotBody,
    Sort,
    StateBody,
    Task,
    WorkingContext,
    WorkingLimits,
)
from longmind.systems.working.state import Tokens, WorkingState, last_event, new_item, read, session_items
from longmind.tokens import estimate
from longmind.types import TRUST, Json, Memory, Model, Name, Role, Source

_LINE = 2_000


class _Session(Model):
    id: Name


@checked_arguments
class WorkingMemory:
    """Slots for what matters now, a focus, a task with its variables, and the state of the conversation.

    ``items`` and ``tokens`` set the limits permanently, from the next change on. Without them the stored limits apply,
    by default 7 slots and 2,000 tokens. ``tokens_of`` counts the tokens of a text; the default is an estimate. With
    ``chunking=False`` items never share a slot by themselves.

    Without a ``session`` it holds what is in mind in all sessions of the user. With one it holds what is in mind in
    that session alone, in slots of its own, and shows the items for all sessions beside them.
    """

    def __init__(
        self,
        scoped: ScopedStore,
        *,
        items: int | None = None,
        tokens: int | None = None,
        chunking: bool = True,
        tokens_of: Tokens = estimate,
        session: str | None = None,
    ) -> None:
        self._scoped = scoped
        self._session = None if session is None else validated(_Session, {"id": session}).id
        self._chunking = chunking
        self._tokens_of = tokens_of
        limits = {"items": items, "tokens": tokens}
        self._limits = {name: value for name, value in limits.items() if value is not None}
        validated(WorkingLimits, self._limits)

    def session(self, id: str) -> WorkingMemory:
        """Return the working memory of one session: slots of its own, beside what is in mind in all sessions."""
        return WorkingMemory(self._scoped, chunking=self._chunking, tokens_of=self._tokens_of, session=id)

    # -- items ---------------------------------------------------------------------------------------------------

    async def put(
        self,
        key: str,
        content: str,
        importance: float = 0.5,
        source: Source | str | None = None,
    ) -> Placed:
        """Put an item under a key, replacing what is stored under it.

        If it does not fit, related items are first joined into chunks, and then the least attended items move to
        episodic memory. The new item stays, whatever its importance.
        """
        if not content.strip():
            raise InvalidInput("There is nothing to have in mind: the content is empty.")
        said_by = source if isinstance(source, Source) else validated(Source, {"role": "assistant", "name": source})
        fields = {"importance": importance, "source": said_by, "trust": TRUST[said_by.role]}

        async def place() -> Placed:
            return await self._place(await self._read(), key, content, fields)

        return await retry_on_conflict(place)

    async def fetch(self, key: str) -> Placed:
        """Bring back an item that was evicted; others are evicted if it does not fit.

        An item that is present is attended to.
        """

        async def bring() -> Placed:
            state = await self._read()
            if (present := state.find(key)) is not None:
                await self._scoped.store.touch(self._scoped.scope, [present.id])
                return Placed(item=self._item(present, _chunk_of(state, present.id), state.now))
            event = await last_event(state, key)
            if event is None:
                raise NotFound(
                    f"Working memory never held {key!r}, or it was forgotten.",
                    hint="`items()`, or `longmind working list`, tells what is there; keys count exactly.",
                    key=key,
                )
            fields = {"importance": event.importance, "source": event.source, "trust": event.trust}
            return await self._place(state, key, event.content, fields, origin=event.id)

        return await retry_on_conflict(bring)

    async def release(self, key: str) -> Evicted:
        """Remove an item; episodic memory keeps it."""

        async def go() -> Evicted:
            state = await self._read()
            item = state.find(key)
            if item is None:
                raise NotFound(
                    f"There is no {key!r} in working memory.",
                    hint="`items()`, or `longmind working list`, tells what is there.",
                    key=key,
                )
            state.remove([item.id], "released")
            return (await self._fit_and_write(state, "released"))[0]

        return await retry_on_conflict(go)

    async def clear(self) -> tuple[Evicted, ...]:
        """Remove all items; episodic memory keeps them. The focus, the task and the conversation stay."""

        async def go() -> tuple[Evicted, ...]:
            state = await self._read()
            state.remove(list(state.items), "released")
            return await self._fit_and_write(state, "cleared") if state.leaving else ()

        return await retry_on_conflict(go)

    async def item(self, key: str) -> Item | None:
        """Return the item with a key, or None. Unlike ``attend`` this does not count as attention."""
        return next((item for item in await self.items() if item.key == key), None)

    async def items(self, sort: Sort = "attention") -> tuple[Item, ...]:
        """Return all items, sorted by ``importance``, ``recency`` or ``attention``, the highest first.

        Those of sessions, such as what a run has in mind now, are among them; ``item.session`` says which.
        """
        orders: dict[str, Callable[[Item], Any]] = {
            "importance": lambda item: (-item.importance, -item.attended_at.timestamp(), item.id),
            "recency": lambda item: (-item.attended_at.timestamp(), -item.importance, item.id),
            "attention": lambda item: (-item.attention, -item.attended_at.timestamp(), item.id),
        }
        if sort not in orders:
            raise InvalidInput(f"Items cannot be sorted by {sort!r}.", hint=f"There are: {', '.join(orders)}.")
        states = await self._states()
        items = await self._score_items(states, _focus_of(states))
        if self._session is None:
            now = self._scoped.now()
            items += [self._item(record, None, now) for record in await session_items(self._scoped)]
        return tuple(sorted(items, key=orders[sort]))

    async def slots(self) -> tuple[Slot, ...]:
        """Return the slots in use, the most attended first."""
        return (await self._context()).slots

    async def chunk(self) -> int:
        """Join all closely related items into chunks; return how many slots that freed."""

        async def join() -> int:
            state = await self._read()
            freed = await fitting.chunk(self._scoped, state)
            if freed:
                await self._fit_and_write(state, "chunked")
            return freed

        return await retry_on_conflict(join)

    async def resize(self, *, items: int | None = None, tokens: int | None = None) -> tuple[Evicted, ...]:
        """Change the limits permanently and apply them at once; return what was evicted."""
        limits = {"items": items, "tokens": tokens}
        changes = {name: value for name, value in limits.items() if value is not None}
        validated(WorkingLimits, changes)
        self._limits |= changes

        async def fit() -> tuple[Evicted, ...]:
            return await self._fit_and_write(await self._read(), "resized")

        return await retry_on_conflict(fit)

    # -- attention -----------------------------------------------------------------------------------------------

    async def focus(self, text: str | None) -> tuple[Item, ...]:
        """Set the focus to a text, or with None clear it; return the items ranked by the new focus."""
        await self._changed(lambda body: {"focus": (text or "").strip()}, "focus")
        return await self.items()

    async def attend(self, query: str | None = None, n: int = 3) -> tuple[Item, ...]:
        """Return the ``n`` items that matter most for a query, or else for the focus. They count as just used."""
        if n < 1:
            raise InvalidInput(f"n must be at least 1, not {n}.")
        states = await self._states()
        ranked = sorted(
            await self._score_items(states, _focus_of(states) if query is None else query),
            key=lambda i: (-i.attention, i.id),
        )
        chosen = tuple(ranked[:n])
        if chosen:
            await self._scoped.store.touch(self._scoped.scope, [item.id for item in chosen])
        return chosen

    @overload
    async def context(self, format: Literal["text"] = "text") -> str: ...

    @overload
    async def context(self, format: Literal["dict"]) -> Json: ...

    async def context(self, format: Literal["text", "dict"] = "text") -> str | Json:
        """Return everything in working memory, as text for a prompt, quoted as data, or as a dict."""
        if format not in ("text", "dict"):
            raise InvalidInput(f"There is no format {format!r}.", hint="There are: text, dict.")
        context = await self._context()
        return rendering.text(context) if format == "text" else context.model_dump(mode="json")

    # -- task and conversation -----------------------------------------------------------------------------------

    async def task(self) -> Task:
        """Return the current task with its variables."""
        return (await self._read()).body.task

    async def begin_task(self, name: str, *, goal: str = "", variables: Mapping[str, Any] | None = None) -> Task:
        """Begin a task with its own variables; those of the previous task move to episodic memory."""
        fields = {"name": name, "goal": goal, "variables": dict(variables or {}), "begun_at": self._scoped.now()}
        return await self._with_task(validated(Task, fields))

    async def end_task(self) -> Task:
        """End the task and return it; its variables move to episodic memory."""
        before = await self.task()
        await self._with_task(Task())
        return before

    async def set(self, name: str, value: Any) -> None:
        """Set a variable of the task."""
        await self._changed(lambda body: {"task": _with(body.task, {**body.task.variables, name: value})}, "variable")

    async def unset(self, name: str) -> None:
        """Remove a variable of the task; it may be missing."""
        await self._changed(
            lambda body: {"task": _with(body.task, {n: v for n, v in body.task.variables.items() if n != name})},
            "variable",
        )

    async def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a variable of the task, or the default."""
        return (await self.variables()).get(name, default)

    async def variables(self) -> Json:
        """Return the variables of the task."""
        return dict((await self.task()).variables)

    async def conversation(self) -> ConversationState:
        """Return the state of the conversation."""
        return (await self._read()).body.conversation

    async def converse(self, /, **changes: Any) -> ConversationState:
        """Change fields of the state of the conversation; see ``ConversationState``."""
        body = await self._changed(
            lambda body: {"conversation": validated(ConversationState, body.conversation.model_dump() | changes)},
            "conversation",
        )
        return body.conversation

    async def turn(self, role: Role, content: str) -> ConversationState:
        """Store the latest turn of the conversation. A long text is cut; dialogue memory keeps the whole."""
        last = {"user": "last_user", "assistant": "last_assistant"}.get(role)
        excerpt = {} if last is None else {last: content if len(content) <= _LINE else content[: _LINE - 1] + "…"}

        def noted(body: StateBody) -> dict[str, Any]:
            now = body.conversation
            return {"conversation": validated(ConversationState, now.model_dump() | excerpt | {"turns": now.turns + 1})}

        return (await self._changed(noted, "turn")).conversation

    # -- inside --------------------------------------------------------------------------------------------------

    async def _read(self) -> WorkingState:
        return await read(self._scoped, self._session)

    async def _states(self) -> list[WorkingState]:
        """Return the states whose items are in mind: that of the session, if it has one, and that of all sessions."""
        own = await self._read()
        return [own] if self._session is None else [own, await read(self._scoped)]

    async def _place(
        self, state: WorkingState, key: str, content: str, fields: Mapping[str, Any], origin: str | None = None
    ) -> Placed:
        limits = self._limits_of(state.body)
        needed = self._tokens_of(content)
        if needed > limits.tokens:
            raise InvalidInput(
                f"{key!r} has about {needed} tokens, and working memory has room for {limits.tokens}.",
                hint="Put in a shorter text and remember the whole elsewhere, or make more room.",
            )
        current = state.find(key)
        if current is None:
            item = new_item(state, key, content, origin, occurred_at=state.now, **fields)
            state.add(item)
        else:
            changes = {**fields, "source": fields["source"].model_dump(), "occurred_at": state.now}
            item = await state.change(current, {"content": content, **changes})
        left = await self._fit_and_write(state, "put", keep=item.id)
        return Placed(item=self._item(item, _chunk_of(state, item.id), state.now), evicted=left)

    async def _fit(self, state: WorkingState, limits: WorkingLimits, keep: str | None) -> None:
        if self._chunking and len(state.slots) > limits.items:
            await fitting.chunk(self._scoped, state, until=limits.items)
        if fitting.exceeds_limits(state, limits, self._tokens_of):
            items = await self._score_items([state], state.body.focus)
            fitting.evict(state, limits, self._tokens_of, {i.id: i.attention for i in items}, keep)

    async def _fit_and_write(self, state: WorkingState, reason: str, keep: str | None = None) -> tuple[Evicted, ...]:
        """Fit the state into its limits and write it."""
        await self._fit_into_limits(state, keep)
        return await state.write(f"working memory: {reason}")

    async def _fit_into_limits(self, state: WorkingState, keep: str | None) -> None:
        limits = self._limits_of(state.body)
        await self._fit(state, limits, keep)
        state.body = state.body.model_copy(update={"limits": state.body.limits.model_copy(update=self._limits)})

    async def _changed(self, change: Callable[[StateBody], Mapping[str, Any]], reason: str) -> StateBody:
        async def apply() -> StateBody:
            state = await self._read()
            state.body = validated(StateBody, state.body.model_dump() | dict(change(state.body)))
            await self._fit_and_write(state, reason)
            return state.body

        return await retry_on_conflict(apply)

    async def _with_task(self, task: Task) -> Task:
        async def apply() -> Task:
            state = await self._read()
            before = state.body.task
            if before.name or before.variables:
                state.notes.append(_task_note(before, state.now))
            state.body = state.body.model_copy(update={"task": task})
            await self._fit_and_write(state, "task")
            return task

        return await retry_on_conflict(apply)

    def _limits_of(self, body: StateBody) -> WorkingLimits:
        limits = configuration.with_defaults(self._scoped, "working", WorkingLimits())
        return limits.model_copy(update=body.limits.model_dump(exclude_none=True) | self._limits)

    async def _context(self) -> WorkingContext:
        states = await self._states()
        state = states[0]
        items = {item.id: item for item in await self._score_items(states, _focus_of(states))}
        slots = [self._slot(slot, items) for own in states for slot in own.slots]
        return WorkingContext(
            focus=_focus_of(states),
            task=state.body.task,
            conversation=state.body.conversation,
            slots=tuple(sorted(slots, key=lambda s: (-s.attention, s.items[0].id))),
            tokens=sum(slot.tokens for slot in slots),
            limits=self._limits_of(state.body),
        )

    def _slot(self, slot: SlotBody, items_by_id: Mapping[str, Item]) -> Slot:
        items = sorted((items_by_id[id] for id in slot.members), key=lambda i: (-i.attention, i.id))
        return Slot(
            label=slot.label or items[0].key,
            items=tuple(items),
            tokens=sum(item.tokens for item in items),
            attention=max(item.attention for item in items),
        )

    async def _score_items(self, states: Sequence[WorkingState], query: str) -> list[Item]:
        """Return the items of these states with their current scores; an empty query counts as none."""
        records = [(record, _chunk_of(state, record.id)) for state in states for record in state.items.values()]
        relevances: Iterable[float | None] = [None] * len(records)
        if query.strip() and records:
            relevances = await attention.score_relevance(self._scoped, query, [record.content for record, _ in records])
        now = self._scoped.now()
        return [
            self._item(record, chunk, now, relevance)
            for (record, chunk), relevance in zip(records, relevances, strict=True)
        ]

    def _item(self, record: Memory, chunk: str | None, now: datetime, relevance: float | None = None) -> Item:
        """Return an item with its scores. ``relevance`` is None if there is neither a focus nor a query."""
        attended = max(record.occurred_at, record.last_accessed_at or record.occurred_at)
        recent = attention.recency(now, attended)
        score = attention.score(record.importance, recent)
        return Item(
            id=record.id,
            key=record.body["key"],
            content=record.content,
            session=record.session,
            importance=record.importance,
            source=record.source,
            trust=record.trust,
            tokens=self._tokens_of(record.content),
            put_at=record.occurred_at,
            attended_at=attended,
            recency=recent,
            score=score,
            relevance=relevance or 0.0,
            attention=score if relevance is None else (score + relevance) / 2,
            chunk=chunk,
        )


def _chunk_of(state: WorkingState, id: str) -> str | None:
    """Return the label of the chunk that an item is in, if it shares its slot."""
    slot = next((slot for slot in state.slots if id in slot.members), None)
    return slot.label if slot is not None and len(slot.members) > 1 else None


def _focus_of(states: Sequence[WorkingState]) -> str:
    return next((state.body.focus for state in states if state.body.focus), "")


def _with(task: Task, variables: Mapping[str, Any]) -> Task:
    return validated(Task, task.model_dump() | {"variables": dict(variables)})


def _task_note(task: Task, now: datetime) -> EventDraft:
    data = {"task": task.name, "goal": task.goal, "variables": task.variables}
    return EventDraft(what=f"Task set aside: {task.name or 'without a name'}", type="task", at=now, data=data)
