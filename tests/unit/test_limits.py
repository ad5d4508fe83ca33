"""What one call may store or ask for, and the errors past it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from longmind import Longmind
from longmind.errors import InvalidInput
from longmind.types import (
    MAX_FILTER_TAGS,
    MAX_METADATA_BYTES,
    MAX_METADATA_DEPTH,
    MAX_METADATA_VALUES,
    MAX_TAGS,
    Document,
    Filter,
    Message,
)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


TOO_MUCH = [
    ({f"key{n}": n for n in range(MAX_METADATA_VALUES + 1)}, "values"),
    ({"text": "x" * (MAX_METADATA_BYTES + 1)}, "bytes"),
    ({"list": [0] * 10_000_000}, "values"),
    (nested(MAX_METADATA_DEPTH + 1), "deeper"),
    (nested(50_000), "deeper"),
]


@pytest.mark.parametrize(("metadata", "why"), TOO_MUCH)
async def test_metadata_is_bounded(longmind: Longmind, metadata: dict[str, Any], why: str) -> None:
    mem = longmind.agent("assistant")
    with pytest.raises(InvalidInput, match=why):
        await mem.remember("text", metadata=metadata)
    with pytest.raises(InvalidInput, match=why):
        await mem.remember({"role": "user", "content": "text", "metadata": metadata})
    with pytest.raises(ValidationError, match=why):
        Document(content="text", metadata=metadata)
    with pytest.raises(InvalidInput, match=why):
        await mem.remember(Document(content="text"), metadata=metadata)
    assert (await mem.stats()).memories == 0
    stored = await mem.remember("text")
    with pytest.raises(InvalidInput, match=why):
        await mem.update(stored.id, metadata=metadata)


def test_metadata_at_the_limits_is_taken() -> None:
    assert Message(content="x", metadata={f"k{n}": n for n in range(MAX_METADATA_VALUES - 1)}).metadata
    assert Message(content="x", metadata=nested(MAX_METADATA_DEPTH)).metadata
    assert Message(content="x", metadata={"text": "x" * (MAX_METADATA_BYTES - 100)}).metadata


async def test_tags_are_bounded(longmind: Longmind) -> None:
    mem = longmind.agent("assistant")
    tags = [f"tag{n}" for n in range(MAX_TAGS)]
    assert (await mem.remember("text", tags=tags)).tags == tuple(tags)
    with pytest.raises(InvalidInput, match="tags"):
        await mem.remember("more", tags=[*tags, "one more"])
    with pytest.raises(InvalidInput, match="tags_any"):
        await mem.list(where={"tags_any": [f"tag{n}" for n in range(MAX_FILTER_TAGS + 1)]})
    with pytest.raises(ValidationError):
        Filter(tags_all=tuple(f"tag{n}" for n in range(4_000)))
