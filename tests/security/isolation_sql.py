"""Random statements straight through SQL as the role of an application, which try to reach rows of other tenants."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from tests.security.isolation import CANARY, Tenant

TABLES = ("scopes", "memories", "links", "journal", "operations", "vectors", "keys", "audit", "view_snapshots")
_WORDS = {"memories": "content", "journal": "before::text", "audit": "line", "operations": "operation"}
"""A column of a table that may hold a tenant's word."""
_IDS = {"memories": "id", "journal": "memory_id", "links": "source", "vectors": "memory_id"}
_SETTABLE = {"scopes": "head", "memories": "content", "journal": "reason", "links": "weight", "vectors": "space"}
"""A column that the role may change in rows of its own tenant."""
Rows = list[tuple[Any, ...]]


@dataclass
class SqlFindings:
    """What came of the statements."""

    statements: Counter[str] = field(default_factory=Counter)
    """How many there were, by what they try."""
    rows: int = 0
    """Rows of the own tenant that were read."""
    foreign: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.statements.total():,} statements, {self.rows:,} own rows read, {len(self.foreign)} foreign ids,"
            f" words, counts or changes; {dict(sorted(self.statements.items()))}"
        )


class Statements:
    """Makes random statements for random tenants and looks at what comes back."""

    def __init__(
        self, connection: psycopg.Connection[Any], owner: psycopg.Connection[Any], tenants: Sequence[Tenant], seed: int
    ) -> None:
        self._connection, self._tenants = connection, tenants
        self._random = random.Random(seed)
        self._counts = {table: stored(owner, table) for table in TABLES}
        self._attempts: tuple[Callable[[Tenant, Tenant, str], None], ...] = (
            self._read_all,
            self._count_all,
            self._name_tenant,
            self._search_word,
            self._fetch_ids,
            self._join,
            self._change,
            self._delete,
            self._insert,
            self._move,
            self._no_tenant,
        )
        self.findings = SqlFindings()

    def run(self, count: int) -> SqlFindings:
        """Make this many statements."""
        for _ in range(count):
            own, other = self._random.sample(self._tenants, 2)
            attempt = self._random.choice(self._attempts)
            attempt(own, other, self._random.choice(TABLES))
        return self.findings

    def _read_all(self, own: Tenant, other: Tenant, table: str) -> None:
        """Every row of a table, as text: only own rows, and no word of anybody else."""
        rows = self._fetch(own, "read", "SELECT t.tenant, t::text FROM {table} t", table)
        for tenant, text in rows:
            self._require(tenant == own.name, own, f"row of {tenant} in {table}")
            words = {*CANARY.findall(text)} - {own.canary}
            self._require(not words, own, f"{words} in {table}")
        self.findings.rows += len(rows)

    def _count_all(self, own: Tenant, other: Tenant, table: str) -> None:
        form = self._random.choice(
            (
                "SELECT count(*) FROM {table}",
                "SELECT count(*) FROM {table} WHERE tenant = %(tenant)s OR tenant = %(other)s OR true",
                "SELECT coalesce(sum(n), 0) FROM (SELECT tenant, count(*) AS n FROM {table} GROUP BY tenant) AS g",
                "WITH every AS MATERIALIZED (SELECT * FROM {table}) SELECT count(*) FROM every",
            )
        )
        ((found,),) = self._fetch(own, "count", form, table, tenant=own.name, other=other.name)
        stored_rows = self._counts[table][own.name]
        self._require(found == stored_rows, own, f"{found} rows of {table}, not {stored_rows}")

    def _name_tenant(self, own: Tenant, other: Tenant, table: str) -> None:
        form = self._random.choice(
            (
                "SELECT * FROM {table} WHERE tenant = %(other)s",
                "SELECT * FROM {table} WHERE tenant <> %(tenant)s",
                "SELECT max(tenant) FROM {table} HAVING max(tenant) <> %(tenant)s",
                "SELECT 1 WHERE EXISTS (SELECT FROM {table} WHERE tenant = %(other)s)",
            )
        )
        self._nothing(own, "name a tenant", form, table, tenant=own.name, other=other.name)

    def _search_word(self, own: Tenant, other: Tenant, table: str) -> None:
        table = table if table in _WORDS else "memories"
        form = f"SELECT * FROM {{table}} WHERE {_WORDS[table]} LIKE '%%' || %(word)s || '%%'"
        self._nothing(own, "search a word", form, table, word=other.canary)

    def _fetch_ids(self, own: Tenant, other: Tenant, table: str) -> None:
        table = table if table in _IDS else "memories"
        ids = [UUID(id) for id in sorted(other.ids - own.ids) if len(id) == 36]
        ids = self._random.sample(ids, min(len(ids), 20))
        form = f"SELECT * FROM {{table}} WHERE {_IDS[table]} = ANY(%(ids)s)"
        self._nothing(own, "fetch ids", form, table, ids=ids)

    def _join(self, own: Tenant, other: Tenant, table: str) -> None:
        form = "SELECT s.tenant FROM scopes s FULL JOIN {table} t ON t.tenant = s.tenant"
        form += " WHERE coalesce(s.tenant, t.tenant) <> %(tenant)s"
        self._nothing(own, "join", form, table, tenant=own.name)

    def _change(self, own: Tenant, other: Tenant, table: str) -> None:
        table = table if table in _SETTABLE else "memories"
        form = (
            f"UPDATE {{table}} SET {_SETTABLE[table]} = {_SETTABLE[table]} WHERE tenant <> %(tenant)s RETURNING tenant"
        )
        self._nothing(own, "change", form, table, tenant=own.name)

    def _delete(self, own: Tenant, other: Tenant, table: str) -> None:
        table = table if table in _SETTABLE else "memories"
        self._nothing(
            own, "delete", "DELETE FROM {table} WHERE tenant = %(other)s RETURNING *", table, other=other.name
        )

    def _insert(self, own: Tenant, other: Tenant, table: str) -> None:
        form = "INSERT INTO scopes (tenant, agent, head) VALUES (%(other)s, 'assistant', 0)"
        form += self._random.choice(("", " ON CONFLICT (tenant, agent) DO UPDATE SET head = 0"))
        self._refused(own, "insert", form, "scopes", other=other.name)

    def _move(self, own: Tenant, other: Tenant, table: str) -> None:
        table = table if table in _SETTABLE and self._counts[table][own.name] else "memories"
        self._refused(own, "move", "UPDATE {table} SET tenant = %(other)s", table, other=other.name)

    def _no_tenant(self, own: Tenant, other: Tenant, table: str) -> None:
        """With no tenant, or with what is no tenant's whole name, there are no rows."""
        name = self._random.choice(("", "%", f"{own.name} ", own.name.upper(), f"{own.name},{other.name}", "*"))
        self._nothing(own, "no tenant", "SELECT * FROM {table}", table, as_tenant=name)

    def _nothing(self, own: Tenant, kind: str, form: str, table: str, **values: Any) -> None:
        rows = self._fetch(own, kind, form, table, **values)
        self._require(not rows, own, f"{len(rows)} rows of {table} by {form} with {values}")

    def _refused(self, own: Tenant, kind: str, form: str, table: str, **values: Any) -> None:
        """A statement that must be refused before anything is looked up: another error tells what there is."""
        ending = "was carried out"
        try:
            self._fetch(own, kind, form, table, **values)
        except psycopg.errors.InsufficientPrivilege:
            return
        except psycopg.Error as error:
            ending = type(error).__name__
        self.findings.foreign.append(f"{own.name}: {form} on {table}: {ending}")

    def _fetch(
        self, own: Tenant, kind: str, form: str, table: str, *, as_tenant: str | None = None, **values: Any
    ) -> Rows:
        """Execute a statement for a tenant and take it back; return its rows."""
        self.findings.statements[kind] += 1
        query = sql.SQL(form).format(table=sql.Identifier(table))
        with self._as(own.name if as_tenant is None else as_tenant):
            cursor = self._connection.execute(query, values)
            return cursor.fetchall() if cursor.description is not None else []

    @contextmanager
    def _as(self, tenant: str) -> Iterator[None]:
        with self._connection.transaction(force_rollback=True):
            self._connection.execute("SELECT set_config('longmind.tenant', %s, true)", (tenant,))
            yield

    def _require(self, holds: bool, own: Tenant, otherwise: str) -> None:
        if not holds:
            self.findings.foreign.append(f"{own.name}: {otherwise}")


def stored(owner: psycopg.Connection[Any], table: str) -> Counter[str]:
    """Return how many rows of a table each tenant has, as the owner of the tables sees it."""
    query = sql.SQL("SELECT tenant, count(*) FROM longmind.{} GROUP BY tenant").format(sql.Identifier(table))
    return Counter(dict(owner.execute(query).fetchall()))


def examine_sql(application_url: str, owner_url: str, tenants: Sequence[Tenant], *, statements: int) -> SqlFindings:
    """Make random statements as the role of an application, over a store that these tenants have filled."""
    with (
        psycopg.connect(owner_url, autocommit=True) as owner,
        psycopg.connect(application_url, autocommit=True) as connection,
    ):
        connection.execute("SET search_path = longmind, public")
        return Statements(connection, owner, tenants, seed=1).run(statements)
