"""Memory for any model client: ``with_memory`` wraps a client of OpenAI or Anthropic.

    from longmind.adapters.model_clients import with_memory

    client = with_memory(OpenAI(), mem, session="chat-1")
    response = client.chat.completions.create(model=..., messages=[...])
    response.longmind        # what memory added to this call

Each call gets its context from memory and is remembered. See ``docs/howto/adapters/model-clients.md``.
"""

from longmind.adapters.model_clients.call import MemoryCall, MemoryOptions, memory_call
from longmind.adapters.model_clients.clients import with_memory

__all__ = ["MemoryCall", "MemoryOptions", "memory_call", "with_memory"]
