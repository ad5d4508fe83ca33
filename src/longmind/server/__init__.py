"""The server: REST under ``/v1`` and MCP at ``/mcp``, for programs that are not in this process.

    from longmind.server import create_app

    app = create_app("postgresql://...", ServerSettings())

``longmind serve`` runs it on uvicorn. What it offers is the table in ``longmind.operations``.
"""

from typing import TYPE_CHECKING, Any

from longmind.server.settings import ServerSettings

if TYPE_CHECKING:
    from longmind.server.rest.app import create_app

__all__ = ["ServerSettings", "create_app"]


def __getattr__(name: str) -> Any:
    """Load the web application when it is asked for: MCP on the standard streams works without it."""
    if name == "create_app":
        from longmind.server.rest.app import create_app

        return create_app
    raise AttributeError(name)
