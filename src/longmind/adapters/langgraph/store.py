"""``LongmindStore``: LangGraph's ``BaseStore`` over the values of an agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from datetime import timedelta
from typing import Any

from longmind.adapters.access import MemoryAccess
from longmind.adapters.langgraph.sweeping import Sweeper
from longmind.adapters.packages import framework
from longmind.errors import InvalidInput
from longmind.memory import Longmind
from longmind.sync import Longmind as BlockingLongmind
from longmind.systems.values import Value, ValueName, ValueWrite

with framework("langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        validate_op_namespace,
    )

_PAGE = 200
_MOST_RANKED = 1_000
"""How many values a query ranks at most; those that follow have no score."""
_MOST_NAMESPACES = 1_000_000
_LONGEST_TTL = 100 * 365 * 24 * 60
"""In minutes."""
_SWEEP_MINUTES = 5
"""How often a sweeper sweeps where nothing is configured, as in LangGraph's own stores."""


class LongmindStore(BaseStore):
    """Items by namespace and key, durable, scoped to an agent and a user, and found by ``recall`` too.

    ``longmind`` is an open store; with one of ``longmind.sync`` blocking methods work everywhere.
    ``fields`` are the paths of a value that search reads, as in LangGraph's index; by default all of it.
    Reads of one batch see what was there before its writes, which are one transaction.

    ``ttl`` is LangGraph's configuration of how long items last: ``default_ttl`` in minutes, ``refresh_on_read``,
    ``sweep_interval_minutes``. What has expired is never returned, whether it was swept or not.
    """

    supports_ttl = True

    def __init__(
        self,
        longmind: Longmind | BlockingLongmind,
        *,
        agent: str | None = None,
        user: str | None = None,
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self._access = MemoryAccess(longmind, agent=agent, user=user)
        self._fields = None if fields is None else list(fields)
        self.ttl_config = ttl
        self._sweeper = Sweeper(self.sweep_ttl)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations and return a result for each."""
        return self._access.wait(self._run(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations and return a result for each."""
        return await self._access.run(self._run(list(ops)))

    def sweep_ttl(self) -> int:
        """Remove what has expired, and return how many items that were. Consolidation does the same."""
        return self._access.wait(self._sweep())

    async def asweep_ttl(self) -> int:
        """Remove what has expired, and return how many items that were. Consolidation does the same."""
        return await self._access.run(self._sweep())

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        """Sweep again and again, in a thread, until ``stop_ttl_sweeper`` or the future is cancelled."""
        minutes = sweep_interval_minutes or (self.ttl_config or {}).get("sweep_interval_minutes") or _SWEEP_MINUTES
        return self._sweeper.start(minutes * 60)

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop sweeping; return whether the thread has ended, for which it waits at most ``timeout`` seconds."""
        return self._sweeper.stop(timeout)

    async def _sweep(self) -> int:
        return await self._access.memory().values.clear(expired=True)

    async def _run(self, ops: Sequence[Op]) -> list[Result]:
        for op in ops:
            validate_op_namespace(op)
        results: list[Result] = [None] * len(ops)
        refreshed: dict[str, Value] = {}
        gets = {number: op for number, op in enumerate(ops) if isinstance(op, GetOp)}
        for number, value in (await self._get(gets)).items():
            results[number] = value and _item(value)
            if value is not None and gets[number].refresh_ttl:
                refreshed[value.id] = value
        for number, op in enumerate(ops):
            if isinstance(op, SearchOp):
                scored = await self._search(op)
                results[number] = [_search_item(value, score) for score, value in scored]
                if op.refresh_ttl:
                    refreshed |= {value.id: value for _, value in scored}
            elif isinstance(op, ListNamespacesOp):
                results[number] = await self._list_namespaces(op)
            elif not isinstance(op, GetOp | PutOp):
                raise ValueError(f"Unknown operation type: {type(op)}")
        await self._refresh(refreshed.values())
        writes = [self._write(op) for op in ops if isinstance(op, PutOp)]
        if writes:
            await self._access.memory().values.write(writes)
        return results

    async def _refresh(self, values: Iterable[Value]) -> None:
        """Let the items that were read last as long as if they had just been written."""
        now = self._access.longmind.clock.now()
        due = [value for value in values if value.needs_refresh(now)]
        if due:
            names = [ValueName(namespace=value.namespace, key=value.key) for value in due]
            await self._access.memory().values.refresh(names)

    async def _get(self, ops: Mapping[int, GetOp]) -> dict[int, Value | None]:
        if not ops:
            return {}
        names = [ValueName(namespace=op.namespace, key=op.key) for op in ops.values()]
        values = await self._access.memory().values.read(names)
        return dict(zip(ops, values, strict=True))

    async def _search(self, op: SearchOp) -> list[tuple[float | None, Value]]:
        """Return a page of what matches; with a query the best first, and then what the query does not find."""
        values = self._access.memory().values
        scored: list[tuple[float | None, Value]] = []
        wanted = op.offset + op.limit
        if op.query:
            ranked_to = _MOST_RANKED if op.filter else min(wanted, _MOST_RANKED)
            hits = await values.search(op.query, ranked_to, prefix=op.namespace_prefix)
            scored = [(hit.score, hit.value) for hit in hits if _matches(hit.value, op.filter)]
        ranked = {value.id for _, value in scored}
        cursor: str | None = None
        while len(scored) < wanted:
            page = await values.list(op.namespace_prefix, limit=_PAGE, cursor=cursor)
            rest = (value for value in page.items if value.id not in ranked and _matches(value, op.filter))
            scored += [(None, value) for value in rest]
            cursor = page.cursor
            if cursor is None:
                break
        return scored[op.offset : wanted]

    async def _list_namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        known = await self._access.memory().values.namespaces(limit=_MOST_NAMESPACES)
        matching = [space for space in known if all(_matches_path(condition, space) for condition in conditions)]
        shown = sorted({space[: op.max_depth] for space in matching})
        return shown[op.offset : op.offset + op.limit]

    def _write(self, op: PutOp) -> ValueWrite:
        value = None if op.value is None else dict(op.value)
        ttl = None
        if op.ttl is not None and value is not None:
            if not 0 < op.ttl <= _LONGEST_TTL:
                raise InvalidInput(
                    f"A ttl of {op.ttl} minutes is no time.",
                    hint=f"Give more than 0 and at most {_LONGEST_TTL:,}; None for what does not expire.",
                )
            ttl = timedelta(minutes=op.ttl)
        return ValueWrite(namespace=op.namespace, key=op.key, value=value, text=self._text(value, op.index), ttl=ttl)

    def _text(self, value: Mapping[str, Any] | None, index: Any) -> str | None:
        """Return what search reads of a value; None for all of it."""
        if value is None or index is False:
            return ""
        paths = self._fields if index is None else list(index)
        if paths is None or "$" in paths:
            return None
        return "\n".join(text for path in paths for text in get_text_at_path(value, path))


def _item(value: Value) -> Item:
    return Item(
        value=value.value,
        key=value.key,
        namespace=value.namespace,
        created_at=value.created_at,
        updated_at=value.updated_at,
    )


def _search_item(value: Value, score: float | None) -> SearchItem:
    return SearchItem(
        namespace=value.namespace,
        key=value.key,
        value=value.value,
        created_at=value.created_at,
        updated_at=value.updated_at,
        score=score,
    )


def _matches_path(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Whether a namespace begins or ends with a path, in which ``*`` is any label."""
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    labels = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, labels, strict=True))


