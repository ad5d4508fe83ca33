"""Memories: store, read, change, list and forget them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, create_model

from longmind.operations.faces import AGENT
from longmind.operations.operation import Noun
from longmind.operations.wire import field_type
from longmind.types import UPDATABLE, Document, Memory, Model, Moment

_memories = Noun("memories", AGENT)


class DocumentInput(Model):
    """A document to remember; it is split into passages."""

    document: Document


_Content = Annotated[
    Annotated[DocumentInput, AfterValidator(lambda content: content.document)] | str | dict[str, Any],
    Field(union_mode="left_to_right"),
]
Content = Annotated[_Content | list[_Content], Field(union_mode="left_to_right")]
"""A text, a message or record as an object, a document as ``{"document": {...}}``, or a list of them."""


def encode_content(content: Any) -> Any:
    """Return what is to be remembered as a request holds it."""
    if isinstance(content, Document):
        return DocumentInput(document=content)
    if isinstance(content, Iterable) and not isinstance(content, str | Mapping | BaseModel):
        return [encode_content(item) for item in content]
    return content


_fields: dict[str, Any] = {
    name: (field_type(info), None)
    for name, info in Memory.model_fields.items()
    if name in UPDATABLE and name != "expires_at"
}
MemoryChanges: type[BaseModel] = create_model("MemoryChanges", **_fields, expires_at=(Moment | timedelta | None, None))
"""The fields of a memory that an update may change."""

OPERATIONS = (
    _memories.post(
        "/memories",
        "remember",
        status=201,
        types={"content": Content},
        encode={"content": encode_content},
        idempotency="operation",
        version="version",
        progress={"done": int, "total": int},
        example={"content": "I moved to Lisbon in May.", "tags": ["home"], "importance": 0.8},
    ),
    _memories.get("/memories", "list"),
    _memories.get(
        "/memories/by-key",
        "get",
        name="memories.get_by_key",
        without={"id"},
        required={"key"},
        types={"key": str},
        none_is_missing=True,
        version="version",
    ),
    _memories.get("/memories/{id}", "get", without={"key"}, none_is_missing=True, version="version"),
    _memories.patch(
        "/memories/{id}",
        "update",
        changes=MemoryChanges,
        expected_version="expected_version",
        version="version",
        example={"importance": 0.9, "tags": ["home", "move"], "reason": "it matters"},
    ),
    _memories.get("/memories/{id}/history", "history"),
    _memories.post(
        "/memories/forget",
        "forget",
        types={"which": str | list[str] | None},
        example={"where": {"tags_any": ["draft"]}, "reason": "no longer needed"},
    ),
    _memories.delete(
        "/memories/{which}", "forget", name="memories.forget_one", without={"where"}, types={"which": str}
    ),
    _memories.post("/operations/{operation}/undo", "undo"),
    _memories.get("/changes", "watch", name="memories.changes", event_id="seq", resume="after"),
)
