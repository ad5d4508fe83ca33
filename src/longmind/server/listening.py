"""The socket on which a server listens."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from longmind.errors import InvalidSetting
from longmind.security.principal import is_loopback

if TYPE_CHECKING:
    from longmind.server.settings import ServerSettings


def listen(host: str, port: int, settings: ServerSettings) -> socket.socket:
    """Return a socket that listens. Beyond this machine it needs authentication."""
    if settings.auth == "none" and not is_loopback(host):
        raise InvalidSetting(
            f"Without authentication the server does not listen on {host}, where others could reach it.",
            hint="Listen on 127.0.0.1, or make a key first: longmind keys create NAME.",
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections inherit it. Without it the body of an answer waits 40 ms for the client to acknowledge its head.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listening.bind((host, port))
        listening.listen(1024)
    except OSError as error:
        listening.close()
        raise InvalidSetting(
            f"The server cannot listen on {host}, port {port}: {error.strerror}.", hint="Choose another with --port."
        ) from error
    listening.set_inheritable(True)
    return listening


def address_of(listening: socket.socket) -> str:
    """Return the URL of a socket that listens."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
