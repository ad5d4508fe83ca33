"""Conversations: the messages of one session, a rolling summary of the older ones, and what memory adds to them.

A conversation is the messages of one session with one user, or with none. Each message is stored before ``add``
returns. The last messages are rendered whole; older ones are covered by a rolling summary. The summary consists of
sentences from the messages, or is written by a model. It is stored as a memory linked to the messages it covers, so it
survives a restart and is erased with them.

Conversations of one user share what is learnt: recall searches everything known with the user.
"""

from longmind.conversation.conversation import WINDOW, Conversation
from longmind.conversation.items import ConversationItem, StoredItem
from longmind.conversation.rolling_summary import FindSummaryWriter

__all__ = ["WINDOW", "Conversation", "ConversationItem", "FindSummaryWriter", "StoredItem"]
