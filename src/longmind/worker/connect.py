"""Connecting to the database of the jobs: as a worker, which prepares it, or as a server, for one tenant at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from longmind.errors import InvalidSetting, StoreError, StoreUnavailable
from longmind.private_files import create_file, create_folder
from longmind.store.sql import load
from longmind.worker.database import APPLICATION, SCHEMA, JobsDatabase
from longmind.worker.engine import DBOS, DBOSClient, DBOSException, dbos, sqlalchemy

_QUERIES = load(__package__, "jobs.sql")
_PROTECTION = tuple(name for name in _QUERIES if name.startswith("protect_"))
_CONNECT_SECONDS = 5
_tenant: ContextVar[str] = ContextVar("longmind_jobs_tenant", default="")


def connect(place: JobsDatabase) -> DBOSClient:
    """Make sure that the tables of DBOS are there, and connect. Blocks."""
    with failures():
        if place.file is not None:
            create_folder(place.file.parent)
            create_file(str(place.file))
            _write_ahead(place.url)
        DBOS.migrate(place.url, schema=SCHEMA)
        if place.file is None:
            _keep_tenants_apart(place.url)
        return _client(url=place.url)


@dataclass(frozen=True, slots=True)
class JobReader:
    """Reads jobs of one tenant in the order of their pages, for which DBOS has no call. Its methods block."""

    engine: sqlalchemy.Engine

    def page(
        self, tenant: str, *, agent_key: str | None, statuses: Sequence[str], before: tuple[int, str], limit: int
    ) -> Sequence[Any]:
        """Return ids, agents' keys, statuses and times of jobs, the newest first, from a time and an id on."""
        table = "workflow_status" if self.engine.dialect.name == "sqlite" else f"{SCHEMA}.workflow_status"
        query = sqlalchemy.text(_QUERIES["page"].replace("workflow_status", table))
        query = query.bindparams(sqlalchemy.bindparam("statuses", expanding=True))
        values = {"tenant": tenant, "agent_key": agent_key, "statuses": list(statuses), "limit": limit}
        with self.engine.connect() as connection:
            return connection.execute(query, {**values, "at": before[0], "id": before[1]}).all()


@dataclass(frozen=True, slots=True)
class Attached:
    """A client of jobs that are there already, and what reads them beside it."""

    client: DBOSClient
    reader: JobReader


def attach(place: JobsDatabase) -> Attached | None:
    """Connect to jobs that are there already; None if no worker has made them yet. Blocks.

    On PostgreSQL each transaction is of the tenant in ``as_tenant``, so that row-level security holds.
    """
    if place.file is not None:
        with failures():
            if not place.file.exists():
                return None
            return Attached(_client(url=place.url), JobReader(sqlalchemy.create_engine(place.url)))
    engine = sqlalchemy.create_engine(
        _with_driver(place.url),
        pool_size=2,
        max_overflow=3,
        pool_pre_ping=True,
        connect_args={"application_name": "longmind jobs", "connect_timeout": _CONNECT_SECONDS},
    )
    sqlalchemy.event.listen(engine, "begin", _set_tenant)
    attached: Attached | None = None
    try:
        with failures():
            with engine.connect() as connection:
                row = connection.exec_driver_sql(_QUERIES["find_jobs"]).one_or_none()
            if row is not None:
                if not row.usable:
                    raise InvalidSetting(
                        "The role of this process may not see the jobs of the workers.",
                        hint="Let the owner of the database run `longmind doctor --create-role` with this role again.",
                    )
                attached = Attached(_client(engine=engine), JobReader(engine))
    finally:
        if attached is None:
            engine.dispose()
    return attached


def _with_driver(url: str) -> sqlalchemy.URL:
    return sqlalchemy.make_url(url).set(drivername="postgresql+psycopg")


@contextmanager
def as_tenant(tenant: str) -> Iterator[None]:
    """Let the transactions that are begun inside be of a tenant."""
    token = _tenant.set(tenant)
    try:
        yield
    finally:
        _tenant.reset(token)


def _set_tenant(connection: sqlalchemy.Connection) -> None:
    connection.exec_driver_sql(_QUERIES["set_tenant"], {"tenant": _tenant.get()})


def _client(*, url: str | None = None, engine: sqlalchemy.Engine | None = None) -> DBOSClient:
    return DBOSClient(
        system_database_url=url,
        system_database_engine=engine,
        dbos_system_schema=SCHEMA,
        serializer=dbos.DBOSPortableJSONSerializer(),
        application_name=APPLICATION,
        retry_connection_errors=False,
    )


def _keep_tenants_apart(url: str) -> None:
    """Let whoever works with the memories of a tenant see the tenant's jobs, and no others."""
    engine = sqlalchemy.create_engine(_with_driver(url))
    try:
        with engine.begin() as connection:
            row = connection.exec_driver_sql(_QUERIES["find_jobs"]).one()
            if row.owned:
                for name in _PROTECTION:
                    connection.exec_driver_sql(_QUERIES[name])
    finally:
        engine.dispose()


def _write_ahead(url: str) -> None:
    """DBOS leaves SQLite's journal as it is by default; with this one, a worker does three times as many jobs."""
    engine = sqlalchemy.create_engine(url)
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql(_QUERIES["write_ahead"])
    finally:
        engine.dispose()


@contextmanager
def failures() -> Iterator[None]:
    """What goes wrong in the database of the jobs, as errors of ours."""
    try:
        yield
    except sqlalchemy.exc.OperationalError as error:
        raise StoreUnavailable(
            f"The jobs cannot be reached: {error.orig}.", hint="Is the database up, and may this user use it?"
        ) from error
    except (sqlalchemy.exc.SQLAlchemyError, DBOSException) as error:
        raise StoreError(f"The database of the jobs could not do this: {error}.") from error
