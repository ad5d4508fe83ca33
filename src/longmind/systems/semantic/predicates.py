"""Predicates: the meaning of each, declared once and stored with the agent.

A predicate that was not declared is declared by its first use, so that every later use means the same: from the common
vocabulary, or else ``learn`` makes it single-valued and ``relate`` makes it many-valued between concepts. Every write
of a fact checks that the declaration it relied on is unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from longmind.errors import Conflict, Forbidden
from longmind.store.base import Delete, Put, Update, Write
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.systems.semantic.intervals import is_current, latest, overlapping
from longmind.systems.semantic.models import FactBody, Predicate
from longmind.systems.semantic.names import LEARNT, predicate_key, predicate_name, slot_key
from longmind.systems.semantic.visibility import find_by_keys, find_writable, sort_by_nearness, tier
from longmind.types import Filter, Memory

KIND = "configuration"


@dataclass(frozen=True, slots=True)
class PredicateUse:
    """A predicate as a statement or query uses it."""

    predicate: Predicate
    swapped: bool
    """Whether the statement used the inverse, so that subject and object have to be swapped."""
    guard: tuple[Write, ...]
    """Writes that declare it, or that fail if its declaration changed since it was read."""


class Predicates:
    """The declared predicates of a scope."""

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped

    async def find(self, name: str) -> PredicateUse | None:
        """Return the meaning of a predicate or an inverse for a query, as declared here or by one of the users."""
        records = await find_by_keys(self._scoped, [predicate_key(predicate_name(name))])
        near = sort_by_nearness(self._scoped.scope, records)
        return self._use(name, find_writable(self._scoped.scope.user, near) or next(iter(near), None))

    async def for_user(self, name: str, user: str | None) -> PredicateUse:
        """Return the meaning of a predicate in the facts of a user, or of the agent itself."""
        records = await find_by_keys(self._scoped, [predicate_key(name)])
        return self._use(name, find_writable(user, records)) or self._first_use(name, relating=False)

    async def for_statement(self, name: str, *, relating: bool) -> PredicateUse:
        """Return the meaning of a predicate for a statement made here. An unknown one is declared by this use."""
        records = await find_by_keys(self._scoped, [predicate_key(predicate_name(name))])
        return self._use(name, find_writable(self._scoped.scope.user, records)) or self._first_use(
            name, relating=relating
        )

    def _use(self, name: str, record: Memory | None) -> PredicateUse | None:
        stored_name = predicate_name(name)
        if record is not None:
            predicate = Predicate.model_validate(record.body)
            return PredicateUse(predicate, predicate.name != stored_name, (Update(record.id, {}, record.version),))
        common = COMMON_PREDICATES.get(stored_name) or INVERSE_PREDICATES.get(stored_name)
        return (
            None
            if common is None
            else PredicateUse(common, common.name != stored_name, self._puts(common, learnt=True))
        )

    def _first_use(self, name: str, *, relating: bool) -> PredicateUse:
        new = Predicate(name=predicate_name(name), many=relating, relates=relating)
        return PredicateUse(new, False, self._puts(new, learnt=True))

    async def declare(self, name: str, *, learnt: bool = False, **meaning: Any) -> Predicate:
        """Declare the meaning of a predicate. Facts that are already known must fit it, or nothing is changed.

        ``learnt`` says that only a fact that is about to be stored needs it.
        """
        return await retry_on_conflict(lambda: self._declare(name, meaning, learnt))

    def declaration(self, predicate: Predicate) -> tuple[Write, ...]:
        """Return the writes that declare a predicate which the facts written with them need."""
        return self._puts(predicate, learnt=True)

    async def list_all(self) -> list[Predicate]:
        """Return all predicates that are declared or in use here, by name."""
        predicates: dict[str, Predicate] = {}
        async for record in self._scoped.store.scan_all(self._scoped.scope, Filter(kinds=(KIND,), states=None)):
            if (record.key or "").startswith("predicate:"):
                predicate = Predicate.model_validate(record.body)
                if predicate.name not in predicates or record.user == self._scoped.scope.user:
                    predicates[predicate.name] = predicate
        return sorted(predicates.values(), key=lambda p: p.name)

    async def _declare(self, name: str, meaning: dict[str, Any], learnt: bool) -> Predicate:
        scoped, stored_name = self._scoped, predicate_name(name)
        record = find_writable(scoped.scope.user, await find_by_keys(scoped, [predicate_key(stored_name)]))
        old = Predicate.model_validate(record.body) if record is not None else COMMON_PREDICATES.get(stored_name)
        if old is not None and old.name != stored_name:
            raise Conflict(
                f"{stored_name!r} is the inverse of {old.name!r}.",
                hint=f"Declare {old.name!r}, which both are read from.",
            )
        if meaning.get("inverse"):
            meaning = {**meaning, "inverse": predicate_name(meaning["inverse"])}
        if meaning.get("inverse") or meaning.get("symmetric") or meaning.get("transitive"):
            meaning = {"relates": True, **meaning}
        new = validated(Predicate, {**(old.model_dump() if old else {"name": stored_name}), **meaning})
        if record is None:
            await scoped.rewrite(self._puts(new, learnt=learnt), f"declare {stored_name}")
            return new
        assert old is not None
        if new == old and (learnt or LEARNT not in record.metadata):
            return old
        await scoped.rewrite(await self._changes(record, old, new), f"declare {stored_name}")
        return new

    async def _changes(self, record: Memory, old: Predicate, new: Predicate) -> list[Write]:
        scoped = self._scoped
        if record.user != scoped.scope.user:
            raise Forbidden(
                f"{old.name!r} is declared for the whole agent.", hint="Declare it without a user, for all of them."
            )
        body = new.model_dump()
        writes: list[Write] = [Update(record.id, {"body": body, "metadata": {}}, record.version)]
        mirror = None
        if old.inverse:
            mirror = find_writable(scoped.scope.user, await find_by_keys(scoped, [predicate_key(old.inverse)]))
        if mirror is not None:
            same = old.inverse == new.inverse
            writes.append(Update(mirror.id, {"body": body}, mirror.version) if same else Delete(mirror.id))
        if new.inverse and new.inverse != old.inverse:
            writes.append(self._put(new, new.inverse))
        if (old.many, old.relates, old.symmetric) != (new.many, new.relates, new.symmetric):
            writes += await self._regroup(old, new)
        return writes

    async def _regroup(self, old: Predicate, new: Predicate) -> list[Write]:
        """Return the writes that regroup the facts into timelines; ``Conflict`` if they do not fit the new meaning."""
        scoped = self._scoped
        declared = await find_by_keys(scoped, [predicate_key(old.name)])
        others = {record.user for record in declared if record.user != scoped.scope.user}
        slots: dict[tuple[str | None, str], list[Memory]] = {}
        where = Filter(kinds=("fact",), states=None, metadata={"predicate": old.name})
        async for record in scoped.store.scan_all(scoped.scope, where):
            if record.user in others or tier(scoped.scope, record.user) == 1 or not is_current(record):
                continue  # another declaration applies to it
            if (old.relates, old.symmetric) != (new.relates, new.symmetric):
                raise Conflict(
                    f"Facts such as {record.content!r} were stored with another meaning of {old.name!r}.",
                    hint="Retract them first, or use another predicate.",
                )
            body = FactBody.model_validate(record.body)
            slot = slot_key(body.subject, new.name, body.identity if new.many else None)
            slots.setdefault((record.user, slot), []).append(record)
        release: list[Write] = []
        take: list[Write] = []
        for (_, slot), records in slots.items():
            if pair := overlapping(records):
                raise Conflict(
                    f"{pair[0].content!r} and {pair[1].content!r} held at once, so {old.name!r} is not single-valued.",
                    hint="End or retract one of them first.",
                )
            release += [Update(r.id, {"key": None}, r.version) for r in records]
            holder = latest(records)
            assert holder is not None
            take.append(Update(holder.id, {"key": slot}))
        return release + take

    def _puts(self, predicate: Predicate, *, learnt: bool = False) -> tuple[Write, ...]:
        names = [predicate.name, *([predicate.inverse] if predicate.inverse else [])]
        return tuple(self._put(predicate, name, learnt=learnt) for name in names)

    def _put(self, predicate: Predicate, name: str, *, learnt: bool = False) -> Put:
        body, metadata = predicate.model_dump(), {LEARNT: True} if learnt else {}
        record = self._scoped.new(KIND, "", key=predicate_key(name), body=body, metadata=metadata)
        return Put(record, existing="fail")


_RELATIONS = (
    Predicate(name="is a", many=True, relates=True, transitive=True, inverse="has kind"),
    Predicate(name="part of", many=True, relates=True, transitive=True, inverse="has part"),
    Predicate(name="located in", relates=True, transitive=True, inverse="location of"),
    Predicate(name="lives in", relates=True, inverse="home of"),
    Predicate(name="born in", relates=True, inverse="birthplace of"),
    Predicate(name="works at", relates=True, inverse="employs"),
    Predicate(name="studies at", relates=True, inverse="taught"),
    Predicate(name="member of", many=True, relates=True, inverse="has member"),
    Predicate(name="owns", many=True, relates=True, inverse="owned by"),
    Predicate(name="created", many=True, relates=True, inverse="created by"),
    Predicate(name="parent of", many=True, relates=True, inverse="child of"),
    Predicate(name="manages", many=True, relates=True, inverse="managed by"),
    Predicate(name="uses", many=True, relates=True, inverse="used by"),
    Predicate(name="depends on", many=True, relates=True, transitive=True, inverse="needed by"),
    Predicate(name="causes", many=True, relates=True, inverse="caused by"),
    Predicate(name="knows", many=True, relates=True, symmetric=True),
    Predicate(name="sibling of", many=True, relates=True, symmetric=True, transitive=True),
    Predicate(name="related to", many=True, relates=True, symmetric=True),
)
_VALUES = (
    Predicate(name="likes", many=True),
    Predicate(name="dislikes", many=True),
    Predicate(name="speaks", many=True),
    Predicate(name="allergic to", many=True),
    Predicate(name="interested in", many=True),
)
COMMON_PREDICATES = {predicate.name: predicate for predicate in (*_RELATIONS, *_VALUES)}
INVERSE_PREDICATES = {predicate.inverse: predicate for predicate in _RELATIONS if predicate.inverse}