def _matches(value: Value, conditions: Mapping[str, Any] | None) -> bool:
    return all(_equals(value.value.get(name), wanted) for name, wanted in (conditions or {}).items())


def _equals(found: Any, wanted: Any) -> bool:
    """Whether a part of a value is as a filter wants it: equal, within bounds, or with these fields."""
    if isinstance(wanted, Mapping):
        if any(name.startswith("$") for name in wanted):
            return all(_compares(found, operator, bound) for operator, bound in wanted.items())
        return isinstance(found, Mapping) and all(_equals(found.get(name), item) for name, item in wanted.items())
    if isinstance(wanted, list | tuple):
        same_length = isinstance(found, list | tuple) and len(found) == len(wanted)
        return same_length and all(_equals(a, b) for a, b in zip(found, wanted, strict=True))
    return bool(found == wanted)


def _compares(found: Any, operator: str, bound: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return bool(found == bound) == (operator == "$eq")
    if operator not in ("$gt", "$gte", "$lt", "$lte"):
        raise ValueError(f"Unsupported operator: {operator}")
    try:
        number, limit = float(found), float(bound)
    except (TypeError, ValueError):  # what is no number is in no range of numbers
        return False
    return {"$gt": number > limit, "$gte": number >= limit, "$lt": number < limit, "$lte": number <= limit}[operator]
