"""Named queries, read from the ``.sql`` files that lie beside a backend's code.

A query begins with ``-- name: some_name`` and ends where the next begins. The comment lines under its name say what it
is for; they are dropped, so that the database compares and caches nothing but the statement itself.
"""

from __future__ import annotations

import re
from importlib import resources

_NAME = re.compile(r"^--\s*name:\s*([a-z][a-z0-9_]*)\s*$", re.MULTILINE)


def load(package: str, filename: str) -> dict[str, str]:
    """Return the queries of one file by their names."""
    text = resources.files(package).joinpath(filename).read_text(encoding="utf-8")
    parts = _NAME.split(text)
    queries: dict[str, str] = {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        if name in queries:
            raise ValueError(f"{filename} of {package} has two queries named {name}")
        lines = (line.rstrip() for line in body.splitlines() if not line.lstrip().startswith("--"))
        queries[name] = "\n".join(line for line in lines if line).removesuffix(";")
    return queries
