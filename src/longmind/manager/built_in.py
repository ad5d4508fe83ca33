"""The built-in memory systems behind the manager's common interface: store, retrieve, search.

Each system reads from a mapping the fields it knows, so that one mapping can be stored in several systems. A field that
none of the chosen systems knows is an error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, ClassVar

from longmind.errors import InvalidInput, NotFound
from longmind.kinds import INTERNAL, KINDS
from longmind.manager.experience_store import find_experience, write_experience
from longmind.manager.models import Experience, experience_of, headline
from longmind.systems.dialogue import DialogueMemory
from longmind.systems.episodic import Episode, Event
from longmind.systems.goals import GoalMemory
from longmind.systems.persona import PersonaMemory
from longmind.systems.procedural import RUN, ProceduralMemory, Procedure
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import Fact, Rule, SemanticMemory
from longmind.systems.shared import AGENT as SHARED_AGENT
from longmind.systems.shared import SharedMemory
from longmind.systems.working import WorkingMemory
from longmind.types import Hit, Memory, Message, Scope

Remember = Callable[..., Awaitable[Any]]
_FACT = ("subject", "predicate", "object")
_KEY_WORDS = 60


class BuiltInSystem(ABC):
    """The base of the built-in systems."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]
    fields: ClassVar[frozenset[str]]

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped

    @abstractmethod
    def takes(self, data: Any) -> bool:
        """Whether data that is stored without naming a system belongs here."""

    @abstractmethod
    async def store(self, data: Any) -> object:
        """Store data and return what the memory system returns."""

    @abstractmethod
    async def retrieve(self, key: str) -> object | None:
        """Return what is stored under a key, or None."""

    async def search(self, query: str, k: int) -> list[Hit]:
        return await self._scoped.search(query, k=k, kinds=self.kinds)

    async def _record(self, id: str) -> Memory | None:
        record = await self._scoped.store.get(self._scoped.scope, id)
        return record if record is not None and record.kind in self.kinds else None

    def _known_fields(self, data: Any) -> dict[str, Any]:
        """Return the fields of the data that this system reads."""
        fields = {"content": data} if isinstance(data, str) else data
        if not isinstance(fields, Mapping):
            raise InvalidInput(
                f"A {type(data).__name__} cannot be stored in {self.name} memory.", hint="Give a text or a mapping."
            )
        return {name: value for name, value in fields.items() if name in self.fields}


class WorkingSystem(BuiltInSystem):
    """Puts a text into working memory under its key; without one, under its first words."""

    name, kinds = "working", ("working",)
    fields = frozenset({"key", "content", "importance", "source", *_FACT})

    def __init__(self, scoped: ScopedStore, memory: WorkingMemory) -> None:
        super().__init__(scoped)
        self._memory = memory

    def takes(self, data: Any) -> bool:
        return isinstance(data, str) or _has(data, "content") or _has(data, *_FACT)

    async def store(self, data: Any) -> object:
        fields = self._known_fields(data)
        content = _text(fields, self.name)
        more = {name: fields[name] for name in ("importance", "source") if name in fields}
        return await self._memory.put(fields.get("key") or _key(content), content, **more)

    async def retrieve(self, key: str) -> object | None:
        return await self._memory.item(key)


class EpisodicSystem(BuiltInSystem):
    """Stores an experience as an episode. A text without a title becomes an episode titled by its first line."""

    name, kinds = "episodic", ("episode", "event")
    fields = frozenset(Experience.model_fields) - {"facts", "text"} | {"content", *_FACT}

    def takes(self, data: Any) -> bool:
        return isinstance(data, Experience) or _has(data, "title")

    async def store(self, data: Any) -> object:
        return Episode.of((await write_experience(self._scoped, self._experience(data))).episode)

    def _experience(self, data: Any) -> Experience:
        if isinstance(data, Experience):
            return data
        fields = self._known_fields(data)
        if "title" not in fields:
            content = _text(fields, self.name)
            fields |= {"title": headline(content), "description": fields.get("description") or content}
        return experience_of({name: value for name, value in fields.items() if name in Experience.model_fields})

    async def retrieve(self, key: str) -> object | None:
        record = await self._record(key) or await find_experience(self._scoped, key)
        if record is None:
            return None
        return Episode.of(record) if record.kind == "episode" else Event.of(record)


