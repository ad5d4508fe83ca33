"""Ids as the database knows them: what has not the one canonical form is nobody's id, but no error to ask for."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def is_id(text: object) -> bool:
    """Whether a memory could have this id."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def well_formed(texts: Iterable[str]) -> list[str]:
    """Those that could be ids, each once."""
    return [text for text in dict.fromkeys(texts) if is_id(text)]
