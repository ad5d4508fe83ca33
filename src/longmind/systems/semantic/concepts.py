"""Concepts: the things that the agent has names for. A name or alias belongs to one concept; case does not matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longmind.errors import Conflict, Forbidden, NotFound
from longmind.store.base import AddLink, Delete, Put, Update, Write
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.systems.semantic.models import Concept, ConceptBody
from longmind.systems.semantic.names import LEARNT, concept_key, fold_name
from longmind.systems.semantic.visibility import find_by_keys, find_writable, sort_by_nearness
from longmind.types import Filter, Link, Memory, Page, Scope

KIND = "concept"
ALIAS = "alias"
"""The kind of the records that reserve the keys of aliases. Their content is empty, so no search finds them."""


@dataclass(frozen=True, slots=True)
class ConceptsByName:
    """The concepts that some names refer to in a scope."""

    scope: Scope
    records: Mapping[str, list[Memory]]
    orphans: Mapping[str, list[Memory]]

    def all(self, name: str) -> list[Memory]:
        """Return the concepts that a query by this name is about, the nearest scope first."""
        return self.records[name]

    def writable(self, name: str) -> Memory | None:
        """Return the concept that a statement by this name is about, or None."""
        return find_writable(self.scope.user, self.records[name])

    def orphan_deletions(self, name: str) -> list[Write]:
        """Return the writes that delete this scope's aliases of a forgotten concept, so that the name is free."""
        mine = [r for r in self.orphans[name] if r.user == self.scope.user]
        return [Delete(r.id, r.version) for r in mine]