class SemanticSystem(BuiltInSystem):
    """Learns a fact (subject, predicate, object), or defines a concept (name, definition and so on)."""

    name, kinds = "semantic", ("concept", "fact", "rule")
    _fact = frozenset({*_FACT, "valid_from", "valid_to", "confidence", "qualifiers", "evidence", "importance"})
    _concept = frozenset({"name", "definition", "category", "aliases", "attributes"})
    fields = _fact | _concept

    def __init__(self, scoped: ScopedStore, memory: SemanticMemory) -> None:
        super().__init__(scoped)
        self._memory = memory

    def takes(self, data: Any) -> bool:
        return _has(data, *_FACT) or (_has(data, "name") and any(_has(data, f) for f in self._concept - {"name"}))

    async def store(self, data: Any) -> object:
        fields = self._known_fields(data)
        if set(_FACT) <= set(fields):
            return await self._memory.learn(**{name: value for name, value in fields.items() if name in self._fact})
        if "name" in fields:
            return await self._memory.define(**{name: value for name, value in fields.items() if name in self._concept})
        raise InvalidInput(
            "Semantic memory holds facts and concepts, and this is neither.",
            hint="Give subject, predicate and object, or a name; remember a free text, and consolidate.",
        )

    async def retrieve(self, key: str) -> object | None:
        record = await self._record(key)
        if record is not None and record.kind != "concept":
            return Fact.of(record) if record.kind == "fact" else Rule.of(record)
        return await self._memory.concept(key)


class ProceduralSystem(BuiltInSystem):
    """Stores a procedure, or a new version of it."""

    name, kinds = "procedural", ("procedure", "run", "step")
    fields = frozenset(Procedure.model_fields)

    def __init__(self, scoped: ScopedStore, memory: ProceduralMemory) -> None:
        super().__init__(scoped)
        self._memory = memory

    def takes(self, data: Any) -> bool:
        return isinstance(data, Procedure) or _has(data, "name", "steps")

    async def store(self, data: Any) -> object:
        return await self._memory.store(data if isinstance(data, Procedure) else self._known_fields(data))

    async def retrieve(self, key: str) -> object | None:
        record = await self._record(key)
        if record is not None and record.kind == RUN:
            return await self._memory.run(key)
        try:
            return await self._memory.retrieve(key)
        except NotFound:
            return None


class GoalSystem(BuiltInSystem):
    """Stores a goal, with its criteria, and a plan if it has ``steps``."""

    name, kinds = "goals", ("goal", "plan", "revision")
    _options = frozenset({"criteria", "priority", "deadline", "parent", "tags", "attributes"})
    fields = _options | {"goal", "steps", "content"}

    def __init__(self, scoped: ScopedStore, memory: GoalMemory) -> None:
        super().__init__(scoped)
        self._memory = memory

    def takes(self, data: Any) -> bool:
        return _has(data, "goal")

    async def store(self, data: Any) -> object:
        fields = self._known_fields(data)
        text = _text({"content": fields.get("goal", fields.get("content"))}, self.name)
        options = {name: value for name, value in fields.items() if name in self._options}
        if "steps" not in fields:
            return await self._memory.create(text, **options)
        return await self._memory.create_goal_with_plan(text, steps=fields["steps"], **options)

    async def retrieve(self, key: str) -> object | None:
        record = await self._record(key)
        if record is None or record.kind != "goal":
            return record
        return await self._memory.get(key)


class PersonaSystem(BuiltInSystem):
    """Observes a trait (dimension and value), or stores a text as knowledge about the user or the agent."""

    name, kinds = "persona", ("trait", "knowledge")
    _trait = frozenset({"dimension", "value", "score", "confidence", "evidence", "about", "correction"})
    _knowledge = frozenset({"confidence", "importance", "evidence", "about"})
    fields = _trait | _knowledge | {"content"}

    def __init__(self, scoped: ScopedStore, memory: PersonaMemory) -> None:
        super().__init__(scoped)
        self._memory = memory

    def takes(self, data: Any) -> bool:
        return _has(data, "dimension", "value")

    async def store(self, data: Any) -> object:
        fields = self._known_fields(data)
        if _has(fields, "dimension", "value"):
            return await self._memory.observe(**{name: value for name, value in fields.items() if name in self._trait})
        options = {name: value for name, value in fields.items() if name in self._knowledge}
        return await self._memory.learn(_text(fields, self.name), **options)

    async def retrieve(self, key: str) -> object | None:
        record = await self._record(key)
        if record is None:
            return await self._memory.trait(key)
        return await self._memory.entry(key) if record.kind == "knowledge" else record


