"""Saved results: JSON and a chart for each run, and one page made from all of them."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import charts
from benchmarks.quality import Line
from benchmarks.sets import SETS

HALVES = ("all", "tuned", "untouched")


def machine() -> dict[str, Any]:
    """Return what the figures were measured on."""
    return {"python": platform.python_version(), "system": platform.system(), "cpus": os.cpu_count()}


def write(folder: Path, name: str, result: dict[str, Any], chart: str | None) -> list[Path]:
    """Write the result of a run as JSON, and its chart beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / f"{name}.json"]
    written[0].write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if chart is not None:
        written.append(folder / f"{name}.svg")
        written[1].write_text(chart, encoding="utf-8")
    return written


def quality_chart(set_name: str, title: str, lines: Sequence[Line]) -> str:
    """Draw the main score of a set by category, tuned and untouched halves apart."""
    main = SETS[set_name].main_score
    groups = list(dict.fromkeys(line.category for line in lines))
    by_place = {(line.half, line.category): line.scores[main] for line in lines}
    series = {half: [by_place.get((half, group)) for group in groups] for half in HALVES[1:]}
    return charts.bars(f"{title} ({main})", groups, series)


def quality_rows(lines: Iterable[Line]) -> tuple[list[str], list[list[str]]]:
    """Return the head and rows of a table by category: for all, the tuned and the untouched half."""
    lines = list(lines)
    names = list(lines[0].scores) if lines else []
    by_place = {(line.half, line.category): line for line in lines}
    rows = []
    for category in sorted({line.category for line in lines}, key=lambda name: (not name.startswith("all"), name)):
        for half in HALVES:
            line = by_place.get((half, category))
            if line is not None:
                values = [f"{line.scores[name]:.1f}" for name in names]
                rows.append([category if half == "all" else "", half, str(line.questions), *values])
    return ["category", "half", "questions", *names], rows


def page(folder: Path) -> str:
    """Return ``docs/benchmarks.md``: the notes, and every result in the folder as a table."""
    parts = ["# Benchmarks", "Made by `python -m benchmarks report` from the JSON files in `benchmarks/`."]
    notes = folder / "notes.md"
    if notes.is_file():
        parts.append(notes.read_text(encoding="utf-8").strip())
    for path in sorted(folder.glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        parts.append(f"## {result['title']}")
        parts.append(_about(result))
        if "lines" in result:
            parts.append(_markdown(*quality_rows(Line(**line) for line in result["lines"])))
        if "figures" in result:
            parts.append(_markdown(["figure", "value", "unit"], [list(map(str, row)) for row in result["figures"]]))
        if "weeks" in result:
            from benchmarks.soak import weeks

            head = ["at the end of day", *(str(week["days"]) for week in result["weeks"])]
            parts.append(_markdown(head, weeks.rows(result["weeks"])))
        if path.with_suffix(".svg").is_file():
            parts.append(f"![{result['title']}](benchmarks/{path.stem}.svg)")
    return "\n\n".join(parts) + "\n"


def _about(result: dict[str, Any]) -> str:
    measured_on = result["machine"]
    return (
        f"Embedder `{result['embedder']}`, backend {result['backend']}, {result['seconds']} s, "
        f"Python {measured_on['python']} on {measured_on['system']} with {measured_on['cpus']} CPUs."
    )


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
