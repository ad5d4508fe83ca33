"""``EntityGraph``: semantic memory as entities with observations and relations between them.

Other memory servers know a graph of this shape. An entity is a concept, its type is the concept's category, an
observation is a fact with a plain text, and a relation is a fact between two concepts. So what is stored here is found
by recall, and what was learnt otherwise is read here. Unlike ``learn`` and ``relate``, nothing that is stored here ends
another fact: two relations of one type hold beside each other, whatever the predicate means.

Each call writes one transaction. Relations may name entities that do not exist; their concepts are marked as only
mentioned, and are no entities until they are created.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from longmind.errors import Forbidden, NotFound
from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.systems.semantic.concepts import Concepts, ConceptsByName, concept_fields
from longmind.systems.semantic.models import ConceptBody, FactBody, Predicate
from longmind.systems.semantic.names import STRUCTURAL, concept_key, fold_name, predicate_name, value_digest
from longmind.systems.semantic.predicates import Predicates, PredicateUse
from longmind.systems.semantic.timelines import TimelineReader, held_at
from longmind.systems.semantic.visibility import read_consistently, tier
from longmind.types import TRUST, Filter, Link, Memory, Model, Source

OBSERVATION = "observation"
"""The predicate of observations."""
_MENTIONED = "mentioned"
"""The key in the metadata of a concept that only relations name."""
_ENTITY_TYPE = "entityType"
_RELATION_TYPE = "relation_type"
"""The key in the metadata of a fact that holds the type of the relation as it was written."""
_TURNED = "turned"
"""The key in the metadata of a fact that is stored from the other side: by the inverse of its predicate."""
_LONGEST_NAME = 200


class Entity(Model):
    """A concept with what was observed of it."""

    name: str
    entity_type: str
    observations: tuple[str, ...] = ()


class Relation(Model):
    """A directed relation between two entities, by their names."""

    source: str
    target: str
    relation_type: str


class Observations(Model):
    """Observations of one entity."""

    entity: str
    contents: tuple[str, ...]


class Entities(Model):
    """Entities, and relations that begin or end at them."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]


@dataclass(slots=True)
class _StoredEntity:
    """An entity and the records it is made of."""

    entity: Entity
    concepts: list[Memory]
    facts: dict[str, list[str]] = field(default_factory=dict)
    """The ids of the facts by the text of the observation."""


@dataclass(slots=True)
class _StoredRelation:
    relation: Relation
    fact: Memory


@dataclass(frozen=True, slots=True)
class _StoredGraph:
    entities: Mapping[str, _StoredEntity]
    """By the folded name."""
    relations: Sequence[_StoredRelation]
    mentioned: Mapping[str, list[Memory]]
    """The concepts that are no entities, by their folded name."""


