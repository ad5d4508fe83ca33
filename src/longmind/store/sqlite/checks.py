"""The checks of a store file: its pages are sound, and what they hold fits together."""

from __future__ import annotations

from collections.abc import Iterator

import apsw

from longmind.store import sql
from longmind.store.sqlite import checksums, rows
from longmind.store.sqlite.failures import DamagedRow
from longmind.store.sqlite.queries import PACKAGE, QUERIES, SLOTS, fetch
from longmind.text.index_terms import ANALYSIS_VERSION

CHECKS = sql.load(PACKAGE, "checks.sql")

REBUILD = "Export what is there with `longmind export`, and import it into a new store."
SALVAGE = (
    "Restore a backup, or take out the rest with `longmind doctor --salvage out.jsonl` and make a new store of it with "
    "`longmind import out.jsonl --url new.db`."
)
CHUNK = 1_000
NAMED = 20
"""So many damaged memories are named."""
CHECK_TEXTS = {
    "memories_misplaced": ("memories do not fit the journal", REBUILD),
    "memories_unreadable": ("memories hold something that is not JSON", REBUILD),
    "terms_missing": ("memories cannot be found by their words", REBUILD),
    "links_loose": ("links begin or end at a memory that is gone", REBUILD),
    "journal_gaps": ("agents have a journal with a gap", REBUILD),
    "journal_unsigned": ("agents have changes that do not say who made them", REBUILD),
    "vectors_loose": ("vectors belong to no memory or have a wrong length", "Run `longmind reembed`."),
    "spaces_active": ("vector spaces are there, and it is not plain which is read", "Run `longmind reembed`."),
}


def find_faults(connection: apsw.Connection, path: str) -> list[str]:
    """Return what is wrong, one line each with what to do; empty when all is well."""
    damaged = list(_damage(connection, path))
    return damaged or [*_damaged_rows(connection, path), *_misfits(connection, path)]


def _damage(connection: apsw.Connection, path: str) -> Iterator[str]:
    remedy = f"Make a copy of {path}, then take out what can be read with `longmind doctor --url {path}`."
    try:
        lines = fetch(connection, CHECKS["pages"])
    except (apsw.CorruptError, apsw.NotADBError, apsw.IOError) as error:
        yield f"The file is damaged so that it cannot be examined ({error}). {remedy}"
        return
    for (line,) in lines:
        if line != "ok":
            yield f"The file is damaged: {line}. {remedy}"


def _damaged_rows(connection: apsw.Connection, path: str) -> Iterator[str]:
    """Compare every memory with its checksum: SQLite does not see a flipped bit inside a text or a number."""
    damaged: dict[str, list[str]] = {"damaged: they are not what was stored": [], "found by wrong words": []}
    texts, terms = damaged.values()
    row = -1
    while chunk := fetch(connection, CHECKS["row_numbers"], (row, CHUNK)):
        for (row,) in chunk:
            try:
                *columns, stored_terms = fetch(connection, QUERIES["memory_and_terms_at"], (row,))[0]
                memory = rows.memory(tuple(columns), "", "")
            except (DamagedRow, UnicodeDecodeError, ValueError, TypeError) as error:
                texts.append(error.memory_id if isinstance(error, DamagedRow) else f"row {row}")
                continue
            if not checksums.fits_terms(columns[-1], stored_terms):
                terms.append(memory.id)
    for trouble, ids in damaged.items():
        if ids:
            count = "1 memory is" if len(ids) == 1 else f"{len(ids)} memories are"
            some = ", ".join(ids[:NAMED]) + (" ..." if len(ids) > NAMED else "")
            yield f"{path}: {count} {trouble} ({some}). {SALVAGE}"


def _misfits(connection: apsw.Connection, path: str) -> Iterator[str]:
    for name, (trouble, remedy) in CHECK_TEXTS.items():
        if name == "vectors_loose":
            queries = [CHECKS[name].replace("{vectors}", f"vectors_{slot}").replace("{slot}", slot) for slot in SLOTS]
        else:
            queries = [CHECKS[name]]
        for query in queries:
            try:
                count, example = fetch(connection, query, {"analysis": f"{ANALYSIS_VERSION:02X}"})[0]
            except UnicodeDecodeError:
                count, example = "some", "one whose id is damaged"
            if count:
                yield f"{path}: {count} {trouble} (for example {example}). {remedy}"
