"""How many tokens a conversation is, about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from longmind.tokens import estimate

if TYPE_CHECKING:
    from longmind.models.chat import Message

PER_MESSAGE = 4
"""What the marks around a message cost in common chat templates."""


def estimate_messages(messages: Iterable[Message]) -> int:
    """The same for a conversation, with what surrounds each message."""
    return sum(
        PER_MESSAGE + estimate(message.content) + sum(estimate(call.model_dump_json()) for call in message.tool_calls)
        for message in messages
    )
