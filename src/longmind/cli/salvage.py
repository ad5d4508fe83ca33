"""Writing what can still be read of a damaged SQLite store as an export, which ``longmind import`` takes in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from longmind.cli import screen
from longmind.cli.files import whole_file
from longmind.clock import SystemClock
from longmind.store.open import sqlite_path
from longmind.store.transfer import FORMAT

if TYPE_CHECKING:
    from longmind.cli.command import Invocation

_SHOWN = 10


def rescue(call: Invocation, url: str, target: Path, *, force: bool) -> None:
    """Write the memories that can be read, and tell which could not."""
    if url.partition(":")[0] in ("memory", "postgres", "postgresql") or url == ":memory:":
        raise typer.BadParameter("Only a SQLite store can be salvaged.", param_hint="--salvage")
    from longmind.store.sqlite import salvage

    source = sqlite_path(url)
    salvaged = salvage(str(source), workspace=str(target.absolute().parent))
    with whole_file(target, replace=force) as out:
        _line(out, {"longmind": FORMAT, "exported_at": SystemClock().now().isoformat(), "salvaged": True})
        for memory in salvaged:
            _line(out, {"memory": memory.model_dump(mode="json", exclude_defaults=True)})
        for scope, link in salvaged.links:
            whose = {"tenant": scope.tenant, "agent": scope.agent}
            _line(out, {"link": whose | link.model_dump(mode="json", exclude_defaults=True)})
        _line(out, {"end": {"memories": salvaged.read, "links": len(salvaged.links), "content_hash": {}}})
    data = {"file": str(target), "memories": salvaged.read, "links": len(salvaged.links), "lost": salvaged.lost}
    call.answer(data, lambda: _show(source, target, salvaged.read, salvaged.lost))


def _line(out: Any, record: dict[str, Any]) -> None:
    out.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")


def _show(source: Path, target: Path, read: int, lost: list[str]) -> None:
    out = screen.console()
    out.print(f"{screen.counted(read, 'memory')} read from {source} and written to {target}.")
    for line in lost[:_SHOWN]:
        out.print(f"lost: {screen.plain(line)}")
    if len(lost) > _SHOWN:
        out.print(f"and {len(lost) - _SHOWN} more that could not be read.")
    out.print(screen.dim(f"To make a new store of it: longmind import {target} --url new.db"))
