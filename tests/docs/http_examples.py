"""Servers and ``$ curl`` lines of the documentation.

``$ longmind serve`` starts a server on a free port, to which the default address in what follows is led. What a page
shows below a ``$ curl`` line must be what is printed; ``...`` stands for anything. Without it the answer must be 2xx.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ADDRESS = re.compile(r"(?:http://)?127\.0\.0\.1:8484")
_ASSIGNMENT = re.compile(r"^(?P<name>[A-Z]+)=\$\(curl ")


def is_request(line: str) -> bool:
    """Return whether a line, without its prompt, is a request by curl."""
    return line.startswith("curl ") or _ASSIGNMENT.match(line) is not None


class HttpExamples:
    """The server of a page, and the requests to it."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[str] | None = None
        self._address = ""
        self._variables: dict[str, str] = {}

    def serve(self, options: Sequence[str]) -> None:
        """Start the server of a page, as ``longmind serve`` with these options does."""
        command = [sys.executable, "-m", "longmind.cli", "serve", *options, "--port", "0", "--json"]
        self._server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._server.stdout is not None
        address = re.search(r"http://[0-9.:]+", next(line for line in self._server.stdout if "http" in line))
        assert address is not None
        self._address = address[0]

    def stop(self) -> None:
        """Stop the server, if one was started."""
        if self._server is not None:
            self._server.terminate()
            self._server.communicate(timeout=60)

    def led(self, text: str) -> str:
        """Return a text with the address of the server in place of the default one."""
        return ADDRESS.sub(self._address, text) if self._address else text

    def request(self, line: str, shown: Sequence[str], page: Path) -> None:
        """Carry out a line with curl and compare what it prints with what is shown below it."""
        for program in ("curl", "jq"):
            if shutil.which(program) is None:
                pytest.skip(f"{program} is not installed: the requests of {page.name} are not tested")
        words = shlex.split(line)
        follows = "-N" in words or "-sN" in words
        if not shown:
            line = line.replace("curl ", "curl --fail-with-body ", 1)
        assigned = _ASSIGNMENT.match(line.replace("--fail-with-body ", ""))
        if assigned is not None:
            line += f'; printf %s "${assigned["name"]}"'
        printed, status = self._run(self.led(line), shown if follows else ())
        if assigned is not None:
            self._variables[assigned["name"]] = printed
        assert status == 0, f"{page.name}: {line}\n{printed}"
        if shown:
            assert _pattern(shown).fullmatch(printed.strip()), f"{page.name}: {line}\n{printed}"

    def _run(self, line: str, until: Sequence[str]) -> tuple[str, int]:
        """Run a line; with ``until`` only until that was printed, for a stream does not end."""
        command = ["bash", "-c", "set -eo pipefail; " + line]
        environment = os.environ | self._variables
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, start_new_session=True) as process:
            assert process.stdout is not None
            if not until:
                return process.stdout.read().decode().replace("\r", ""), process.wait()
            printed = ""
            for text in process.stdout:
                printed += text.decode()
                if _pattern(until).fullmatch(printed.strip()):
                    break
            process.terminate()
            return printed, 0


def _pattern(shown: Sequence[str]) -> re.Pattern[str]:
    text = re.escape("\n".join(shown).strip()).replace(re.escape("..."), ".*?")
    return re.compile(text, re.DOTALL)
