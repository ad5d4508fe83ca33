"""The server: REST under ``/v1``, for programs that are not in this process.

    from longmind.server import create_app

    app = create_app("postgresql://...", ServerSettings())

``longmind serve`` runs it on uvicorn. What it offers is the table in ``longmind.operations``.
"""

from longmind.server.rest.app import create_app
from longmind.server.settings import ServerSettings

__all__ = ["ServerSettings", "create_app"]
