"""What people see: consoles, short ids, dates, and text that cannot play tricks on a terminal.

rich is imported only when something is drawn. Colours come only on a terminal, and not when NO_COLOR is set.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel

from longmind.kinds import SAID

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from longmind.types import Memory

SHORT = 8
_PIPED_WIDTH = 120
_VISIBLE = {
    **{c: chr(0x2400 + c) for c in range(32) if c not in (9, 10)},
    127: "␡",
    **{c: f"\\x{c:02x}" for c in range(0x80, 0xA0)},
    **{c: f"\\u{c:04x}" for c in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))},
}


def plain(text: str) -> str:
    """A text with its control characters made visible: a memory must not move the cursor or turn the line around."""
    return text.translate(_VISIBLE)


def beginning(text: str, characters: int = 400) -> str:
    """A text, or as much of it as one reads at a glance."""
    return text if len(text) <= characters else text[: characters - 2].rstrip() + " …"


def short(id: str) -> str:
    """The end of an id, enough to name it.

    The end and not the beginning: an id begins with the time, so all that was remembered within a minute begins alike.
    """
    return id[-SHORT:]


def day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


def minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def who(memory: Memory) -> str:
    """Who said it: the name if there is one, or else the title of the document, or the role."""
    title = memory.body.get("title") if memory.kind == "document" else None
    return plain(memory.source.name or (title if isinstance(title, str) else None) or memory.source.role)


def from_whom(memory: Memory) -> str:
    """Who said it, or what it is, such as an episode or a goal: what nobody said must not read as said by a role."""
    said = memory.kind in SAID or memory.source.name is not None
    return who(memory) if said else plain(memory.kind)


def without_password(url: str) -> str:
    """A URL fit to be shown."""
    if "://" not in url:
        return url
    parts = urlsplit(url)
    if parts.password:
        host = parts.netloc.rpartition("@")[2]
        parts = parts._replace(netloc=f"{parts.username or ''}:***@{host}")
    if "password=" in parts.query:
        parts = parts._replace(query="&".join(p for p in parts.query.split("&") if not p.startswith("password=")))
    return urlunsplit(parts)


def console(*, error: bool = False) -> Console:
    """A console for people. A pipe has no width, so it gets a fixed one."""
    from rich.console import Console

    result = Console(file=sys.stderr if error else sys.stdout, highlight=False, markup=False, emoji=False)
    if not result.is_terminal:
        result.width = shutil.get_terminal_size((_PIPED_WIDTH, 24)).columns
    return result


def table(*columns: str) -> Table:
    """A table without a box, for lists."""
    from rich.table import Table

    result = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        result.add_column(column)
    return result


def pairs(rows: Mapping[str, object]) -> Table:
    """Names and values, one pair a line; what is empty is left out."""
    from rich.table import Table
    from rich.text import Text

    result = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    result.add_column(style="bold", no_wrap=True)
    result.add_column(overflow="fold")
    for name, value in rows.items():
        if value not in (None, "", ()):
            result.add_row(name, value if isinstance(value, Text) else plain(str(value)))
    return result


def counted(number: int, noun: str) -> str:
    """``1 memory``, ``2 memories``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"


def dim(text: str) -> Text:
    from rich.text import Text

    return Text(text, style="dim")


def as_data(value: Any) -> Any:
    """Plain data of our types, for JSON."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {key: as_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_data(item) for item in value]
    return value


def print_json(data: Any, *, error: bool = False) -> None:
    """One JSON document on a line of its own; escaped where the stream cannot carry every character."""
    stream = sys.stderr if error else sys.stdout
    ascii_only = (stream.encoding or "").lower().replace("-", "") != "utf8"
    stream.write(json.dumps(as_data(data), ensure_ascii=ascii_only, indent=None if error else 2) + "\n")


def print_note(text: str) -> None:
    from rich.text import Text

    console(error=True).print(Text.assemble(("note: ", "yellow"), plain(text)))


def print_error(error: Mapping[str, Any], *, as_json: bool) -> None:
    """What happened and what to do about it."""
    if as_json:
        print_json(error, error=True)
        return
    from rich.text import Text

    out = console(error=True)
    out.print(Text.assemble(("error: ", "bold red"), plain(str(error["message"]))))
    if error["hint"]:
        out.print(Text.assemble(("  try: ", "bold"), plain(str(error["hint"]))))
