"""What is given to ``remember``."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from longmind.types.fields import Metadata, Moment, Name, Role, Text, plain_text
from longmind.types.model import Model


class Message(Model):
    """One turn of a conversation, as given to ``remember``."""

    role: Role = "user"
    content: Text
    name: Name | None = None
    occurred_at: Moment | None = None
    metadata: Metadata = Field(default_factory=dict)


class Document(Model):
    """A text with a title and a URI, as given to ``remember``; it is split into passages."""

    content: Annotated[str, StringConstraints(max_length=50_000_000), AfterValidator(plain_text)]
    title: str | None = None
    uri: str | None = None
    occurred_at: Moment | None = None
    metadata: Metadata = Field(default_factory=dict)