class EntityGraph:
    """The entities and relations of a scope. Names are resolved without regard to case and spacing."""

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped
        self._concepts = Concepts(scoped)
        self._predicates = Predicates(scoped)
        self._timelines = TimelineReader(scoped)

    # -- reading -------------------------------------------------------------------------------------------------

    async def read(self) -> Entities:
        """Return all entities and relations, in the order in which they were created."""
        graph = await self._read()
        return _entities(graph, graph.entities, every_relation=True)

    async def search(self, query: str) -> Entities:
        """Return the entities whose name, type or observations contain a text, and their relations."""
        graph, wanted = await self._read(), query.lower()
        return _entities(graph, [key for key, stored in graph.entities.items() if _mentions(stored.entity, wanted)])

    async def open(self, names: Sequence[str]) -> Entities:
        """Return the entities with these names, and their relations."""
        graph, wanted = await self._read(), set(map(fold_name, names))
        return _entities(graph, [key for key in graph.entities if key in wanted])

    # -- creating ------------------------------------------------------------------------------------------------

    async def create_entities(self, entities: Sequence[Entity]) -> list[Entity]:
        """Create entities; those that exist are left as they are. Return those that were created."""
        return await retry_on_conflict(lambda: self._create_entities(entities))

    async def create_relations(self, relations: Sequence[Relation]) -> list[Relation]:
        """Create relations; those that exist are left as they are. Return those that were created."""
        return await retry_on_conflict(lambda: self._create_relations(relations))

    async def add_observations(self, observations: Sequence[Observations]) -> list[Observations]:
        """Add observations to entities, and return those that were new; ``NotFound`` if there is no such entity."""
        return await retry_on_conflict(lambda: self._add_observations(observations))

    async def _create_entities(self, entities: Sequence[Entity]) -> list[Entity]:
        by_name = await self._concepts.resolve([entity.name for entity in entities])
        writes: list[Write] = []
        created: dict[str, Entity] = {}
        for entity in entities:
            key, record = concept_key(entity.name), by_name.writable(entity.name)
            if key in created or (record is not None and _MENTIONED not in record.metadata):
                continue
            concept, concept_writes = self._concept_of(entity, record, by_name)
            writes += concept_writes
            contents = tuple(dict.fromkeys(entity.observations))
            for content in contents:
                writes += self._observation(concept, content)
            created[key] = entity.model_copy(update={"observations": contents})
        if any(entity.observations for entity in created.values()):
            writes += await self._observation_predicate()
        if writes:
            await self._scoped.rewrite(writes, "create entities")
        return list(created.values())

    def _concept_of(
        self, entity: Entity, record: Memory | None, by_name: ConceptsByName
    ) -> tuple[Memory, Sequence[Write]]:
        """Return the concept of a new entity, and the writes that make it."""
        fields = _type_fields(entity.entity_type)
        if record is None:
            concept = self._concepts.new(entity.name, **fields)
            return concept, [*by_name.orphan_deletions(entity.name), Put(concept, existing="fail")]
        if record.user != self._scoped.scope.user:
            raise Forbidden(f"{entity.name!r} belongs to the whole agent.", hint="Create it without a user.")
        body = validated(ConceptBody, {**record.body, **fields})
        changes = {**concept_fields(body), "occurred_at": self._scoped.now()}
        return record, [Update(record.id, changes, record.version)]

    async def _create_relations(self, relations: Sequence[Relation]) -> list[Relation]:
        names = list(dict.fromkeys(name for r in relations for name in (r.source, r.target)))
        by_name = await self._concepts.resolve(names)
        known = {name: by_name.writable(name) for name in names}
        existing = await self._facts_of([record for record in known.values() if record is not None])
        seen = {_relation_key(stored.relation) for stored in map(_stored_relation, existing) if stored is not None}
        uses: dict[str, PredicateUse] = {}
        concepts: dict[str, Memory] = {}
        created: list[Relation] = []
        writes: list[Write] = []
        for relation in relations:
            if _relation_key(relation) in seen:
                continue
            seen.add(_relation_key(relation))
            ends = []
            for name in (relation.source, relation.target):
                concept = known[name] or concepts.get(concept_key(name))
                if concept is None:
                    concept = concepts[concept_key(name)] = self._new_mentioned(name)
                    writes += [*by_name.orphan_deletions(name), Put(concept, existing="fail")]
                ends.append(concept)
            predicate = _predicate_of(relation.relation_type)
            if predicate not in uses:
                uses[predicate] = await self._predicates.for_statement(predicate, relating=True)
            writes += self._relation(relation, ends, uses[predicate])
            created.append(relation)
        if writes:
            declared = {use.predicate.name: use.guard for use in uses.values()}
            guards = [write for guard in declared.values() for write in guard]
            await self._scoped.rewrite([*guards, *writes], "create relations")
        return created

    async def _add_observations(self, observations: Sequence[Observations]) -> list[Observations]:
        by_name = await self._concepts.resolve([item.entity for item in observations])
        concepts: dict[str, Memory] = {}
        for item in observations:
            record = by_name.writable(item.entity)
            if record is None or _MENTIONED in record.metadata:
                raise NotFound(f"Entity with name {item.entity} not found")
            concepts[item.entity] = record
        facts = await self._facts_of(concepts.values())
        known: dict[str, set[str]] = {}
        for record in concepts.values():
            own = [fact for fact in facts if fact.body["subject"] == record.id]
            texts = [text for text in map(_observation_text, own) if text is not None]
            known[record.id] = {*_definition(record), *texts}
        writes: list[Write] = []
        added: list[Observations] = []
        for item in observations:
            record = concepts[item.entity]
            new = [text for text in dict.fromkeys(item.contents) if text not in known[record.id]]
            known[record.id].update(new)
            for text in new:
                writes += self._observation(record, text)
            added.append(Observations(entity=item.entity, contents=tuple(new)))
        if writes:
            await self._scoped.rewrite([*await self._observation_predicate(), *writes], "add observations")
        return added

    # -- what is to be deleted -------------------------------------------------------------------------------------

    async def ids_of_entities(self, names: Sequence[str]) -> list[str]:
        """Return the ids of the memories that these entities, their observations and their relations are."""
        graph, wanted = await self._read(), set(map(fold_name, names))
        stored = [graph.entities[key] for key in graph.entities if key in wanted]
        relations = [r for r in graph.relations if not wanted.isdisjoint(_ends(r.relation))]
        concepts = [concept for entity in stored for concept in entity.concepts]
        facts = [id for entity in stored for ids in entity.facts.values() for id in ids]
        concepts += _no_longer_mentioned(graph, relations)
        return list(dict.fromkeys([*(record.id for record in concepts), *facts, *(r.fact.id for r in relations)]))

    async def ids_of_observations(self, observations: Sequence[Observations]) -> list[str]:
        """Return the ids of the facts that these observations are. What is not there is left out."""
        graph = await self._read()
        ids: list[str] = []
        for item in observations:
            stored = graph.entities.get(fold_name(item.entity))
            for text in item.contents if stored is not None else ():
                ids += stored.facts.get(text, ()) if stored is not None else ()
        return list(dict.fromkeys(ids))

    async def defined_as(self, observations: Sequence[Observations]) -> list[str]:
        """Return the names of the entities whose definition is one of these observations."""
        graph = await self._read()
        wanted = {fold_name(item.entity): item.contents for item in observations}
        chosen = [graph.entities[key] for key in wanted if key in graph.entities]
        return [
            stored.entity.name
            for stored in chosen
            if any(text in wanted[fold_name(stored.entity.name)] for text in _definition(stored.concepts[0]))
        ]

    async def ids_of_relations(self, relations: Sequence[Relation]) -> list[str]:
        """Return the ids of the facts that these relations are. What is not there is left out."""
        graph, wanted = await self._read(), set(map(_relation_key, relations))
        removed = [stored for stored in graph.relations if _relation_key(stored.relation) in wanted]
        concepts = _no_longer_mentioned(graph, removed)
        return list(dict.fromkeys([*(stored.fact.id for stored in removed), *(record.id for record in concepts)]))

    # -- records -------------------------------------------------------------------------------------------------

    def _new_mentioned(self, name: str) -> Memory:
        record = self._concepts.new_learnt(name)
        return record.model_copy(update={"metadata": {**record.metadata, _MENTIONED: True}})

    def _observation(self, concept: Memory, text: str) -> list[Write]:
        body = {"subject": concept.id, "subject_name": concept.body["name"], "predicate": OBSERVATION, "object": text}
        key = f"{OBSERVATION}:{concept.id}|{_digest(text)}"
        return self._fact(body, f"{concept.body['name']}: {text}", key, {})

    def _relation(self, relation: Relation, ends: Sequence[Memory], use: PredicateUse) -> list[Write]:
        turned = use.swapped or (use.predicate.symmetric and ends[0].id > ends[1].id)
        subject, target = reversed(ends) if turned else ends
        name = use.predicate.name
        body = {
            "subject": subject.id,
            "subject_name": subject.body["name"],
            "predicate": name,
            "object": target.body["name"],
            "object_id": target.id,
        }
        key = f"relation:{_digest('|'.join((ends[0].id, ends[1].id, _predicate_of(relation.relation_type))))}"
        more = {_RELATION_TYPE: relation.relation_type, **({_TURNED: True} if turned else {})}
        return self._fact(body, f"{subject.body['name']} {name} {target.body['name']}", key, more)

    def _fact(self, fields: Mapping[str, Any], content: str, key: str, metadata: Mapping[str, Any]) -> list[Write]:
        source = Source()
        body = validated(FactBody, {**fields, "confidence": TRUST[source.role]})
        record = self._scoped.new(
            "fact",
            content,
            key=key,
            body=body.model_dump(mode="json"),
            metadata={"predicate": body.predicate, **metadata},
            source=source,
            trust=TRUST[source.role],
            valid_from=self._scoped.now(),
        )
        described = {"predicate": body.predicate, "value": value_digest(body.identity)}
        links = [Link(source=record.id, relation="about", target=body.subject, metadata=described)]
        if body.object_id is not None:
            links.append(Link(source=record.id, relation=body.predicate, target=body.object_id))
        return [Put(record, existing="fail"), *map(AddLink, links)]

    async def _observation_predicate(self) -> Sequence[Write]:
        """Return writes that declare the predicate of observations, unless it is declared."""
        if await self._predicates.find(OBSERVATION) is not None:
            return ()
        return self._predicates.declaration(Predicate(name=OBSERVATION, many=True))

    async def _facts_of(self, concepts: Iterable[Memory]) -> list[Memory]:
        ids = sorted({concept.id for concept in concepts})
        return held_at(await self._timelines.facts_touching(ids), self._scoped.now()) if ids else []

    async def _read(self) -> _StoredGraph:
        concepts, facts = await read_consistently(self._scoped, self._records)
        scope = self._scoped.scope
        entities: dict[str, _StoredEntity] = {}
        mentioned: dict[str, list[Memory]] = {}
        by_id: dict[str, str] = {}
        concepts.sort(key=lambda r: (r.occurred_at, r.id))
        for record in concepts:
            by_id[record.id] = key = fold_name(record.body["name"])
            if _MENTIONED in record.metadata:
                mentioned.setdefault(key, []).append(record)
            elif key not in entities:
                entities[key] = _StoredEntity(_entity_of(record), [record])
            else:
                stored = entities[key]
                stored.concepts.append(record)
                stored.concepts.sort(key=lambda r: tier(scope, r.user))
                stored.entity = _entity_of(stored.concepts[0])
        facts.sort(key=lambda r: (r.recorded_at, r.id))
        relations = []
        for fact in facts:
            relation = _stored_relation(fact)
            if relation is not None:
                relations.append(relation)
                continue
            stored_entity = entities.get(by_id.get(fact.body["subject"], ""))
            text = _observation_text(fact)
            if stored_entity is not None and text is not None:
                stored_entity.facts.setdefault(text, []).append(fact.id)
        for stored in entities.values():
            texts = dict.fromkeys([*_definition(stored.concepts[0]), *stored.facts])
            stored.entity = stored.entity.model_copy(update={"observations": tuple(texts)})
        return _StoredGraph(entities, relations, mentioned)

    async def _records(self) -> tuple[list[Memory], list[Memory]]:
        store, scope, now = self._scoped.store, self._scoped.scope, self._scoped.now()
        concepts = [r async for r in store.scan_all(scope, Filter(kinds=("concept",)))]
        facts = [r async for r in store.scan_all(scope, Filter(kinds=("fact",), valid_at=now))]
        return concepts, held_at(facts, now)


