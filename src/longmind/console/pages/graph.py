"""Graph: concepts and their relations, expanded on a click, with paths, and what held at a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from nicegui import ui

from longmind.console.parts.charts import chart, options, tooltip
from longmind.console.parts.dialogs import confirm
from longmind.console.parts.elements import attributes, box, button, icon_button, text
from longmind.console.parts.figures import legend, plural
from longmind.console.parts.kinds import tag
from longmind.console.parts.lists import first_and_rest
from longmind.console.parts.messages import empty, say
from longmind.console.parts.panels import grid, panel, title
from longmind.console.parts.times import TimeSlider, day
from longmind.console.view import View
from longmind.systems.semantic import Concept, ConceptSummary, Fact, Graph, Path

_CONCEPTS, _FACTS, _SHOWN = 60, 400, 8
_HOLDS, _ENDED, _LATER, _RETRACTED = "holds", "ended", "not yet", "retracted"
_COLOURS = {
    _HOLDS: "var(--kind-fact)",
    _ENDED: "var(--line-strong)",
    _LATER: "var(--warn)",
    _RETRACTED: "var(--bad)",
}
_TAGS = {_HOLDS: "good", _ENDED: "", _LATER: "warn", _RETRACTED: "bad"}
_FORCE = {"repulsion": 260, "edgeLength": [70, 130], "gravity": 0.12, "layoutAnimation": False}
_FORCE_NARROW = {"repulsion": 130, "edgeLength": [36, 72], "gravity": 0.16, "layoutAnimation": False}
_BESIDE = {"position": "right", "width": 160, "overflow": "truncate"}
_BELOW = {"position": "bottom", "width": 72, "overflow": "truncate"}
"""Where the name of a concept stands; on a phone below it, so that none is cut off at the edge."""
_EXAMPLE = 'await mem.semantic.relate("Alice", "lives in", "Lisbon")'


async def build(view: View) -> None:
    """Build the page."""
    title("Graph", "What the agent knows of things and how they relate. Press one to see more.")
    await GraphPage(view).show()


class GraphPage:
    """The concepts and facts that are shown, and what is chosen among them."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._semantic = view.memory.semantic
        self._concepts: dict[str, Concept] = {}
        self._facts: dict[str, Fact] = {}
        self._path: frozenset[str] = frozenset()
        self._chosen: str | None = None

    async def show(self) -> None:
        """Build everything."""
        graph, facts = await asyncio.gather(
            self._semantic.graph(limit=_CONCEPTS),
            self._semantic.facts(current=False, limit=_FACTS, descending=True),
        )
        if not graph.nodes:
            empty("Nothing is known yet", "Consolidation learns from what is said. A program does so too:", _EXAMPLE)
            return
        self._add(graph, facts.items)
        now = datetime.now(UTC)
        known = [fact.valid_from for fact in self._facts.values() if fact.valid_from is not None]
        start = max(min(known, default=now), now - timedelta(days=365))
        with grid():
            with panel("Concepts and relations", "drag to move, wheel to zoom", "lm-span-8 lm-top"):
                self._slider = TimeSlider("As the world was", start, now, self._moved)
                self._drawing = chart(self._options(), "The graph of concepts; the panels beside it say the same")
                self._drawing.classes("lm-graph")
                self._drawing.on_point_click(self._clicked)
                legend(_COLOURS | {"on the path": "var(--accent)"})
                if graph.truncated:
                    text(f"The first {_CONCEPTS} concepts. Others appear when you choose or expand.", "lm-note", "p")
            with box("div", "lm-stack lm-span-4"):
                with panel("Path between two"):
                    self._path_form()
                with panel("Concept"):
                    self._choose_form()
                    self._details = box("div", "lm-stack lm-after")
        first = self._view.query.get("concept") or max(self._concepts.values(), key=self._degree).name
        await self._choose(first, expand=False)

    def _degree(self, concept: Concept) -> int:
        return sum(concept.id in (fact.subject_id, fact.object_id) for fact in self._facts.values())

    def _add(self, graph: Graph, facts: Iterable[Fact] = ()) -> None:
        self._concepts |= {node.concept.id: node.concept for node in graph.nodes}
        self._facts |= {fact.id: fact for fact in (*facts, *graph.edges, *graph.values) if fact.turned_from is None}

    def _validity(self, fact: Fact) -> str:
        moment = self._slider.moment or datetime.now(UTC) if hasattr(self, "_slider") else datetime.now(UTC)
        if fact.retracted:
            return _RETRACTED
        if fact.holds_at(moment):
            return _HOLDS
        return _LATER if fact.valid_from is not None and fact.valid_from > moment else _ENDED

    def _options(self) -> dict[str, Any]:
        edges = [
            fact
            for fact in self._facts.values()
            if fact.subject_id in self._concepts and fact.object_id in self._concepts
        ]
        return options(
            tooltip=tooltip(formatter="{b}"),
            media=[
                {"query": {"maxWidth": 500}, "option": {"series": [{"force": _FORCE_NARROW, "label": _BELOW}]}},
                {"query": {"minWidth": 501}, "option": {"series": [{"force": _FORCE, "label": _BESIDE}]}},
            ],
            series=[
                {
                    "type": "graph",
                    "layout": "force",
                    "roam": True,
                    "draggable": True,
                    "force": _FORCE,
                    "data": [self._node(concept) for concept in self._concepts.values()],
                    "links": [self._link(fact) for fact in edges],
                    "edgeSymbol": ["none", "arrow"],
                    "edgeSymbolSize": 7,
                    "label": {
                        "show": True,
                        **_BESIDE,
                        "color": "var(--ink)",
                        "fontSize": 12,
                        "textBorderColor": "var(--surface)",
                        "textBorderWidth": 3,
                    },
                    "labelLayout": {"hideOverlap": True},
                    "emphasis": {"focus": "adjacency", "lineStyle": {"width": 3}},
                }
            ],
        )

    def _node(self, concept: Concept) -> dict[str, Any]:
        on_path = concept.name in self._path
        chosen = concept.id == self._chosen
        return {
            "id": concept.id,
            "name": concept.name,
            "symbolSize": 12 + 3 * min(self._degree(concept), 8),
            "itemStyle": {
                "color": "var(--accent)" if on_path else "var(--kind-concept)",
                "borderColor": "var(--ink)" if chosen else "var(--surface)",
                "borderWidth": 3 if chosen else 1,
            },
        }

    def _link(self, fact: Fact) -> dict[str, Any]:
        validity = self._validity(fact)
        on_path = fact.id in self._path
        return {
            "source": fact.subject_id,
            "target": fact.object_id,
            "name": f"{fact} ({validity})",
            "lineStyle": {
                "color": "var(--accent)" if on_path else _COLOURS[validity],
                "width": 3.5 if on_path else 1.8,
                "type": "solid" if validity == _HOLDS else "dashed",
                "curveness": 0.12,
            },
        }

    def _redraw(self) -> None:
        self._drawing.options.clear()
        self._drawing.options.update(self._options())
        self._drawing.update()

    async def _moved(self) -> None:
        self._path = frozenset()
        if self._chosen in self._concepts:
            await self._choose(self._concepts[self._chosen].name, expand=False)
        else:
            self._redraw()

    async def _clicked(self, event: Any) -> None:
        if event.data_type == "node":
            await self._choose(event.data["name"])

    def _choose_form(self) -> None:
        with box("div", "lm-row lm-nowrap"):
            name = ui.input("Name of a concept").props("outlined dense").classes("lm-grow")

            async def go() -> None:
                await self._choose(name.value.strip())

            name.on("keydown.enter", go)
            button("Show", go)

    async def _choose(self, name: str, *, expand: bool = True) -> None:
        """Show what is known of a concept and, where it was asked for, its neighbours in the drawing."""
        moment = self._slider.moment
        concept = await self._semantic.concept(name) if name else None
        if concept is None:
            say("There is no concept of this name.")
            return
        summary, around = await asyncio.gather(
            self._semantic.about(concept.id, as_of=moment), self._semantic.neighbourhood(concept.id, 1, limit=100)
        )
        self._chosen = summary.concept.id
        self._concepts[summary.concept.id] = summary.concept
        if expand:
            self._add(around)
        self._redraw()
        self._details.clear()
        with self._details:
            self._about(summary)

    def _about(self, summary: ConceptSummary) -> None:
        concept = summary.concept
        with box("div", "lm-row"):
            text(concept.name, "lm-text lm-strong", "h3")
            if concept.category:
                tag(concept.category)
        if concept.definition:
            text(concept.definition, "lm-text lm-note", "p")
        shown = {fact.id: fact for fact in (*summary.facts, *summary.mentions)}
        past = [
            fact
            for fact in self._facts.values()
            if fact.id not in shown and concept.id in (fact.subject_id, fact.object_id)
        ]
        facts = [*shown.values(), *past]
        if not facts:
            text("No fact is about it.", "lm-note", "p")
        first_and_rest("lm-facts", [partial(self._fact, fact) for fact in facts[:_FACTS]], _SHOWN)
        if summary.truncated:
            text("There are more; search for them in the Explorer.", "lm-note", "p")

    def _fact(self, fact: Fact) -> None:
        validity = self._validity(fact)
        with box("div", "lm-grow"):
            text(fact, "lm-text", "p")
            with box("div", "lm-row lm-note"):
                tag(validity, _TAGS[validity])
                text(_when(fact), "")
                text(f"{fact.confidence:.0%} sure", "")
        if self._view.may_write and validity == _HOLDS:
            icon_button("block", f"Retract: {fact}", partial(self._ask_to_retract, fact))

    def _ask_to_retract(self, fact: Fact) -> None:
        async def retract() -> None:
            kept = await self._semantic.retract(fact.id, "retracted in the console")
            self._facts[fact.id] = kept
            say("Retracted.")
            if self._chosen in self._concepts:
                await self._choose(self._concepts[self._chosen].name, expand=False)

        confirm(
            "Retract this fact?",
            f"{fact}. It will count as never having been true; what was derived from it is looked at again.",
            "Retract",
            retract,
        )

    def _path_form(self) -> None:
        with box("div", "lm-stack"):
            start = ui.input("From").props("outlined dense")
            end = ui.input("To").props("outlined dense")

            async def find() -> None:
                path = await self._semantic.path(start.value.strip(), end.value.strip(), as_of=self._slider.moment)
                await self._show_path(path, (start.value, end.value))

            end.on("keydown.enter", find)
            go = button("Find the path", find, look="primary")
            go.bind_enabled_from(end, "value", backward=lambda value: bool((value or "").strip()))
            self._steps = attributes(box("div"), aria_live="polite")

    async def _show_path(self, path: Path | None, ends: Sequence[str]) -> None:
        self._steps.clear()
        with self._steps:
            if path is None:
                self._path = frozenset()
                text(f"Nothing leads from {ends[0]} to {ends[1]}.", "lm-text lm-note", "p")
            else:
                facts = {step.fact.id: step.fact for step in path.steps}
                self._facts |= {id: fact for id, fact in facts.items() if fact.turned_from is None}
                for name in path.concepts:
                    concept = await self._semantic.concept(name)
                    if concept is not None:
                        self._concepts[concept.id] = concept
                self._path = frozenset({*path.concepts, *facts})
                text(plural(len(path.steps), "step"), "lm-note", "p")
                with box("ol", "lm-steps"):
                    for step in path.steps:
                        text(step.fact, "lm-text", "li")
        self._redraw()


def _when(fact: Fact) -> str:
    start = f"from {day(fact.valid_from)}" if fact.valid_from else "always"
    return f"{start} until {day(fact.valid_to)}" if fact.valid_to else start
