"""Random statements straight through SQL as the role of an application, which try to reach rows of other tenants.

Row-level security keeps a statement to the tenant of its transaction. It does not keep whoever chooses the statements
from naming another tenant there, so that is not tried. Nor is counted what the role learns of others by design: the
names of tenants, a key by its whole id, the length of the audit, and the planner's guess of how large a table is.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from tests.security.isolation import CANARY, Tenant
from tests.security.isolation_statements import (
    COPIES,
    COUNTS,
    IDS,
    NOTE,
    NOTHING,
    REFUSED,
    SETTABLE,
    TABLES,
    TEXTS,
    WORDS,
)

KINDS = {"read", "count", "aggregate", "no tenant", "copy", "copy in", "note", "prepare", "cursor", "end", "collide"}
KINDS |= {*NOTHING, *REFUSED}
_NAME = re.compile(r"tenant-\d+")
Rows = list[tuple[Any, ...]]


@dataclass
class SqlFindings:
    """What came of the statements."""

    statements: Counter[str] = field(default_factory=Counter)
    """How many there were, by what they try."""
    tenants: set[str] = field(default_factory=set)
    rows: int = 0
    """Rows of the own tenant that were read."""
    foreign: list[str] = field(default_factory=list)
    succeeded: set[str] = field(default_factory=set)
    """The kinds of statements that came to something foreign."""

    def __str__(self) -> str:
        return (
            f"{self.statements.total():,} statements of {len(self.tenants)} tenants, {self.rows:,} own rows read,"
            f" {len(self.foreign)} foreign ids, words, counts or changes; {dict(sorted(self.statements.items()))}"
        )


class Statements:
    """Makes random statements for random tenants and looks at what comes back."""

    def __init__(
        self, connection: psycopg.Connection[Any], owner: psycopg.Connection[Any], tenants: Sequence[Tenant], seed: int
    ) -> None:
        self._connection, self._tenants = connection, tenants
        self._random = random.Random(seed)
        self._counts = {table: stored(owner, table) for table in TABLES}
        self._attempts: dict[str, Callable[[Tenant, Tenant, str, str], None]] = {
            **dict.fromkeys(NOTHING, self._find_nothing),
            **dict.fromkeys(REFUSED, self._be_refused),
            "read": self._read_all,
            "count": self._count_all,
            "aggregate": self._aggregate,
            "no tenant": self._no_tenant,
            "copy": self._copy,
            "copy in": self._copy_in,
            "note": self._note,
            "prepare": self._prepare,
            "cursor": self._cursor,
            "end": self._end,
            "collide": self._collide,
        }
        self.findings = SqlFindings()

    def run(self, count: int) -> SqlFindings:
        """Make this many statements."""
        kinds = sorted(KINDS)
        for _ in range(count):
            own, other = self._random.sample(self._tenants, 2)
            kind, table = self._random.choice(kinds), self._random.choice(TABLES)
            self.findings.statements[kind] += 1
            self.findings.tenants.add(own.name)
            before = len(self.findings.foreign)
            self._attempts[kind](own, other, kind, table)
            if len(self.findings.foreign) > before:
                self.findings.succeeded.add(kind)
        return self.findings

    def _read_all(self, own: Tenant, other: Tenant, kind: str, table: str) -> None:
        """Every row of a table, as text: only own rows, and no word of anybody else."""
        rows = self._fetch(own, "SELECT t.tenant, t::text FROM {table} t", table)
        for tenant, text in rows:
            self._require(tenant == own.name, own, f"row of {tenant} in {table}")
            self._own_text(own, text, table)
        self.findings.rows += len(rows)

    def _count_all(self, own: Tenant, other: Tenant, kind: str, table: str) -> None:
        form = self._random.choice(COUNTS)
        ((found,),) = self._fetch(own, form, table, tenant=own.name, other=other.name)
        stored_rows = self._counts[table][own.name]
        self._require(found == stored_rows, own, f"{found} rows of {table}, not {stored_rows}, by {form}")

    def _aggregate(self, own: Tenant, other: Tenant, kind: str, table: str) -> None:
        form = self._random.choice(TEXTS)
        ((text,),) = self._fetch(own, form, table)
        self._own_text(own, text or "", form)

    def _find_nothing(self, own: Tenant, other: Tenant, kind: str, table: str) -> None:
        form = self._random.choice(NOTHING[kind])
        ids = [UUID(id) for id in sorted(other.ids - own.ids) if len(id) == 36]
        ids = self._random.sample(ids, min(len(ids), 20))
        values = {"tenant": own.name, "other": other.name, "word": other.canary, "foreign_ids": ids}
        self._nothing(own, form, self._suitable(form, kind, table), **values)

    def _be_refused(self, own: Tenant, other: Tenant, kind: str, table: str) -> None:
        form = self._random.choice(REFUSED[kind])
        if kind == "move" and not (table in SETTABLE and self._counts[table][own.name]):
            table = "memories"
        with self._refusal(own, form, psycopg.errors.InsufficientPrivilege):
            self._fetch(own, form, table, other=other.name)

    def _no_tenant(self, own: Tenant, other: Tenant, kind: str, table: str) -> None:
        """With no tenant, or with what is no tenant's whole name, there are no rows."""
        name = self._random.choice(("", "%", f"{own.name} ", own.name.upper(), f"{own.name},{other.name}", "*"))
        self._nothing(own, "SELECT * FROM {table}", table, as_tenant=name)

    def _copy(self, own: Tenant, other: Tenant, kind: str, table: str) -> None:
        form = self._random.choice(COPIES)
        with self._as(own.name), psycopg.ClientCursor(self._connection) as cursor:
            query = sql.SQL(form).format(table=sql.Identifier(table))
            values = {"other": other.name} if "%(other)s" in form else None
            with cursor.copy(query, values) as copied:
                text = b"".join(copied).decode()
        self._own_text(own, text, form)

    def _copy_in(self, own: Tenant, other: Tenant, kind: str, table: str) -> None:
        form = "COPY scopes (tenant, agent, head) FROM STDIN"
        with (
            self._refusal(own, form, psycopg.errors.FeatureNotSupported),
            self._as(own.name),
            self._connection.cursor() as cursor,
            cursor.copy(form) as copied,
        ):
            copied.write_row((other.name, "planted", 0))

    def _note(self, own: Tenant, other: Tenant, kind: str, table: str) -> None:
        """A function of the role is called for own rows only."""
        with self._as(own.name), psycopg.ClientCursor(self._connection) as cursor:
            cursor.execute(sql.SQL(NOTE).format(table=sql.Identifier(table)))
            rows = cursor.execute("SELECT DISTINCT value FROM noted").fetchall()
        self._own_text(own, str(rows), "a function's argument")

    def _prepare(self, own: Tenant, other: Tenant, kind: str, table: str) -> None:
        """A statement that was planned for another tenant gives rows of its own."""
        query = sql.SQL("SELECT tenant FROM {}").format(sql.Identifier(table))
        for tenant in (other, own):
            with self._as(tenant.name):
                rows = self._connection.execute(query, prepare=True).fetchall()
            self._own_text(tenant, str(rows), f"a prepared statement on {table}")

    def _cursor(self, own: Tenant, other: Tenant, kind: str, table: str) -> None:
        query = sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(table))
        with self._as(own.name), self._connection.cursor("rows") as cursor:
            self._own_text(own, str(cursor.execute(query).fetchall()), f"a cursor on {table}")

    def _end(self, own: Tenant, other: Tenant, kind: str, table: str) -> None:
        """The tenant ends with its transaction, however that ends; and with a savepoint, the one before is back."""
        query = sql.SQL("SELECT * FROM {}").format(sql.Identifier(table))
        ending = self._random.choice(("commit", "rollback", "error", "savepoint"))
        if ending == "savepoint":
            with self._as(own.name):
                with self._as(other.name):
                    pass
                self._own_text(own, str(self._connection.execute(query).fetchall()), "a savepoint")
            return
        try:
            with self._as(own.name, keep=ending == "commit"):
                if ending == "error":
                    self._connection.execute("SELECT 1 / 0")
        except psycopg.errors.DivisionByZero:
            pass
        rows = self._connection.execute(query).fetchall()
        self._require(not rows, own, f"{len(rows)} rows of {table} after a {ending}")

    def _collide(self, own: Tenant, other: Tenant, kind: str, table: str) -> None:
        """A row with the keys of another's row goes in as any other: no conflict tells that it is there."""
        form = "INSERT INTO links (tenant, agent, source, relation, target, weight, metadata)"
        form += " VALUES (%(tenant)s, 'assistant', %(id)s, %(word)s, %(id)s, 1, '{{}}')"
        form += self._random.choice(("", " ON CONFLICT DO NOTHING")) + " RETURNING tenant"
        values = {"tenant": own.name, "id": UUID(int=other.number), "word": other.canary}
        rows = self._fetch(own, form, "links", **values)
        self._require(rows == [(own.name,)], own, f"{rows} by {form}")

    def _suitable(self, form: str, kind: str, table: str) -> str:
        """Return the table, or memories where a form does not fit it."""
        fitting: tuple[str, ...] = TABLES
        if kind in ("change", "delete"):
            fitting = tuple(SETTABLE)
        elif "{words}" in form:
            fitting = tuple(WORDS)
        elif "{ids}" in form:
            fitting = tuple(IDS)
        elif "FOR UPDATE" in form:
            fitting = TABLES[:6]
        return table if table in fitting else "memories"

    def _nothing(self, own: Tenant, form: str, table: str, **values: Any) -> None:
        try:
            rows = self._fetch(own, form, table, **values)
        except psycopg.Error as error:
            self._require(False, own, f"{type(error).__name__} on {table} by {form} with {values}")
        else:
            self._require(not rows, own, f"{len(rows)} rows of {table} by {form} with {values}")

    @contextmanager
    def _refusal(self, own: Tenant, form: str, expected: type[psycopg.Error]) -> Iterator[None]:
        ending = "was carried out"
        try:
            yield
        except expected:
            return
        except psycopg.Error as error:
            ending = type(error).__name__
        self.findings.foreign.append(f"{own.name}: {form}: {ending}")

    def _fetch(self, own: Tenant, form: str, table: str, *, as_tenant: str | None = None, **values: Any) -> Rows:
        """Execute a statement for a tenant and take it back; return its rows."""
        columns = {"words": WORDS, "ids": IDS, "column": SETTABLE}
        names = {name: sql.Identifier(by_table.get(table, "tenant")) for name, by_table in columns.items()}
        query = sql.SQL(form).format(table=sql.Identifier(table), **names)
        with self._as(own.name if as_tenant is None else as_tenant), psycopg.ClientCursor(self._connection) as cursor:
            cursor.execute(query, values)
            return cursor.fetchall() if cursor.description is not None else []

    @contextmanager
    def _as(self, tenant: str, *, keep: bool = False) -> Iterator[None]:
        with self._connection.transaction(force_rollback=not keep):
            self._connection.execute("SELECT set_config('longmind.tenant', %s, true)", (tenant,))
            yield

    def _own_text(self, own: Tenant, text: str, where: str) -> None:
        """A text holds the word and the name of nobody else."""
        words = {*CANARY.findall(text), *_NAME.findall(text)} - {own.canary, own.name}
        self._require(not words, own, f"{words} by {where}")

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
        for each in (owner, connection):
            each.execute("SET search_path = longmind, public")
        for tenant in tenants:
            _fill(owner, tenant)
        owner.execute("ANALYZE")
        return Statements(connection, owner, tenants, seed=1).run(statements)


def _fill(owner: psycopg.Connection[Any], tenant: Tenant) -> None:
    """Give a tenant rows with its word in the tables that requests without an embedder leave empty."""
    values = {"tenant": tenant.name, "word": tenant.canary, "id": UUID(int=tenant.number)}
    for query in (
        "INSERT INTO links (tenant, agent, source, relation, target, weight, metadata)"
        " VALUES (%(tenant)s, 'assistant', %(id)s, %(word)s, %(id)s, 1, '{}')",
        "INSERT INTO vectors VALUES (%(tenant)s, 'assistant', %(id)s, %(word)s, '[1]')",
        "INSERT INTO view_snapshots VALUES (%(tenant)s, 'assistant', %(word)s, %(id)s, 0, '', now())",
    ):
        owner.execute(query, values)
