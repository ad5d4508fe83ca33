"""The text of a record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def record_text(record: Mapping[str, Any]) -> str:
    """Return the text by which a record is found: a line for each of its fields."""
    lines = (
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)}"
        for name, value in record.items()
    )
    return "\n".join(lines)
