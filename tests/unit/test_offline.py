"""The base install needs no network: not to import, not to remember or recall, not for the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BLOCKED = """
import socket, sys

def refused(*given, **named):
    raise RuntimeError(f"the network was used: {given!r}")

def heard(event, given):
    if event in WATCHED:
        raise RuntimeError(f"the network was used: {event} {given!r}")

WATCHED = {f"socket.{what}" for what in (
    "connect", "getaddrinfo", "gethostbyname", "gethostbyaddr", "getnameinfo", "sendto", "sendmsg", "bind")}
socket.socket.connect = socket.socket.connect_ex = refused
socket.create_connection = socket.getaddrinfo = socket.gethostbyname = refused
sys.addaudithook(heard)  # reaches what was bound before, and what goes straight to the C module
"""

LIBRARY = """
import asyncio
from longmind import Document, Longmind

async def main():
    async with Longmind.open() as longmind:
        mem = longmind.agent("assistant", user="alice")
        await mem.remember("I moved to Lisbon in May.")
        await mem.remember(Document(content="# Bins\\n\\nOn Tuesdays.", title="House rules"))
        hits = await mem.recall("where does she live?", k=1)
        assert longmind.embedding.embedder.name.startswith("static/")
        print(hits[0].memory.content)
        await mem.context("plan her trip")
        await mem.consolidate()
        await mem.forget(hits[0].memory.id)

asyncio.run(main())
"""

COMMAND_LINE = """
from longmind.cli import main
main()
"""


def run(code: str, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter with the network taken away."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("LONGMIND_")}
    env |= {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "LONGMIND_URL": str(home / "memory.db")}
    return subprocess.run([sys.executable, "-c", BLOCKED + code, *words], env=env, capture_output=True, text=True)


def test_the_library(tmp_path: Path) -> None:
    done = run(LIBRARY, tmp_path)
    assert (done.returncode, done.stdout) == (0, "I moved to Lisbon in May.\n"), done.stderr


def test_without_any_setting_the_store_is_a_file_of_the_user(tmp_path: Path) -> None:
    code = "import os; del os.environ['LONGMIND_URL']\n" + LIBRARY
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "data" / "longmind" / "memory.db").is_file()


@pytest.mark.parametrize("words", [["--help"], ["remember", "One thing."], ["demo"], ["doctor", "--url", "memory:"]])
def test_the_command_line(tmp_path: Path, words: list[str]) -> None:
    done = run(COMMAND_LINE, tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize(
    "code",
    [
        "socket.create_connection(('127.0.0.1', 9))",
        "socket.getaddrinfo('localhost', 80)",
        "socket.getfqdn('localhost')",
        "import _socket; _socket.socket().connect(('127.0.0.1', 9))",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9')",
    ],
)
def test_the_network_is_really_taken_away(tmp_path: Path, code: str) -> None:
    done = run(code, tmp_path)
    assert done.returncode != 0
    assert "the network was used" in done.stderr
