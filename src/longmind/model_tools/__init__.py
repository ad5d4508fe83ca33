"""Memory as tools for a language model: definitions from the table of operations, and what runs a call.

The same table is offered to clients of MCP (``longmind.server.mcp``) and to any model by ``mem.tools()``.
"""

from longmind.model_tools.memory_tools import BlockingMemoryTools, MemoryTools, ToolAnswer

__all__ = ["BlockingMemoryTools", "MemoryTools", "ToolAnswer"]