def _type_fields(entity_type: str) -> dict[str, Any]:
    """Return the category of a concept, and the type as it is written where a category cannot hold it."""
    category = " ".join(entity_type.split())[:_LONGEST_NAME].strip() or None
    return {"category": category, "attributes": {} if category == entity_type else {_ENTITY_TYPE: entity_type}}


def _entity_of(record: Memory) -> Entity:
    body = ConceptBody.model_validate(record.body)
    entity_type = body.attributes.get(_ENTITY_TYPE, body.category or "")
    return Entity(name=body.name, entity_type=str(entity_type))


def _definition(record: Memory) -> list[str]:
    definition = record.body.get("definition")
    return [definition] if definition else []


def _observation_text(fact: Memory) -> str | None:
    """Return a fact about a plain value as an observation; None for a relation."""
    body = fact.body
    if body.get("object_id") is not None:
        return None
    return str(body["object"]) if body["predicate"] == OBSERVATION else f"{body['predicate']} {body['object']}"


def _stored_relation(fact: Memory) -> _StoredRelation | None:
    body = fact.body
    if body.get("object_id") is None:
        return None
    source, target = body["subject_name"], str(body["object"])
    if fact.metadata.get(_TURNED):
        source, target = target, source
    relation_type = fact.metadata.get(_RELATION_TYPE, body["predicate"])
    return _StoredRelation(Relation(source=source, target=target, relation_type=str(relation_type)), fact)


