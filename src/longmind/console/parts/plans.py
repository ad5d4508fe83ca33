"""A plan as a picture: its steps from left to right, each after those it waits for, and their status."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from longmind.console.parts.elements import attributes, box, sized, text
from longmind.systems.goals import PlanStep

STEP_LOOKS = {"done": "good", "failed": "bad", "running": "warn"}
_COLOURS = {
    "done": "var(--good)",
    "failed": "var(--bad)",
    "running": "var(--warn)",
    "pending": "var(--line-strong)",
    "skipped": "var(--muted)",
}
_WIDE, _HIGH, _GAP_X, _GAP_Y, _EDGE = 190, 92, 56, 20, 6


def plan_graph(steps: Sequence[PlanStep], show_status: Callable[[PlanStep], object]) -> None:
    """Show the steps of a plan as a directed graph. It scrolls where it is wider than the page."""
    places = _places(steps)
    columns = max(column for column, _ in places.values()) + 1
    rows = max(row for _, row in places.values()) + 1
    width = columns * (_WIDE + _GAP_X) - _GAP_X
    height = rows * (_HIGH + _GAP_Y) - _GAP_Y
    shown = attributes(box("div", "lm-dag"), tabindex=0, role="group", aria_label="The plan, from left to right")
    with shown, sized(box("div", "lm-dag-canvas"), width=f"{width}px", height=f"{height}px"):
        with attributes(box("svg"), width=width, height=height, aria_hidden="true"):
            for step in steps:
                for before in step.after:
                    _edge(places[before], places[step.id])
        with box("ol"):
            for step in steps:
                _node(step, places[step.id], show_status)


def _places(steps: Sequence[PlanStep]) -> Mapping[str, tuple[int, int]]:
    """Return the column and the row of each step: a step is right of all that it waits for."""
    by_id = {step.id: step for step in steps}
    columns: dict[str, int] = {}

    def column(id: str) -> int:
        if id not in columns:
            columns[id] = 1 + max((column(before) for before in by_id[id].after), default=-1)
        return columns[id]

    filled: dict[int, int] = {}
    places: dict[str, tuple[int, int]] = {}
    for step in steps:
        at = column(step.id)
        places[step.id] = (at, filled.get(at, 0))
        filled[at] = filled.get(at, 0) + 1
    return places


def _edge(start: tuple[int, int], end: tuple[int, int]) -> None:
    x1, y1 = start[0] * (_WIDE + _GAP_X) + _WIDE, start[1] * (_HIGH + _GAP_Y) + _HIGH // 2
    x2, y2 = end[0] * (_WIDE + _GAP_X), end[1] * (_HIGH + _GAP_Y) + _HIGH // 2
    bend = _GAP_X // 2
    attributes(box("path", "lm-dag-edge"), d=f"M {x1} {y1} C {x1 + bend} {y1}, {x2 - bend} {y2}, {x2 - _EDGE} {y2}")
    attributes(box("path", "lm-dag-tip"), d=f"M {x2} {y2} l {-_EDGE - 2} {-_EDGE + 1} v {2 * _EDGE - 2} z")


def _node(step: PlanStep, place: tuple[int, int], show_status: Callable[[PlanStep], object]) -> None:
    node = sized(
        box("li", "lm-dag-node"),
        left=f"{place[0] * (_WIDE + _GAP_X)}px",
        top=f"{place[1] * (_HIGH + _GAP_Y)}px",
        width=f"{_WIDE}px",
        height=f"{_HIGH}px",
        border_left_color=_COLOURS[step.status],
    )
    with node:
        attributes(text(step.description, "lm-clip-2"), title=step.description)
        show_status(step)
