"""Draw the pictures of the architecture page: the layers, the record, and the five walks.

    python -m tools.diagrams docs/images

A picture is data plus a drawing function, so it changes in the same commit as the code it shows. A test checks that the
committed pictures are up to date and that every module and name in a walk exists.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Literal

WALKS = Path(__file__).with_name("walks.json")
PACKAGE = Path(__file__).parents[1] / "src" / "longmind"
FONT = "ui-sans-serif, system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, monospace"
INK, MUTED, LINE, PAPER, CARD = "#1f2933", "#5f6c7b", "#cbd2d9", "#ffffff", "#f5f7fa"
STORE_COLOUR, ACCENT = "#0b7285", "#5f3dc4"


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a walk: the function that does it, what it does, and whether it reads or writes the store."""

    target: str
    """``module:qualified.name`` below ``longmind``, such as ``recall.engine:Recaller.recall``."""
    does: str
    store: Literal["", "reads", "writes"] = ""

    def resolve(self) -> object:
        """Return the object the hop names; raises if it does not exist."""
        module, _, name = self.target.partition(":")
        found: object = import_module(f"longmind.{module}")
        for part in name.split("."):
            found = getattr(found, part)
        return found


@dataclass(frozen=True, slots=True)
class Walk:
    """What happens, hop by hop, when a user makes one call."""

    name: str
    call: str
    hops: tuple[Hop, ...]


def load_walks() -> tuple[Walk, ...]:
    """Return the five walks from ``walks.json``."""
    walks = json.loads(WALKS.read_text(encoding="utf-8"))
    return tuple(Walk(walk["name"], walk["call"], tuple(Hop(**hop) for hop in walk["hops"])) for walk in walks)


LAYERS: tuple[tuple[str, str], ...] = (
    ("cli", "one file per command"),
    ("worker", "durable background jobs, and the service inside a process"),
    ("agent", "the loop: recall, decide, act, record, reflect; pursuit of goals"),
    ("sync", "the public face, blocking"),
    ("memory  ·  agent_memory", "the public face: remember, recall, ask, context, forget, consolidate"),
    ("manager  ·  conversation  ·  answering", "what spans several memory systems"),
    (
        "perceive  ·  consolidate  ·  recall",
        "what comes in, what is made of it, what comes out",
    ),
    (
        "systems",
        "working, episodic, semantic, procedural, dialogue, persona, shared, goals",
    ),
    ("store  ·  models", "SQLite, PostgreSQL, in memory; embedders, rerankers and language models"),
    ("text", "analysis, sentences, dates, similarity: everything that knows about language"),
    ("config  ·  types  ·  kinds  ·  clock", "settings, records, one row per kind of memory, time and ids"),
    ("errors", "one tree: code, HTTP status, what to do"),
)

RECORD: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
    (
        "memories",
        "one row for every kind of memory",
        (
            ("id, version", "uuid7; compare-and-set on every update"),
            ("tenant, agent, user, session", "the scope"),
            ("kind, key", "what it is; a unique name, if it has one"),
            ("content, body", "the text that is searched; typed JSON"),
            ("importance, valence, tags, metadata", "for ranking and filters"),
            ("source, trust", "who said it, where; how far to believe it"),
            ("occurred_at, recorded_at", "when it happened; when we learnt it"),
            ("valid_from, valid_to", "while a fact holds"),
            ("access_count, last_accessed_at, interaction", "what heat is computed from"),
            ("state", "active archived superseded stale quarantined"),
        ),
    ),
    (
        "links",
        "directed relations between memories",
        (
            ("source, target", "two memories of one agent"),
            ("relation", "next, part_of, derived_from, about ..."),
            ("weight, valid_from, valid_to", "how strong, and while it holds"),
            ("metadata", "plain JSON"),
        ),
    ),
    (
        "journal",
        "append-only: every change",
        (
            ("seq", "1, 2, 3 ... per agent, in commit order"),
            ("operation, actor, reason, at", "who changed it, when and why"),
            ("action", "put update delete erase link unlink"),
            ("memory_id, before, after, link", "what it was, what it became"),
        ),
    ),
)


def _text(
    x: float,
    y: float,
    content: str,
    *,
    size: int = 14,
    colour: str = INK,
    bold: bool = False,
    mono: bool = False,
    anchor: str = "start",
) -> str:
    weight = ' font-weight="600"' if bold else ""
    family = MONO if mono else FONT
    return (
        f'<text x="{x:g}" y="{y:g}" font-family="{family}" font-size="{size}" fill="{colour}"{weight} '
        f'text-anchor="{anchor}">{escape(content)}</text>'
    )


