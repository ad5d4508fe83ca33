"""Where search should run: compare a text query in a database's own index with the view in this process.

    python -m benchmarks.search_placement [--agents 100] [--each 1000] [--large 200000] [--postgres URL]

Texts are made from a seeded Zipf vocabulary. Times are CPU milliseconds of this process (for PostgreSQL also the wall
time, as its work is done elsewhere), the median of many queries. The result stands in docs/adr/0003.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate
from pathlib import Path

import apsw

from longmind.store.base import Feed, Head, IndexRow
from longmind.store.search.ranking import by_text
from longmind.store.search.view import View
from longmind.text.analysis import terms
from longmind.text.index_terms import index_terms
from longmind.types import Filter, Memory

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = [f"{a}{b}{c}" for a in "bcdfglmnprst" for b in ("an", "el", "ior", "um", "ask") for c in range(500)]
ANY = Filter(states=None)


def texts(count: int, seed: int) -> Iterator[str]:
    """Yield texts of 8 to 40 words."""
    chance = random.Random(seed)
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(WORDS))))
    for _ in range(count):
        yield " ".join(chance.choices(WORDS, cum_weights=weights, k=chance.randint(8, 40)))


def median_ms(ask: Callable[[str], object], questions: list[str]) -> tuple[float, float]:
    """Return the median CPU and wall milliseconds of a search."""
    cpu, wall = [], []
    for question in questions:
        c, w = time.process_time(), time.perf_counter()
        ask(question)
        cpu.append(time.process_time() - c)
        wall.append(time.perf_counter() - w)
    return 1000 * statistics.median(cpu), 1000 * statistics.median(wall)


def view_of(rows: list[str]) -> View:
    """Build a view of texts, and print how long that takes."""
    view = View(0)
    index_rows = []
    for number, text in enumerate(rows):
        memory = Memory(id=f"00000000-0000-7000-8000-{number:012x}", tenant="t", agent="a", content=text,
                        occurred_at=NOW, recorded_at=NOW)  # fmt: skip
        index_rows.append(IndexRow(memory.id, number + 1, None, None, "message", "active", 0.5, 0.8, 0.0, 0.0, None, None, None,
                             index_terms(memory), None))  # fmt: skip
    started = time.process_time()
    view.take_in(Feed(Head(len(index_rows), 1), index_rows))
    view.bm25([(1, 1.0)])
    print(f"  filling a view of {len(rows)} rows that were read: {time.process_time() - started:.2f} s CPU")
    return view


def in_view(view: View, question: str) -> object:
    """Search the view of this process."""
    return by_text(view, question, 10, ANY, None)


def fts_of(path: Path, scopes: dict[str, list[str]]) -> apsw.Connection:
    """Build two full-text indexes in SQLite: with the scope as a token, and without."""
    db = apsw.Connection(str(path))
    db.execute("CREATE VIRTUAL TABLE plain USING fts5(text, scope UNINDEXED, content='', tokenize='unicode61')")
    db.execute("CREATE VIRTUAL TABLE scoped USING fts5(text, scope, content='', tokenize='unicode61')")
    with db:
        number = 0
        for scope, rows in scopes.items():
            for text in rows:
                number += 1
                words = " ".join(terms(text))
                db.execute("INSERT INTO plain(rowid, text, scope) VALUES (?, ?, ?)", (number, words, scope))
                db.execute("INSERT INTO scoped(rowid, text, scope) VALUES (?, ?, ?)", (number, words, scope))
    db.execute("CREATE TABLE owner(id INTEGER PRIMARY KEY, scope TEXT)")
    with db:
        number = 0
        for scope, rows in scopes.items():
            for _ in rows:
                number += 1
                db.execute("INSERT INTO owner VALUES (?, ?)", (number, scope))
    return db


def in_sqlite(db: apsw.Connection, scope: str) -> dict[str, Callable[[str], object]]:
    """Return the searches in SQLite."""

    def scoped(question: str) -> object:
        match = f"scope:{scope} AND text:(" + " OR ".join(f'"{t}"' for t in terms(question)) + ")"
        return list(
            db.execute("SELECT rowid FROM scoped WHERE scoped MATCH ? ORDER BY bm25(scoped, 1, 0) LIMIT 10", (match,))
        )

    def plain(question: str) -> object:
        match = " OR ".join(f'"{t}"' for t in terms(question))
        return list(
            db.execute(
                "SELECT plain.rowid FROM plain JOIN owner ON owner.id = plain.rowid WHERE plain MATCH ? AND owner.scope = ?"
                " ORDER BY bm25(plain) LIMIT 10",
                (match, scope),
            )
        )

    return {"FTS5, scope as a token": scoped, "FTS5, scope filtered after": plain}


def in_postgres(url: str, scopes: dict[str, list[str]], scope: str) -> dict[str, Callable[[str], object]]:
    """Fill a table in PostgreSQL and return the search in it."""
    import psycopg

    db = psycopg.connect(url, autocommit=True)
    db.execute("DROP TABLE IF EXISTS placement")
    db.execute("CREATE TABLE placement(scope text, id int, words tsvector, PRIMARY KEY (scope, id))")
    with db.cursor() as cursor, cursor.copy("COPY placement(scope, id, words) FROM STDIN") as copy:
        for owner, rows in scopes.items():
            for number, text in enumerate(rows):
                copy.write_row((owner, number, " ".join(f"{t}" for t in terms(text))))
    db.execute("CREATE EXTENSION IF NOT EXISTS btree_gin")
    db.execute("CREATE INDEX ON placement USING gin(scope, words)")
    db.execute("ANALYZE placement")

    def ranked(question: str) -> object:
        tsquery = " | ".join(terms(question))
        return db.execute(
            "SELECT id FROM placement WHERE scope = %s AND words @@ %s::tsquery"
            " ORDER BY ts_rank(words, %s::tsquery) DESC LIMIT 10",
            (scope, tsquery, tsquery),
        ).fetchall()

    return {"PostgreSQL GIN and ts_rank (not BM25)": ranked}


def main() -> None:
    """Measure and print all searches."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", type=int, default=100)
    parser.add_argument("--each", type=int, default=1000)
    parser.add_argument("--large", type=int, default=200_000)
    parser.add_argument("--postgres")
    options = parser.parse_args()
    questions = [" ".join(q.split()[:6]) for q in texts(60, seed=7)]
    many = {f"agent{n}": list(texts(options.each, seed=n)) for n in range(options.agents)}
    for title, scopes, scope in (
        (f"{options.agents} agents of {options.each} memories, one asked", many, "agent0"),
        (f"one agent of {options.large} memories", {"large": list(texts(options.large, seed=1))}, "large"),
    ):
        print(title)
        view = view_of(scopes[scope])
        searches: dict[str, Callable[[str], object]] = {"the view": partial(in_view, view)}
        with tempfile.TemporaryDirectory() as folder:
            searches.update(in_sqlite(fts_of(Path(folder) / "fts.db", scopes), scope))
            if options.postgres:
                searches.update(in_postgres(options.postgres, scopes, scope))
            for name, ask in searches.items():
                cpu, wall = median_ms(ask, questions)
                print(f"  {name:40} {cpu:8.2f} ms CPU {wall:8.2f} ms wall")


if __name__ == "__main__":
    main()
