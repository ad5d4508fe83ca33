"""What a reader of a format yields: messages, notes, documents, facts, values, and what it cannot map."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints, TypeAdapter, ValidationError, model_validator

from longmind.problems import first_problem
from longmind.types import Json, Metadata, Model, Moment, Name, Role, Text

OriginalId = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return text


Content = Annotated[Text, AfterValidator(_not_blank)]


class ImportedMessage(Model):
    """A turn of a conversation."""

    id: OriginalId
    conversation: Name
    content: Content
    role: Role = "user"
    author: Name | None = None
    occurred_at: Moment | None = None
    user: Name | None = None
    """The user it belongs to, where the source names one."""
    metadata: Metadata = Field(default_factory=dict)


class ImportedNote(Model):
    """A text that another memory kept by itself, under its id: what is imported later under the same id replaces it."""

    id: OriginalId
    content: Content
    role: Role = "user"
    author: Name | None = None
    occurred_at: Moment | None = None
    expires_at: Moment | None = None
    session: Name | None = None
    user: Name | None = None
    metadata: Metadata = Field(default_factory=dict)


class ImportedDocument(Model):
    """A document; its id is the place by which a later version replaces it."""

    id: OriginalId
    content: Annotated[str, StringConstraints(max_length=50_000_000), AfterValidator(_not_blank)]
    title: str | None = None
    author: Name | None = None
    occurred_at: Moment | None = None
    tags: tuple[Annotated[str, StringConstraints(min_length=1, max_length=100)], ...] = ()
    user: Name | None = None
    metadata: Metadata = Field(default_factory=dict)


class ImportedFact(Model):
    """A relation between two things, and from when to when it holds."""

    id: OriginalId
    subject: Name
    predicate: Name
    object: Name
    statement: str = ""
    """The same as a sentence, as the source has it."""
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    occurred_at: Moment | None = None
    """When the source learnt it."""
    said_in: tuple[str, ...] = ()
    """The original ids of the messages or notes it was taken from."""
    user: Name | None = None

    @model_validator(mode="after")
    def _validity_is_forward(self) -> ImportedFact:
        if self.valid_from and self.valid_to and self.valid_to <= self.valid_from:
            raise ValueError("it stopped being true before it began")
        return self


class ImportedValue(Model):
    """An exact value by namespace and key."""

    namespace: tuple[str, ...]
    key: str
    value: Json
    occurred_at: Moment | None = None
    expires_at: Moment | None = None
    ttl: timedelta | None = None
    """How long it lasts after each read and write; its end moves with them."""
    user: Name | None = None

    @property
    def id(self) -> str:
        """The original id: the namespace and the key."""
        return "/".join((*self.namespace, self.key))


class Unmapped(Model):
    """Something in the source that Longmind has no place for, or that is not as the format says."""

    place: str
    """Where it is: the file and the conversation, line, table or field."""
    reason: str


ImportedItem = ImportedMessage | ImportedNote | ImportedDocument | ImportedFact | ImportedValue
Read = ImportedItem | Unmapped
"""What a reader yields."""

_MOMENT: TypeAdapter[datetime] = TypeAdapter(Moment)
_LONGEST_REASON = 300


def item_of(kind: type[ImportedItem], place: str, **fields: Any) -> Read:
    """Return an item of this kind, or what is wrong with its fields as ``Unmapped``."""
    try:
        return kind.model_validate({name: value for name, value in fields.items() if value is not None})
    except ValidationError as error:
        where, reason = first_problem(error)
        return Unmapped(place=place, reason=f"{where}: {reason}"[:_LONGEST_REASON] if where else reason)


def moment_of(value: object) -> datetime | None:
    """Return the time that a source states: ISO 8601, or seconds since 1970. None for what is no time."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC)
        if isinstance(value, str | datetime):
            return _MOMENT.validate_python(datetime.fromisoformat(value) if isinstance(value, str) else value)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def text_of(value: object) -> str | None:
    """Return a value if it is a text that is not blank."""
    return value if isinstance(value, str) and value.strip() else None


def name_of(value: object) -> str | None:
    """Return a text as a name of Longmind, shortened and without control characters; None if nothing is left."""
    if not isinstance(value, str | int) or isinstance(value, bool):
        return None
    kept = "".join(c if c.isprintable() else " " for c in str(value).encode(errors="ignore").decode())
    return kept.strip()[:200].strip() or None
