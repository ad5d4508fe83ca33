"""The database of the jobs of a store: always beside its memories, never among them.

On PostgreSQL the same database, in the schema ``longmind_jobs``. On SQLite a file next to the store's: the jobs of
``memory.db`` are in ``memory.jobs.db``. A store in memory has no jobs, for no other process could reach it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from longmind.errors import InvalidSetting
from longmind.store.open import sqlite_path
from longmind.types import Scope

SCHEMA = "longmind_jobs"
QUEUE = "longmind-consolidate"
SCHEDULE = "longmind-consolidation"
APPLICATION = "longmind"
VERSION = "1"
"""The version of the jobs. Workers of one version take over each other's jobs; raise it when they no longer can."""


@dataclass(frozen=True, slots=True)
class JobsDatabase:
    """The database of the jobs: its URL, and the file if it is one."""

    url: str
    file: Path | None


def jobs_database(url: str) -> JobsDatabase:
    """Return the database that holds the jobs of the store at this URL."""
    if not url.strip():
        raise InvalidSetting("The store's URL is empty.", hint="Give the path or the URL of the store.")
    if url in ("memory:", "memory://", ":memory:"):
        raise InvalidSetting(
            "A store in memory has no jobs: no other process can reach it.",
            hint="Use ConsolidationService in this process, or a store in a file or on PostgreSQL.",
        )
    scheme = url.partition("://")[0].lower() if "://" in url else ""
    if scheme in ("postgresql", "postgres"):
        return JobsDatabase("postgresql" + url[len(scheme) :], None)
    path = sqlite_path(url).absolute()
    file = path.with_name(f"{path.stem}.jobs{path.suffix}")
    return JobsDatabase(f"sqlite:///{file}", file)


def agent_key(scope: Scope) -> str:
    """Return a key for an agent that is unique among all tenants."""
    return f"{quote(scope.tenant, safe='')}/{quote(scope.agent, safe='')}"


def agent_of(key: str) -> str:
    """Return the name of the agent that a key is of."""
    return unquote(key.partition("/")[2])
