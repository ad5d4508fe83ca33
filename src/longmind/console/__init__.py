"""The web console: pages at ``/`` of the server that show what an agent knows, why it recalled it, and what changed.

    from longmind import console

    if console.installed():
        console.mount(app)

It needs the extra ``[console]`` (NiceGUI) and is mounted by ``longmind serve``. A page reaches memories only through
the server's own REST application, in this process, with the key of who looks at it: keys, scopes, tenants, limits and
audit hold for it as for any client. NiceGUI keeps one application for a process, so one server of a process has one.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["installed", "mount"]


def installed() -> bool:
    """Return whether the console's libraries are installed. It does not load them."""
    return find_spec("nicegui") is not None


def mount(app: "FastAPI") -> None:
    """Add the console to a server made by ``longmind.server.create_app``."""
    from longmind.console.mounting import mount_console

    mount_console(app)