def _box(
    x: float, y: float, width: float, height: float, *, fill: str = CARD, stroke: str = LINE, radius: int = 6
) -> str:
    place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<rect {place} rx="{radius}" fill="{fill}" stroke="{stroke}"/>'


def _arrow(x1: float, y1: float, x2: float, y2: float, colour: str = MUTED) -> str:
    return (
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{colour}" stroke-width="1.6" '
        f'marker-end="url(#{"head" if colour == MUTED else "store-head"})"/>'
    )


def _wrap(content: str, limit: int) -> list[str]:
    """Break a text into lines of at most ``limit`` characters."""
    lines, line = [], ""
    for word in content.split():
        if line and len(line) + 1 + len(word) > limit:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line]


def _picture(title: str, width: int, height: float, parts: Sequence[str]) -> str:
    heads = "".join(
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0 L8 4 L0 8 z" fill="{colour}"/></marker>'
        for name, colour in (("head", MUTED), ("store-head", STORE_COLOUR))
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<defs>{heads}</defs>",
            _box(0.5, 0.5, width - 1, height - 1, fill=PAPER, radius=10),
            *parts,
            "</svg>\n",
        ]
    )


def draw_layers() -> str:
    """Draw the layers, the highest first. Each may import what is below it."""
    parts, top, row = [], 20, 46
    for number, (names, role) in enumerate(LAYERS):
        y = top + number * row
        parts.append(_box(20, y, 860, row - 8))
        parts.append(_text(36, y + 24, names, bold=True, mono=True))
        parts.append(_text(372, y + 24, role, size=13, colour=MUTED))
    return _picture("The layers of Longmind, top to bottom", 900, top + len(LAYERS) * row + 12, parts)


def draw_record() -> str:
    """Draw the three tables that hold everything."""
    parts: list[str] = []
    y = 20.0
    for name, role, fields in RECORD:
        height = 44 + 24 * len(fields)
        parts.append(_box(20, y, 860, height))
        parts.append(_text(36, y + 26, name, size=16, bold=True, mono=True, colour=STORE_COLOUR))
        parts.append(_text(150, y + 26, role, size=13, colour=MUTED))
        for number, (field, meaning) in enumerate(fields):
            line = y + 52 + 24 * number
            parts.append(_text(36, line, field, size=13, mono=True))
            parts.append(_text(430, line, meaning, size=13, colour=MUTED))
        y += height + 14
    return _picture("The record: memories, links and the journal", 900, y + 6, parts)


def draw_walk(walk: Walk) -> str:
    """Draw one walk: the call at the top, a box for each hop, and an arrow to the store where it reads or writes."""
    parts = [_text(30, 38, walk.call, size=16, bold=True, mono=True, colour=ACCENT)]
    y, centre = 58.0, 60.0
    bottoms: list[float] = []
    for hop in walk.hops:
        lines = _wrap(hop.does, 86)
        height = 34 + 18 * len(lines)
        if bottoms:
            parts.append(_arrow(centre, bottoms[-1], centre, y - 1))
        parts.append(_box(30, y, 660, height))
        module, _, name = hop.target.partition(":")
        parts.append(_text(44, y + 22, name, bold=True, mono=True))
        parts.append(
            _text(676, y + 22, module.replace(".", "/") + ".py", size=12, mono=True, colour=MUTED, anchor="end")
        )
        for number, line in enumerate(lines):
            parts.append(_text(44, y + 42 + 18 * number, line, size=13, colour=MUTED))
        if hop.store:
            middle = y + height / 2
            ends = (690, 778) if hop.store == "writes" else (780, 692)
            parts.append(_arrow(ends[0], middle, ends[1], middle, STORE_COLOUR))
            parts.append(_text(735, middle - 7, hop.store, size=12, colour=STORE_COLOUR, anchor="middle"))
        bottoms.append(y + height)
        y += height + 18
    store = _box(780, 58, 100, y - 76, fill="#e3fafc", stroke=STORE_COLOUR)
    parts.append(store)
    parts.append(_text(830, 58 + (y - 76) / 2, "store", bold=True, colour=STORE_COLOUR, anchor="middle"))
    return _picture(f"What happens in {walk.call}", 900, y + 4, parts)


def draw_all() -> dict[str, str]:
    """Return every picture by its file name."""
    walks = {f"walk-{walk.name}.svg": draw_walk(walk) for walk in load_walks()}
    return {"layers.svg": draw_layers(), "record.svg": draw_record(), **walks}


def main() -> None:
    """Write the pictures to a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in draw_all().items():
        (folder / name).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
