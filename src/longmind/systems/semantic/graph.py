"""The graph of concepts and facts: neighbourhoods, paths and relations.

A fact is an edge. It is linked to its subject (``about``) and, by its predicate, to its object. So each edge has its
own validity, source and user, and a user's private fact about two shared concepts stays private.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from longmind.clock import as_utc
from longmind.errors import InvalidInput
from longmind.store.base import MAX_DEPTH
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic.concepts import Concepts
from longmind.systems.semantic.models import Concept, Fact, Graph, Node, Path, PathStep
from longmind.systems.semantic.names import fold_name
from longmind.systems.semantic.predicates import Predicates
from longmind.systems.semantic.timelines import TimelineReader, held_at
from longmind.systems.semantic.visibility import read_consistently
from longmind.types import Filter

MAX_VISITED = 20_000
"""The most concepts that one query may visit."""


@dataclass(slots=True)
class _Reached:
    """One side of a breadth-first search: the previous concept and the fact for each visited concept."""

    steps: dict[str, tuple[str, Fact] | None]
    frontier: list[str] = field(default_factory=list)

    def path_to(self, concept: str) -> list[tuple[str, Fact]]:
        """Return the steps from the start to a concept, each as (previous concept, fact)."""
        way: list[tuple[str, Fact]] = []
        step = self.steps[concept]
        while step is not None:
            way.append(step)
            step = self.steps[step[0]]
        return way[::-1]


class Graphs:
    """Queries on the graph of a scope."""

    def __init__(
        self, scoped: ScopedStore, concepts: Concepts, predicates: Predicates, timelines: TimelineReader
    ) -> None:
        self._scoped = scoped
        self._concepts = concepts
        self._predicates = predicates
        self._timelines = timelines

    async def neighbourhood(self, name: str, depth: int, *, as_of: datetime | None, limit: int) -> Graph:
        """Return the concepts within ``depth`` steps of one, nearest first, with the facts among them."""
        _check_depth(depth)
        moment = as_utc(as_of) if as_of else self._scoped.now()
        start = [r.id for r in await self._concepts.need(name)]
        depths = dict.fromkeys(start, 0)
        facts: dict[str, Fact] = {}
        frontier, truncated = start, False
        for level in range(depth + 1):
            near = await self._facts_at(frontier, moment)
            facts.update({fact.id: fact for fact in near})
            ends = dict.fromkeys(end for fact in near for end in _ends(fact) if end not in depths)
            if not ends or level == depth:
                break
            room_left = limit - len(depths)
            truncated = truncated or len(ends) > room_left
            frontier = list(ends)[: max(0, room_left)]
            depths.update(dict.fromkeys(frontier, level + 1))
        return await self._build_graph(depths, facts.values(), truncated)

    async def whole_graph(self, *, as_of: datetime | None, category: str | None, limit: int) -> Graph:
        """Return all concepts, or those of a category, with the facts among them."""
        moment = as_utc(as_of) if as_of else self._scoped.now()
        depths: dict[str, int] = {}
        cursor: str | None = None
        while len(depths) < limit:
            page = await self._concepts.page(category, limit=min(500, limit - len(depths)), cursor=cursor)
            depths.update(dict.fromkeys((c.id for c in page.items), 0))
            cursor = page.cursor
            if cursor is None:
                break
        facts: dict[str, Fact] = {}
        ids = list(depths)
        for start in range(0, len(ids), 500):
            facts.update({f.id: f for f in await self._facts_at(ids[start : start + 500], moment)})
        return await self._build_graph(depths, facts.values(), truncated=cursor is not None)

    async def path(self, start: str, goal: str, *, depth: int, as_of: datetime | None) -> Path | None:
        """Return the shortest path between two concepts; facts may be followed in either direction."""
        _check_depth(depth)
        moment = as_utc(as_of) if as_of else self._scoped.now()
        near_start, near_goal = [
            _Reached({r.id: None for r in await self._concepts.need(name)}) for name in (start, goal)
        ]
        near_start.frontier, near_goal.frontier = list(near_start.steps), list(near_goal.steps)
        meeting = next((c for c in near_start.steps if c in near_goal.steps), None)
        for _ in range(depth):
            if meeting is not None or not (near_start.frontier and near_goal.frontier):
                break
            near, far = (
                (near_start, near_goal)
                if len(near_start.frontier) <= len(near_goal.frontier)
                else (near_goal, near_start)
            )
            meeting = next((id for id in await self._step(near, moment) if id in far.steps), None)
            if len(near_start.steps) + len(near_goal.steps) > MAX_VISITED:
                raise InvalidInput(
                    f"More than {MAX_VISITED} concepts lie between {start!r} and {goal!r}.",
                    hint="Ask for a smaller depth.",
                )
        if meeting is None:
            return None
        return await self._describe_path(_joined(near_start, near_goal, meeting), meeting)

    async def _step(
        self, side: _Reached, moment: datetime, predicate: str | None = None, *, backwards: bool = True
    ) -> list[str]:
        """Follow the facts from the frontier; the concepts reached become the new frontier."""
        frontier, reached = set(side.frontier), list[str]()
        for fact in await self._facts_at(side.frontier, moment, predicate):
            if fact.object_id is None:
                continue
            for source, target in ((fact.subject_id, fact.object_id), (fact.object_id, fact.subject_id))[
                : 1 + backwards
            ]:
                if source in frontier and target not in side.steps:
                    side.steps[target] = (source, fact)
                    reached.append(target)
        side.frontier = reached
        return reached

    async def _describe_path(self, way: Sequence[tuple[str, Fact, str]], lone: str) -> Path:
        ids = [way[0][0], *(target for _, _, target in way)] if way else [lone]
        names = {r.id: str(r.body["name"]) for r in await self._scoped.store.get_all(self._scoped.scope, ids)}
        steps = []
        for source, fact, target in way:
            forward = fact.subject_id == source
            relation = fact.predicate if forward else await self._read_backwards(fact.predicate)
            steps.append(
                PathStep(source=names[source], relation=relation, target=names[target], fact=fact, forward=forward)
            )
        return Path(concepts=tuple(names[id] for id in ids), steps=tuple(steps))

    async def _read_backwards(self, predicate: str) -> str:
        use = await self._predicates.find(predicate)
        if use is None:
            return predicate
        return predicate if use.predicate.symmetric else use.predicate.inverse or f"{predicate} (of)"

    async def holds(self, start: str, predicate: str, goal: str, *, depth: int, as_of: datetime | None) -> Path | None:
        """Return the path by which a relation holds: stated, stated as its inverse, or a chain if it is transitive."""
        _check_depth(depth)
        use = await self._predicates.find(predicate)
        if use is None or not use.predicate.relates:
            return None
        moment = as_utc(as_of) if as_of else self._scoped.now()
        source, target = (goal, start) if use.swapped else (start, goal)
        goals = {r.id for r in await self._concepts.need(target)}
        seen = _Reached({r.id: None for r in await self._concepts.need(source)})
        seen.frontier = list(seen.steps)
        for _ in range(depth if use.predicate.transitive else 1):
            reached = await self._step(seen, moment, use.predicate.name, backwards=use.predicate.symmetric)
            if met := next((id for id in reached if id in goals), None):
                way = seen.path_to(met)
                ends = [id for id, _ in way[1:]] + [met]
                return await self._describe_path([(s, f, t) for (s, f), t in zip(way, ends, strict=True)], met)
            if not reached:
                return None
        return None

    async def _facts_at(self, concepts: Sequence[str], moment: datetime, predicate: str | None = None) -> list[Fact]:
        """Return the facts that hold at a moment with one of these concepts as subject or object."""
        if not concepts:
            return []
        held = held_at(await read_consistently(self._scoped, lambda: self._timelines.facts_touching(concepts)), moment)
        return [f for f in map(Fact.of, held) if predicate is None or f.predicate == predicate]

    async def _build_graph(self, depths: dict[str, int], facts: Iterable[Fact], truncated: bool) -> Graph:
        records = {r.id: r for r in await self._scoped.store.get_all(self._scoped.scope, depths)}
        nodes = [Node(concept=Concept.of(records[id]), depth=depth) for id, depth in depths.items() if id in records]
        inside = [f for f in facts if all(end in records for end in _ends(f))]
        inside.sort(key=lambda f: (f.subject, f.predicate, str(f.object), f.id))
        return Graph(
            nodes=tuple(nodes),
            edges=tuple(f for f in inside if f.object_id is not None),
            values=tuple(f for f in inside if f.object_id is None),
            truncated=truncated,
        )

    async def in_category(self, category: str) -> list[str]:
        """Return the ids of the concepts of a category and of the facts about them."""
        where = Filter(kinds=("concept",), metadata={"category": fold_name(category)})
        concepts = [r.id async for r in self._scoped.store.scan_all(self._scoped.scope, where)]
        links = await self._scoped.store.all_links(self._scoped.scope, concepts, relation="about", direction="in")
        return [*concepts, *dict.fromkeys(link.source for link in links)]


def _ends(fact: Fact) -> list[str]:
    return [fact.subject_id] if fact.object_id is None else [fact.subject_id, fact.object_id]


def _joined(near_start: _Reached, near_goal: _Reached, meeting: str) -> list[tuple[str, Fact, str]]:
    """Join the two halves of a path at the concept where they met, as (from, fact, to)."""
    there = near_start.path_to(meeting)
    ends = [id for id, _ in there[1:]] + [meeting]
    way = [(source, fact, target) for (source, fact), target in zip(there, ends, strict=False)]
    back = near_goal.path_to(meeting)
    starts = [id for id, _ in back[1:]] + [meeting]
    return way + [(source, fact, target) for (target, fact), source in zip(back[::-1], starts[::-1], strict=False)]


def _check_depth(depth: int) -> None:
    if not 1 <= depth <= MAX_DEPTH:
        raise InvalidInput(f"depth must be from 1 to {MAX_DEPTH}, not {depth}.")
