"""The formats that can be imported, and how each is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Literal, get_args

from longmind.errors import InvalidInput
from longmind.importing.items import Read

Format = Literal["chatgpt", "claude", "mem0", "letta", "zep", "langgraph", "markdown", "jsonl"]
FORMATS: Mapping[Format, str] = {
    "chatgpt": "ChatGPT's data export: the zip archive, its folder, or conversations.json",
    "claude": "Claude's data export: the zip archive, its folder, or one of its files",
    "mem0": "mem0: history.db, or a JSON file of get_all",
    "letta": "a Letta agent file (.af)",
    "zep": "Graphiti or Zep: JSON of episodes, nodes and edges",
    "langgraph": "a store of LangGraph: a SQLite file, or the URL of a PostgreSQL database",
    "markdown": "a folder of Markdown files with front matter, or one file",
    "jsonl": "JSON lines of messages, conversations or facts",
}
"""The formats and what their paths lead to; each is read by the module of the same name."""


def read_items(format: str, path: str | Path) -> Iterator[Read]:
    """Yield what a source of this format holds, and what of it cannot be mapped."""
    if format not in get_args(Format):
        raise InvalidInput(f"{format!r} is no format that can be imported.", hint=f"There are: {', '.join(FORMATS)}.")
    is_url = isinstance(path, str) and "://" in path
    items: Iterator[Read] = import_module(f"longmind.importing.{format}").read(path if is_url else Path(path))
    return items
