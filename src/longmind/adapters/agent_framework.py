"""Microsoft Agent Framework: a history provider and a context provider over Longmind.

from longmind.adapters.agent_framework import LongmindContextProvider, LongmindHistoryProvider

providers = [LongmindHistoryProvider(longmind, user="alice"), LongmindContextProvider(longmind, user="alice")]
agent = Agent(client, "Be brief.", context_providers=providers)
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from longmind.adapters.access import MemoryAccess
from longmind.adapters.history import History, Path, Said
from longmind.adapters.packages import framework
from longmind.adapters.scope import name_of
from longmind.memory import Longmind
from longmind.sync import Longmind as BlockingLongmind
from longmind.types import Json, Role
from longmind.types import Message as LongmindMessage

with framework("agent-framework"):
    from agent_framework import AgentSession, ContextProvider, HistoryProvider, Message, SessionContext

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
"""Roles whose words are remembered. Instructions are the developer's, and results of tools are no words."""
_NO_SESSION = "default"


class LongmindHistoryProvider(HistoryProvider):
    """The history of conversations, exactly as the framework gives it, durable and scoped to an agent and a user.

    What the user and the assistant say is remembered, so that recall finds it in every later conversation. Messages
    that a provider added as context are not stored, whatever ``store_context_messages`` says of those of Longmind.
    """

    def __init__(
        self,
        longmind: Longmind | BlockingLongmind,
        source_id: str = "longmind_history",
        *,
        agent: str | None = None,
        user: str | None = None,
        limit: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(source_id, **options)
        self.limit = limit
        """How many messages a run loads; None for all."""
        self._access = MemoryAccess(longmind, agent=agent, user=user)

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """Return the messages of a session, the earliest first."""
        items = await self._access.run(self._history(session_id).items(self.limit))
        return [Message.from_dict(item) for item in items]

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Store messages after those that are there, in one transaction; what was recalled is left out."""
        own = [_plain(message) for message in messages if not _is_recalled(message)]
        await self._access.run(self._history(session_id).append(own))

    def _history(self, session_id: str | None) -> History:
        conversation = self._access.memory().conversation(name_of(session_id or _NO_SESSION, "session_id"))
        return History(conversation, _said, _item)


class LongmindContextProvider(ContextProvider):
    """Adds what matters for the input of a run, quoted as data, and remembers what is said.

    With a ``LongmindHistoryProvider`` in the same agent it only adds: the history is remembered already.
    """

    def __init__(
        self,
        longmind: Longmind | BlockingLongmind,
        source_id: str = "longmind",
        *,
        agent: str | None = None,
        user: str | None = None,
        context_tokens: int = 1_000,
        remember: bool = True,
    ) -> None:
        super().__init__(source_id)
        self._access = MemoryAccess(longmind, agent=agent, user=user)
        self._context_tokens = context_tokens
        self._remember = remember

    async def before_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Add what matters for the input to the context of a run."""
        task = "\n".join(message.text for message in context.input_messages if message.text)
        if not task:
            return
        earlier = [_message(message) for message in context.get_messages(exclude_sources={self.source_id})]
        said = [message for message in earlier if message is not None]
        text = await self._access.run(self._access.memory().context(task, self._context_tokens, conversation=said))
        if text:
            context.extend_messages(self, [Message("user", [text], additional_properties={"longmind": "recalled"})])

    async def after_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Remember what the user and the assistant said in a run."""
        if not self._remember or self._has_history(agent):
            return
        answered = context.response.messages if context.response is not None else []
        said = [message for message in (*context.input_messages, *answered) if _message(message) is not None]
        conversation = self._access.memory().conversation(name_of(context.session_id or _NO_SESSION, "session_id"))
        await self._access.run(History(conversation, _said, _item).append([_plain(message) for message in said]))

    def _has_history(self, agent: Any) -> bool:
        """Whether a provider of the agent stores the messages in the same memory already."""
        own = self._access.memory().scope
        providers = getattr(agent, "context_providers", None) or ()
        return any(
            isinstance(provider, LongmindHistoryProvider) and provider._access.memory().scope == own
            for provider in providers
        )


def _plain(message: Message) -> Json:
    plain: Json = json.loads(message.to_json())
    return plain


def _is_recalled(message: Message) -> bool:
    return (message.additional_properties or {}).get("longmind") == "recalled"


def _said(item: Json) -> Said | None:
    role = _ROLES.get(_role_of(item.get("role")))
    contents = item.get("contents") or []
    paths: list[Path] = [
        ("contents", number, "text")
        for number, content in enumerate(contents)
        if content.get("type") == "text" and isinstance(content.get("text"), str)
    ]
    if role is None or not paths:
        return None
    author = item.get("author_name")
    return Said(role, paths, None if not author else name_of(author, "author_name"))


def _role_of(role: Any) -> str:
    return str(role.get("value")) if isinstance(role, dict) else str(role)


def _message(message: Message) -> LongmindMessage | None:
    """Return what a message says; None for instructions, calls of tools and what was recalled."""
    role = _ROLES.get(str(message.role))
    if role is None or not message.text or _is_recalled(message):
        return None
    return LongmindMessage(role=role, content=message.text)


def _item(message: LongmindMessage) -> Json:
    role = message.role if message.role in ("user", "assistant", "system", "tool") else "user"
    return _plain(Message(role, [message.content], author_name=message.name))
