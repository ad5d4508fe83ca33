"""The built-in systems as memory systems: each takes from what it is given the fields it knows.

So one piece of data can go to several of them. ``fields`` says what a system reads of a mapping; what none of those
asked would read is an error, not lost.
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
from longmind.systems.episodic import Episode, Event
from longmind.systems.procedural import RUN, ProceduralMemory, Procedure
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import Fact, Rule, SemanticMemory
from longmind.systems.working import WorkingMemory
from longmind.types import Hit, Memory, Message

Remember = Callable[..., Awaitable[Any]]
_FACT = ("subject", "predicate", "object")
_KEY_WORDS = 60


class BuiltInSystem(ABC):
    """What the built-in systems have in common."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]
    fields: ClassVar[frozenset[str]]

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped

    @abstractmethod
    async def store(self, data: Any) -> object:
        """Keep something; what comes back is what the system itself returns."""

    @abstractmethod
    async def retrieve(self, key: str) -> object | None:
        """What is held under a key, or None."""

    async def search(self, query: str, k: int) -> list[Hit]:
        return await self._scoped.search(query, k=k, kinds=self.kinds)

    async def _record(self, id: str) -> Memory | None:
        found = await self._scoped.store.get(self._scoped.scope, id)
        return found if found is not None and found.kind in self.kinds else None

    def _taken(self, data: Any) -> dict[str, Any]:
        """The fields of some data that this system reads."""
        told = {"content": data} if isinstance(data, str) else data
        if not isinstance(told, Mapping):
            raise InvalidInput(
                f"A {type(data).__name__} cannot be stored in {self.name} memory.", hint="Give a text or a mapping."
            )
        return {name: value for name, value in told.items() if name in self.fields}


class WorkingSystem(BuiltInSystem):
    """Puts a text in mind under its key; one without a key goes by its first words."""

    name, kinds = "working", ("working",)
    fields = frozenset({"key", "content", "importance", "source", *_FACT})

    def __init__(self, scoped: ScopedStore, memory: WorkingMemory) -> None:
        super().__init__(scoped)
        self._memory = memory

    async def store(self, data: Any) -> object:
        told = self._taken(data)
        content = _text(told, self.name)
        more = {name: told[name] for name in ("importance", "source") if name in told}
        return await self._memory.put(told.get("key") or _key(content), content, **more)

    async def retrieve(self, key: str) -> object | None:
        return await self._memory.item(key)


class EpisodicSystem(BuiltInSystem):
    """Writes down an experience as an episode. A text without a title is an episode of its own."""

    name, kinds = "episodic", ("episode", "event")
    fields = frozenset(Experience.model_fields) - {"facts", "text"} | {"content", *_FACT}

    async def store(self, data: Any) -> object:
        return Episode.of((await write_experience(self._scoped, self._experience(data))).episode)

    def _experience(self, data: Any) -> Experience:
        if isinstance(data, Experience):
            return data
        told = self._taken(data)
        if "title" not in told:
            content = _text(told, self.name)
            told |= {"title": headline(content), "description": told.get("description") or content}
        return experience_of({name: value for name, value in told.items() if name in Experience.model_fields})

    async def retrieve(self, key: str) -> object | None:
        record = await self._record(key) or await find_experience(self._scoped, key)
        if record is None:
            return None
        return Episode.of(record) if record.kind == "episode" else Event.of(record)


class SemanticSystem(BuiltInSystem):
    """Learns a fact (subject, predicate, object), or defines a concept (name, and what else there is to say)."""

    name, kinds = "semantic", ("concept", "fact", "rule")
    _fact = frozenset({*_FACT, "valid_from", "valid_to", "confidence", "qualifiers", "evidence", "importance"})
    _concept = frozenset({"name", "definition", "category", "aliases", "attributes"})
    fields = _fact | _concept

    def __init__(self, scoped: ScopedStore, memory: SemanticMemory) -> None:
        super().__init__(scoped)
        self._memory = memory

    async def store(self, data: Any) -> object:
        told = self._taken(data)
        if set(_FACT) <= set(told):
            return await self._memory.learn(**{name: value for name, value in told.items() if name in self._fact})
        if "name" in told:
            return await self._memory.define(**{name: value for name, value in told.items() if name in self._concept})
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

    async def store(self, data: Any) -> object:
        return await self._memory.store(data if isinstance(data, Procedure) else self._taken(data))

    async def retrieve(self, key: str) -> object | None:
        record = await self._record(key)
        if record is not None and record.kind == RUN:
            return await self._memory.run(key)
        try:
            return await self._memory.retrieve(key)
        except NotFound:
            return None


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
        """The kinds that are left."""
        return tuple(kind for kind in KINDS if kind not in INTERNAL and kind not in self._claimed())

    async def store(self, data: Any) -> object:
        if not isinstance(data, Mapping):
            return await self._remember(data)
        told = self._taken(data)
        message = {"content": _text(told, self.name)} | {n: told[n] for n in ("role", "name") if n in told}
        return await self._remember(message, **{name: told[name] for name in self._about if name in told})

    async def retrieve(self, key: str) -> object | None:
        store, scope = self._scoped.store, self._scoped.scope
        found = await store.get(scope, key) or await store.by_key(scope, key)
        return found if found is not None and found.kind not in {*INTERNAL, *self._claimed()} else None

    async def search(self, query: str, k: int) -> list[Hit]:
        return await self._scoped.search(query, k=k, kinds=self.unclaimed())


def check_fields(data: Any, systems: Sequence[BuiltInSystem]) -> None:
    """Refuse what none of the systems would read: a misspelt field must not be lost in silence."""
    if not isinstance(data, Mapping):
        return
    known = frozenset().union(*(system.fields for system in systems))
    unknown = [str(name) for name in data if name not in known]
    if unknown:
        names = " and ".join(system.name for system in systems)
        raise InvalidInput(
            f"{names.capitalize()} memory reads no {', '.join(unknown)}.", hint=f"It reads: {', '.join(sorted(known))}."
        )


def _text(told: Mapping[str, Any], name: str) -> str:
    """What some data says: its content, or its fact as a sentence."""
    content = told.get("content")
    if content is None and set(_FACT) <= set(told):
        content = " ".join(str(told[part]) for part in _FACT)
    if not isinstance(content, str) or not content.strip():
        raise InvalidInput(f"There is no text for {name} memory.", hint="Give it as `content`.")
    return content


def _key(content: str) -> str:
    words = " ".join("".join(c if c.isprintable() else " " for c in content).split())
    if len(words) <= _KEY_WORDS:
        return words or "text"
    return f"{words[:_KEY_WORDS].rstrip()}#{sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