class Concepts:
    """The concepts of a scope."""

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped

    async def resolve(self, names: Sequence[str]) -> ConceptsByName:
        """Resolve names, aliases or ids, in at most two reads."""
        keys = {name: concept_key(name) for name in names}
        held = await find_by_keys(self._scoped, list(dict.fromkeys(keys.values())))
        targets = [r.body["concept"] for r in held if r.kind == ALIAS]
        ids = [name for name in names if _is_id(name)]
        others = {r.id: r for r in await self._scoped.store.get_all(self._scoped.scope, [*targets, *ids])}
        records_by_name: dict[str, list[Memory]] = {}
        orphans: dict[str, list[Memory]] = {}
        for name, key in keys.items():
            holders = [r for r in held if r.key == key]
            meant = [others.get(r.body["concept"]) if r.kind == ALIAS else r for r in holders]
            concepts = [r for r in (*meant, others.get(name)) if r is not None and r.kind == KIND]
            records_by_name[name] = sort_by_nearness(self._scoped.scope, {r.id: r for r in concepts}.values())
            orphans[name] = [r for r in holders if r.kind == ALIAS and r.body["concept"] not in others]
        return ConceptsByName(self._scoped.scope, records_by_name, orphans)

    async def find(self, name: str) -> Concept | None:
        """Return the concept with a name, an alias or an id, or None."""
        records = (await self.resolve([name])).all(name)
        return Concept.of(records[0]) if records else None

    async def need(self, name: str) -> list[Memory]:
        """Return all concepts that a name may refer to; ``NotFound`` if there is none."""
        records = (await self.resolve([name])).all(name)
        if not records:
            raise NotFound(
                f"There is no concept {name!r} here.",
                hint="`concepts()`, or `longmind graph list`, tells which there are.",
            )
        return records

    async def define(
        self,
        name: str,
        *,
        definition: str | None = None,
        category: str | None = None,
        aliases: Sequence[str] = (),
        attributes: Mapping[str, Any] | None = None,
    ) -> Concept:
        """Create a concept, or change the one with this name.

        Fields that are None stay as they were; aliases are added.
        """
        values = {
            "definition": definition,
            "category": category,
            "attributes": dict(attributes) if attributes else None,
        }
        changes = {field: value for field, value in values.items() if value is not None}
        return await retry_on_conflict(lambda: self._define(name, changes, list(aliases)))

    async def page(self, category: str | None = None, *, limit: int = 50, cursor: str | None = None) -> Page[Concept]:
        """Return a page of concepts in the order in which they were learnt."""
        where = Filter(metadata={"category": fold_name(category)}) if category else Filter()
        page = await self._scoped.page(KIND, where=where, limit=limit, cursor=cursor)
        return Page(items=tuple(map(Concept.of, page.items)), cursor=page.cursor)

    def new(self, name: str, **fields: Any) -> Memory:
        """Build the record of a new concept."""
        if _is_id(name):
            raise NotFound(f"There is no concept {name} here.", hint="Give its name to make a new one.", id=name)
        body = validated(ConceptBody, {"name": " ".join(name.split()), **fields})
        return self._scoped.new(KIND, key=concept_key(name), **concept_fields(body))

    def new_learnt(self, name: str) -> Memory:
        """The record of a concept that a fact names for the first time."""
        record = self.new(name)
        return record.model_copy(update={"metadata": {**record.metadata, LEARNT: True}})

    async def _define(self, name: str, changes: Mapping[str, Any], aliases: list[str]) -> Concept:
        scoped = self._scoped
        by_name = await self.resolve([name, *aliases])
        record = by_name.writable(name)
        if record is not None and record.user != scoped.scope.user:
            raise Forbidden(
                f"The concept {name!r} belongs to the whole agent.", hint="Define it without a user, for all of them."
            )
        fresh = self.new(name) if record is None else record
        body = ConceptBody.model_validate(fresh.body)
        added = self._new_aliases(fresh, body, aliases, by_name)
        new = validated(ConceptBody, {**body.model_dump(), **changes, "aliases": (*body.aliases, *added)})
        if record is not None and new == body and LEARNT not in record.metadata:
            return Concept.of(record)
        if record is None:
            writes: list[Write] = [*by_name.orphan_deletions(name), Put(_record_with(fresh, new), existing="fail")]
        else:
            writes = [Update(record.id, concept_fields(new), record.version)]
        for alias in added:
            writes += by_name.orphan_deletions(alias)
            holder = scoped.new(ALIAS, "", key=concept_key(alias), body={"concept": fresh.id})
            link = Link(source=holder.id, relation="alias_of", target=fresh.id)
            writes += [Put(holder, existing="fail"), AddLink(link)]
        receipt = await scoped.rewrite(writes, f"define {new.name}")
        return Concept.of(receipt.memories[0])

    def _new_aliases(
        self, record: Memory, body: ConceptBody, aliases: Sequence[str], by_name: ConceptsByName
    ) -> list[str]:
        """Return the aliases that this concept does not have yet; ``Conflict`` if one belongs to another concept."""
        known = {concept_key(n) for n in (body.name, *body.aliases)}
        added: dict[str, str] = {}
        for alias in aliases:
            key, holder = concept_key(alias), by_name.writable(alias)
            if holder is not None and holder.id != record.id:
                raise Conflict(
                    f"{alias!r} already means the concept {holder.body['name']!r}.",
                    hint="Give a name that leads to one concept only.",
                    concept=holder.id,
                )
            if key not in known:
                added.setdefault(key, " ".join(alias.split()))
        return list(added.values())


def _record_with(fresh: Memory, body: ConceptBody) -> Memory:
    return validated(Memory, {**dict(fresh), **concept_fields(body)})


def concept_fields(body: ConceptBody) -> dict[str, Any]:
    """Return the record's fields for a concept: the text that is searched, the body, and what filters use."""
    content = body.name
    if body.aliases:
        content += f" ({', '.join(body.aliases)})"
    if body.definition:
        content += f": {body.definition}"
    return {
        "content": content,
        "body": body.model_dump(mode="json"),
        "tags": (body.category[:100],) if body.category else (),
        "metadata": {"category": fold_name(body.category)} if body.category else {},
    }


def _is_id(name: str) -> bool:
    return len(name) == 36 and name.count("-") == 4
