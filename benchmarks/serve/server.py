"""``longmind serve`` as a process of its own, which may be killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped]


class ServerProcess:
    """A server on a free port of this machine."""

    def __init__(self, url: str, log: Path, *options: str) -> None:
        command = [sys.executable, "-m", "longmind.cli", "serve", "--json", "--url", url, *options]
        with log.open("a") as lines:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=lines, text=True, env=os.environ)
        told = self._first_object()
        if not told:
            self._ended()
            raise RuntimeError(f"The server did not start: {log.read_text()[-2000:]}")
        self.address: str = json.loads(told)["address"]

    def _first_object(self) -> str:
        """Return the first JSON object that the process prints."""
        assert self._process.stdout is not None
        text = ""
        for line in self._process.stdout:
            text += line
            if line.startswith("}") or (line.startswith("{") and line.rstrip().endswith("}")):
                return text
        return ""

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def processes(self) -> list[psutil.Process]:
        """The process and those it started."""
        whole = psutil.Process(self.pid)
        return [whole, *whole.children(recursive=True)]

    def cpu_seconds(self) -> float:
        """Return the CPU time of the server so far."""
        return sum(sum(process.cpu_times()[:2]) for process in self.processes)

    def kill(self) -> None:
        """SIGKILL, to the process and those it started."""
        for process in self.processes:
            process.kill()
        self._ended()

    def stop(self) -> int:
        """SIGTERM; return the exit status, that of before if it has ended already."""
        self._process.terminate()
        return self._ended()

    def _ended(self) -> int:
        """Wait for the end and return the exit status."""
        assert self._process.stdout is not None
        self._process.stdout.close()
        return self._process.wait()


@contextmanager
def served(url: str, log: Path, *options: str) -> Iterator[ServerProcess]:
    """Serve a store on a free port, until the block ends."""
    server = ServerProcess(url, log, "--port", "0", *options)
    try:
        yield server
    finally:
        server.stop()
