"""MCP: the memory of an agent as tools, resources and prompts for a language model's client.

Over streamable HTTP at ``/mcp`` of the server, and on the standard streams with ``longmind mcp``.
"""
