"""Files of lines that were rotated away: JSON lines, the same chain as in the store."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from pathlib import Path

from longmind.errors import InvalidInput
from longmind.private_files import open_private
from longmind.security.audit import StoredLine


async def write_archive(path: Path, lines: AsyncIterator[StoredLine], until: datetime) -> StoredLine | None:
    """Write the lines before a moment into a new file, durably. Return the last; None if there is none."""
    last: StoredLine | None = None
    try:
        with open(path, "x", encoding="utf-8", opener=open_private) as file:  # noqa: ASYNC230 - few and short writes
            async for line in lines:
                if line.parsed().at >= until:
                    break
                file.write(json.dumps(line._asdict(), separators=(",", ":")) + "\n")
                last = line
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError as error:
        raise InvalidInput(f"{path} exists already.", hint="Give the name of a new file.") from error
    if last is None:
        os.unlink(path)
    return last


async def read_archives(paths: Iterable[Path]) -> AsyncIterator[StoredLine]:
    """Yield the lines of files, in order."""
    for path in paths:
        with open(path, encoding="utf-8") as file:  # noqa: ASYNC230 - a command reads it
            for number, text in enumerate(file, 1):
                try:
                    fields = json.loads(text)
                    yield StoredLine(int(fields["seq"]), fields["tenant"], fields["text"], fields["hash"])
                except (ValueError, KeyError, TypeError) as error:
                    raise InvalidInput(f"Line {number} of {path} is no line of an audit.") from error