def _predicate_of(relation_type: str) -> str:
    """Return the predicate of a relation type. Records are linked by some names, so these are put in other words."""
    folded = fold_name(relation_type.replace("_", " "))
    return f"related by {folded}" if folded in STRUCTURAL else predicate_name(relation_type)


def _relation_key(relation: Relation) -> tuple[str, str, str]:
    return (*_ends(relation), _predicate_of(relation.relation_type))


def _ends(relation: Relation) -> tuple[str, str]:
    return fold_name(relation.source), fold_name(relation.target)


def _no_longer_mentioned(graph: _StoredGraph, removed: Sequence[_StoredRelation]) -> list[Memory]:
    """Return the concepts that only these relations mention."""
    ids = {stored.fact.id for stored in removed}
    left = {end for stored in graph.relations if stored.fact.id not in ids for end in _ends(stored.relation)}
    gone = {end for stored in removed for end in _ends(stored.relation)} - left
    return [record for key in sorted(gone) for record in graph.mentioned.get(key, ())]


def _mentions(entity: Entity, wanted: str) -> bool:
    return any(wanted in text.lower() for text in (entity.name, entity.entity_type, *entity.observations))


def _entities(graph: _StoredGraph, keys: Iterable[str], *, every_relation: bool = False) -> Entities:
    chosen = {key: graph.entities[key].entity for key in keys}
    relations = [
        stored.relation
        for stored in graph.relations
        if every_relation or any(end in chosen for end in _ends(stored.relation))
    ]
    return Entities(entities=tuple(chosen.values()), relations=tuple(relations))


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
