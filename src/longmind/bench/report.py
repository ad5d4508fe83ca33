"""Keeping what a benchmark found: JSON and a chart for each run, and one page made of all of them."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from longmind.bench import charts
from longmind.bench.quality import SETS, Line

HALVES = ("all", "tuned", "untouched")


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {"python": platform.python_version(), "system": platform.system(), "cpus": os.cpu_count()}


def write(folder: Path, name: str, told: dict[str, Any], chart: str | None) -> list[Path]:
    """The outcome of a run as JSON, and its chart beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / f"{name}.json"]
    written[0].write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if chart is not None:
        written.append(folder / f"{name}.svg")
        written[1].write_text(chart, encoding="utf-8")
    return written


def quality_chart(set_name: str, title: str, lines: Sequence[Line]) -> str:
    """The main figure of a set by category, tuned and untouched halves apart."""
    main = SETS[set_name].main
    groups = list(dict.fromkeys(line.category for line in lines))
    by_place = {(line.half, line.category): line.scores[main] for line in lines}
    series = {half: [by_place.get((half, group)) for group in groups] for half in HALVES[1:]}
    return charts.bars(f"{title} ({main})", groups, series)


def quality_rows(lines: Iterable[Line]) -> tuple[list[str], list[list[str]]]:
    """A table by category: a row for all, then one for the tuned and one for the untouched half."""
    kept = list(lines)
    names = list(kept[0].scores) if kept else []
    by_place = {(line.half, line.category): line for line in kept}
    rows = []
    for category in sorted({line.category for line in kept}, key=lambda name: (not name.startswith("all"), name)):
        for half in HALVES:
            line = by_place.get((half, category))
            if line is not None:
                told = [f"{line.scores[name]:.1f}" for name in names]
                rows.append([category if half == "all" else "", half, str(line.questions), *told])
    return ["category", "half", "questions", *names], rows


def page(folder: Path) -> str:
    """``docs/benchmarks.md``: every run in the folder as a table, after the notes kept beside them."""
    parts = ["# Benchmarks", "Made by `longmind bench report` from the JSON files in `benchmarks/`."]
    notes = folder / "notes.md"
    if notes.is_file():
        parts.append(notes.read_text(encoding="utf-8").strip())
    for path in sorted(folder.glob("*.json")):
        told = json.loads(path.read_text(encoding="utf-8"))
        parts.append(f"## {told['title']}")
        parts.append(_about(told))
        if "lines" in told:
            parts.append(_markdown(*quality_rows(Line(**line) for line in told["lines"])))
        if "figures" in told:
            parts.append(_markdown(["figure", "value", "unit"], [list(map(str, row)) for row in told["figures"]]))
        if path.with_suffix(".svg").is_file():
            parts.append(f"![{told['title']}](benchmarks/{path.stem}.svg)")
    return "\n\n".join(parts) + "\n"


def _about(told: dict[str, Any]) -> str:
    made = told["machine"]
    return (
        f"Embedder `{told['embedder']}`, backend {told['backend']}, {told['seconds']} s, "
        f"Python {made['python']} on {made['system']} with {made['cpus']} CPUs."
    )


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
