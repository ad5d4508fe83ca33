"""What erasure reads of the journal, and the cleaning of the file.

A row that is removed is overwritten in its page (``secure_delete``). After an erasure the file is rewritten, unless it
is large, and the write-ahead log emptied, unless another process reads; what could not be done is noted in the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

import apsw

from longmind.store.base import Scrubbed
from longmind.store.reads import link_key
from longmind.store.sqlite import rows
from longmind.store.sqlite.connect import Target, patiently
from longmind.store.sqlite.failures import translate
from longmind.store.sqlite.queries import QUERIES, fetch
from longmind.store.sqlite.rows import SEQ_BITS
from longmind.store.sqlite.writer import remove_remnants
from longmind.types import Link, Scope

NOT_DONE = (
    "Blocks that the file system or the disk has set free, and snapshots of it, are not in reach; encrypt the disk.",
    "Backups of the file and exports keep what they copied; remove them yourself.",
)


def past_links(
    connection: apsw.Connection, scope: Scope, number: int, ids: Sequence[str], direction: Literal["out", "in"]
) -> list[Link]:
    """Return every link that leaves or reaches these memories or ever did, as far as the journal tells."""
    params = {**_journal(scope, number), "ids": rows.json_list(ids)}
    links = [
        Link.model_validate_json(text) for (text,) in fetch(connection, QUERIES[f"past_links_{direction}"], params)
    ]
    return list({link_key(link): link for link in links}.values())


def past_ids(connection: apsw.Connection, scope: Scope, number: int) -> list[str]:
    """Return the id of every memory of the journal that belongs, or belonged, to the scope's user."""
    return [id for (id,) in fetch(connection, QUERIES["past_ids"], _journal(scope, number))]


def uncleared(connection: apsw.Connection, path: str) -> list[str]:
    """Return where erased words may still be, with what to do."""
    places = {
        "log": f"{path}-wal may hold erased words since {{}}: another process was reading, so it could not be emptied."
        " Close the other programs that use this store, and run `longmind doctor --scrub`.",
        "pages": f"Unused parts of {path} may hold erased words since {{}}: it is too large to be rewritten after each"
        " erasure. Run `longmind doctor --scrub`.",
    }
    debts = fetch(connection, QUERIES["debts"])
    return [
        places[place].format(f"{datetime.fromtimestamp(since / 1e6, UTC):%Y-%m-%d %H:%M} UTC") for place, since in debts
    ]


def scrub(target: Target) -> Scrubbed:
    """Rewrite the file without free pages, and empty the write-ahead log."""
    try:
        connection = target.connect()
        try:
            connection.pragma("secure_delete", "ON")
            connection.pragma("temp_store", "FILE")  # the copy may be larger than the memory
            patiently(target.busy_timeout_s, lambda: connection.execute("VACUUM"))
            patiently(target.busy_timeout_s, lambda: connection.execute(QUERIES["debt_clear"], ("pages",)))
            emptied = remove_remnants(connection)
        finally:
            connection.close()
    except apsw.Error as error:
        raise translate(error, target.path) from error
    done = ["Rewrote the file without free pages (VACUUM)."]
    if emptied:
        return Scrubbed((*done, "Emptied the write-ahead log (checkpoint, truncated)."), NOT_DONE)
    busy = "The write-ahead log could not be emptied: another process is reading. Close it and run this again."
    return Scrubbed(tuple(done), (busy, *NOT_DONE))


def _journal(scope: Scope, number: int) -> dict[str, object]:
    return {"begin": number << SEQ_BITS, "end": (number + 1) << SEQ_BITS, "user": scope.viewer}
