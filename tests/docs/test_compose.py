"""The compose file and the page on PostgreSQL agree with the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from longmind.config import Settings
from longmind.store.postgres.install import OLDEST_SERVER

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/operations/postgresql.md").read_text("utf-8")


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    composed: dict[str, Any] = yaml.safe_load((ROOT / "deploy/compose.yml").read_text("utf-8"))
    return composed["services"]


def test_the_server_has_pgvector_and_is_new_enough(services: dict[str, Any]) -> None:
    image = re.fullmatch(r"pgvector/pgvector:(\d+)\.(\d+)\.\d+-pg(\d+)", services["db"]["image"])
    assert image is not None
    assert (int(image[1]), int(image[2])) >= (0, 7)
    assert int(image[3]) >= OLDEST_SERVER
    assert f"version {OLDEST_SERVER} or newer" in PAGE


def test_the_server_is_reachable_from_this_machine_only(services: dict[str, Any]) -> None:
    assert all(port.startswith("127.0.0.1:") for port in services["db"]["ports"])


def test_the_worker_opens_the_database_that_the_server_creates(services: dict[str, Any]) -> None:
    server, worker = services["db"]["environment"], services["worker"]["environment"]
    url = urlsplit(worker["LONGMIND_URL"])
    assert (url.scheme, url.hostname) == ("postgresql", "db")
    assert (url.username, url.path) == (server["POSTGRES_USER"], f"/{server['POSTGRES_DB']}")


def test_every_variable_is_a_setting(services: dict[str, Any]) -> None:
    named = {name for name in services["worker"]["environment"] if name.startswith("LONGMIND_")}
    named |= set(re.findall(r"\bLONGMIND_[A-Z_]+\b", PAGE)) - {"LONGMIND_DB_PASSWORD"}
    assert {name.removeprefix("LONGMIND_").lower() for name in named} <= set(Settings.model_fields)
    assert f"`LONGMIND_POOL_SIZE` ({Settings.model_fields['pool_size'].default})" in PAGE
