"""Blocking conversations."""

from longmind import conversation as asynchronous
from longmind.sync.blocking import Blocking, blocking


class Conversation(Blocking[asynchronous.Conversation]):
    """Blocking; see ``longmind.conversation.Conversation``."""

    @property
    def id(self) -> str:
        """The id of the conversation, which is its session."""
        return self._target.id

    add = blocking(asynchronous.Conversation.add)
    append = blocking(asynchronous.Conversation.append)
    items = blocking(asynchronous.Conversation.items)
    pop = blocking(asynchronous.Conversation.pop)
    history = blocking(asynchronous.Conversation.history)
    clear = blocking(asynchronous.Conversation.clear)
    summary = blocking(asynchronous.Conversation.summary)
    messages = blocking(asynchronous.Conversation.messages)
    context = blocking(asynchronous.Conversation.context)
