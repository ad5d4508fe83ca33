"""Parts of generated Markdown pages."""

from __future__ import annotations

from collections.abc import Sequence

MADE_BY = "<!-- Written by `python -m tools.reference_pages docs/reference`. Do not edit. -->"


def table(rows: Sequence[tuple[str, ...]], *heads: str) -> str:
    """Return a Markdown table."""
    lines = [" | ".join(heads), "|".join("---" for _ in heads), *(" | ".join(row) for row in rows)]
    return "\n".join(f"| {line} |" if n != 1 else f"|{line}|" for n, line in enumerate(lines))
