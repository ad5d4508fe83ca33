"""Artifacts of Claude: documents that it writes and edits by a tool within a conversation."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from longmind.importing.items import ImportedDocument, Read, item_of, text_of


class _Artifact(NamedTuple):
    content: str
    title: str | None
    written_at: datetime | None


class Artifacts:
    """The artifacts of one conversation as they are after the calls that were applied."""

    TOOL: ClassVar[str] = "artifacts"

    def __init__(self, conversation: str) -> None:
        self._conversation = conversation
        self._artifacts: dict[str, _Artifact] = {}

    def apply(self, call: dict[str, Any], time: datetime | None) -> bool:
        """Apply a call of a tool; return whether it was one that writes an artifact."""
        stated = call.get("input")
        if call.get("name") != self.TOOL or not isinstance(stated, dict):
            return False
        id, title = text_of(stated.get("id")), text_of(stated.get("title"))
        if id is None:
            return False
        before = self._artifacts.get(id)
        content = text_of(stated.get("content"))
        if content is None and before is not None:
            old, new = stated.get("old_str"), stated.get("new_str")
            if isinstance(old, str) and isinstance(new, str) and old in before.content:
                content = before.content.replace(old, new, 1)
        if content is None:
            return False
        self._artifacts[id] = _Artifact(content, title or (before.title if before else None), time)
        return True

    def documents(self, place: str, user: str | None) -> Iterator[Read]:
        """Yield each artifact as a document."""
        for id, artifact in self._artifacts.items():
            yield item_of(
                ImportedDocument,
                f"{place}, artifact {id}",
                id=f"{self._conversation}/{id}",
                title=artifact.title,
                content=artifact.content,
                occurred_at=artifact.written_at,
                user=user,
            )
