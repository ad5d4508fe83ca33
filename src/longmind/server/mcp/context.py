"""The type of what the SDK tells of a request."""

from typing import Any

from mcp.server.context import ServerRequestContext

Context = ServerRequestContext[Any, Any]
