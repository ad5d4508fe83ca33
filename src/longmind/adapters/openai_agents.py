"""OpenAI Agents SDK: a ``Session`` over a conversation of Longmind.

from longmind.adapters.openai_agents import LongmindSession

session = LongmindSession(longmind, "conversation-1", agent="assistant", user="alice")
result = await Runner.run(agent, "I live in Porto.", session=session)
"""

from __future__ import annotations

import json
from typing import Any

from longmind.adapters.access import MemoryAccess
from longmind.adapters.history import History, Path, Said
from longmind.adapters.packages import framework
from longmind.adapters.scope import name_of
from longmind.memory import Longmind
from longmind.sync import Longmind as BlockingLongmind
from longmind.types import Json, Message, Role

with framework("openai-agents"):
    from agents.items import TResponseInputItem
    from agents.memory.session import SessionABC
    from agents.memory.session_settings import SessionSettings, resolve_session_limit

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
"""Roles whose words are remembered. Instructions are the developer's, and no memory of the conversation."""
_TEXTS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
"""Parts of a content that are text, and the field that holds it."""


class LongmindSession(SessionABC):
    """The history of one conversation, exactly as the SDK gives it, durable and scoped to an agent and a user.

    What the user and the assistant say is remembered, so that recall finds it in every later conversation. Calls of
    tools, their results and reasoning are kept for the SDK and never recalled.
    """

    def __init__(
        self,
        longmind: Longmind | BlockingLongmind,
        session_id: str,
        *,
        agent: str | None = None,
        user: str | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._access = MemoryAccess(longmind, agent=agent, user=user)
        conversation = self._access.memory().conversation(name_of(session_id, "session_id"))
        self._history = History(conversation, _said, _item)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items, the earliest first: all of them, or the last ``limit``."""
        resolved = resolve_session_limit(limit, self.session_settings)
        return await self._access.run(self._history.items(resolved))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Store items after those that are there, in one transaction."""
        await self._access.run(self._history.append([_plain(item) for item in items]))

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the last item and return it; None if there is none."""
        return await self._access.run(self._history.pop())

    async def clear_session(self) -> None:
        """Forget all items of the conversation."""
        await self._access.run(self._history.clear())


def _plain(item: Any) -> Json:
    """Return an item as JSON: tuples and objects of the client's package are as they would be sent."""
    plain: Json = json.loads(json.dumps(item, default=_dumped))
    return plain


def _dumped(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_unset=True)
    raise TypeError(f"An item with a {type(value).__name__} cannot be stored.")


def _said(item: Json) -> Said | None:
    role = _ROLES.get(str(item.get("role")))
    if role is None or item.get("type", "message") != "message":
        return None
    content = item.get("content")
    if isinstance(content, str):
        return Said(role, [("content",)])
    paths: list[Path] = []
    for number, part in enumerate(content if isinstance(content, list) else ()):
        field = _TEXTS.get(str(part.get("type"))) if isinstance(part, dict) else None
        if field is not None and isinstance(part.get(field), str):
            paths.append(("content", number, field))
    return Said(role, paths) if paths else None


def _item(message: Message) -> Json:
    """Return a message that was remembered otherwise as an item."""
    role = message.role if message.role in ("user", "assistant", "system") else "user"
    return {"role": role, "content": message.content}