class DialogueSystem(BuiltInSystem):
    """Adds a page: what the user said and the reply."""

    name, kinds = "dialogue", ("page", "segment", "summary")
    fields = frozenset({"user", "reply", "messages", "session", "occurred_at", "importance", "key"})

    def __init__(self, scoped: ScopedStore, memory: DialogueMemory) -> None:
        super().__init__(scoped)
        self._memory = memory

    def takes(self, data: Any) -> bool:
        return _has(data, "user", "reply")

    async def store(self, data: Any) -> object:
        fields = {"user": data} if isinstance(data, str) else self._known_fields(data)
        return await self._memory.add(**fields)

    async def retrieve(self, key: str) -> object | None:
        record = await self._record(key)
        if record is None or record.kind == "summary":
            return record
        return await (self._memory.page(key) if record.kind == "page" else self._memory.segment(key))


class SharedSystem(BuiltInSystem):
    """Proposes a text to all agents of the tenant. Its records belong to the tenant, so recall does not return them."""

    name, kinds = "shared", ()
    fields = frozenset({"content", "evidence", "names", *_FACT})

    def __init__(self, scoped: ScopedStore, memory: SharedMemory) -> None:
        super().__init__(scoped)
        self._memory = memory

    def takes(self, data: Any) -> bool:
        """Nothing is shared without being asked to."""
        return False

    async def store(self, data: Any) -> object:
        fields = self._known_fields(data)
        options = {name: fields[name] for name in ("evidence", "names") if name in fields}
        return await self._memory.propose(_text(fields, self.name), **options)

    async def retrieve(self, key: str) -> object | None:
        try:
            return await self._memory.get(key)
        except NotFound:
            return None

    async def search(self, query: str, k: int) -> list[Hit]:
        scores = {hit.knowledge.id: hit.score for hit in await self._memory.search(query, k=k)}
        scope = Scope(tenant=self._scoped.scope.tenant, agent=SHARED_AGENT)
        records = await self._scoped.store.get_all(scope, list(scores))
        return [Hit(memory=record, score=scores[record.id], why="shared by many agents") for record in records]


class RememberedSystem(BuiltInSystem):
    """What ``remember`` stores, and every kind of memory that no system claims."""

    name = "remembered"
    kinds = ()
    _about = frozenset({"session", "importance", "tags", "occurred_at", "metadata", "source"})
    fields = frozenset(Message.model_fields) | _about | set(_FACT)

    def __init__(self, scoped: ScopedStore, remember: Remember, claimed: Callable[[], frozenset[str]]) -> None:
        super().__init__(scoped)
        self._remember = remember
        self._claimed = claimed

    def unclaimed(self) -> tuple[str, ...]:
        """Return the kinds of memory that no system claims."""
        return tuple(kind for kind in KINDS if kind not in INTERNAL and kind not in self._claimed())

    def takes(self, data: Any) -> bool:
        return not isinstance(data, Mapping | Experience | Procedure) or _has(data, "content")

    async def store(self, data: Any) -> object:
        if not isinstance(data, Mapping):
            return await self._remember(data)
        fields = self._known_fields(data)
        message = {"content": _text(fields, self.name)} | {n: fields[n] for n in ("role", "name") if n in fields}
        return await self._remember(message, **{name: fields[name] for name in self._about if name in fields})

    async def retrieve(self, key: str) -> object | None:
        store, scope = self._scoped.store, self._scoped.scope
        record = await store.get(scope, key) or await store.by_key(scope, key)
        return record if record is not None and record.kind not in {*INTERNAL, *self._claimed()} else None

    async def search(self, query: str, k: int) -> list[Hit]:
        return await self._scoped.search(query, k=k, kinds=self.unclaimed())


def check_fields(data: Any, systems: Sequence[BuiltInSystem]) -> None:
    """Raise an error for fields that none of the systems reads, such as a misspelt one."""
    if not isinstance(data, Mapping):
        return
    known = frozenset().union(*(system.fields for system in systems))
    unknown = [str(name) for name in data if name not in known]
    if unknown:
        names = " and ".join(system.name for system in systems)
        raise InvalidInput(
            f"{names.capitalize()} memory reads no {', '.join(unknown)}.", hint=f"It reads: {', '.join(sorted(known))}."
        )


def _has(data: Any, *fields: str) -> bool:
    return isinstance(data, Mapping) and all(data.get(field) is not None for field in fields)


def _text(fields: Mapping[str, Any], name: str) -> str:
    """Return the text of some fields: the content, or the fact as a sentence."""
    content = fields.get("content")
    if content is None and set(_FACT) <= set(fields):
        content = " ".join(str(fields[part]) for part in _FACT)
    if not isinstance(content, str) or not content.strip():
        raise InvalidInput(f"There is no text for {name} memory.", hint="Give it as `content`.")
    return content


def _key(content: str) -> str:
    words = " ".join("".join(c if c.isprintable() else " " for c in content).split())
    if len(words) <= _KEY_WORDS:
        return words or "text"
    return f"{words[:_KEY_WORDS].rstrip()}#{sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
