"""The TypeScript client: generated from the OpenAPI document, compiled, and run against a real server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.openapi import document

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "clients" / "typescript"
BLOCK = re.compile(r"^```ts\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MAKE = "run: make client-typescript"


def run(folder: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=os.environ | variables, capture_output=True, text=True, timeout=280)


def packages(folder: Path) -> None:
    """Put the packages of the lock into a copy of the client: those that are there, or from the registry."""
    installed, wanted = SOURCE / "node_modules" / ".package-lock.json", SOURCE / "package-lock.json"
    if installed.exists():
        have, need = (json.loads(file.read_text("utf-8"))["packages"] for file in (installed, wanted))
        if have == {name: package for name, package in need.items() if name and not package.get("optional")}:
            (folder / "node_modules").symlink_to(SOURCE / "node_modules")
            return
    fetched = run(folder, "npm", "ci", "--ignore-scripts")
    if fetched.returncode != 0:
        pytest.skip("the packages of the TypeScript client cannot be fetched: no registry of npm is reachable")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the client with its packages."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed: the TypeScript client is not tested")
    folder = tmp_path_factory.mktemp("typescript")
    for name in ("package.json", "package-lock.json", "tsconfig.json", "README.md"):
        shutil.copy(SOURCE / name, folder)
    for name in ("src", "test"):
        shutil.copytree(SOURCE / name, folder / name)
    packages(folder)
    return folder


@pytest.fixture(scope="module")
def compiled(client: Path) -> Path:
    """The client compiled, with the blocks of its page as a program."""
    (client / "test" / "readme.ts").write_text("\n".join(BLOCK.findall((client / "README.md").read_text("utf-8"))))
    built = run(client, "npm", "run", "--silent", "build")
    assert built.returncode == 0, built.stdout
    return client


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server."""
    folder = tmp_path_factory.mktemp("server")
    command = [sys.executable, "-m", "longmind.cli", "serve", "--port", "0", "--json", "--no-consolidation"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--url", str(folder / "memory.db")], stdout=subprocess.PIPE, stderr=log, text=True
        )
    try:
        assert process.stdout is not None
        address = re.search(r"http://[0-9.:]+", next(line for line in process.stdout if "http" in line))
        assert address is not None
        yield address[0]
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_the_types_are_those_of_the_document(client: Path, tmp_path: Path) -> None:
    shutil.copy(client / "package.json", tmp_path)
    (tmp_path / "node_modules").symlink_to(client / "node_modules")
    (tmp_path / "openapi.json").write_text(document(), "utf-8")
    generated = run(tmp_path, "npm", "run", "--silent", "generate")
    assert generated.returncode == 0, generated.stderr
    assert (tmp_path / "src" / "schema.ts").read_text("utf-8") == (SOURCE / "src" / "schema.ts").read_text("utf-8"), (
        MAKE
    )


def test_it_works_with_a_server(compiled: Path, server: str) -> None:
    tested = run(compiled, "npm", "test", LONGMIND_URL=server)
    assert tested.returncode == 0, tested.stdout
    assert re.search(r"^# pass [1-9]", tested.stdout, re.MULTILINE), tested.stdout


def test_the_example_of_its_page_works(compiled: Path, server: str) -> None:
    shown = run(compiled, "node", "build/test/readme.js", LONGMIND_URL=server)
    assert shown.returncode == 0, shown.stderr
    assert "I live in Porto, near the river. |" in shown.stdout
    assert "allergic to peanuts" in shown.stdout
    assert "not_found 404" in shown.stdout
    assert re.search(r"^1 put ", shown.stdout, re.MULTILINE)


def test_its_versions_are_fixed() -> None:
    declared = json.loads((SOURCE / "package.json").read_text("utf-8"))
    named = declared["dependencies"] | declared["devDependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in named.values())
    locked = json.loads((SOURCE / "package-lock.json").read_text("utf-8"))["packages"]
    assert {name: locked[f"node_modules/{name}"]["version"] for name in named} == named
