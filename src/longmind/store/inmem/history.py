"""From the lines that are kept to the changes that are told.

A line keeps only what was before. What came after an update is what a later line of the same memory remembers of
those fields, or else what the record says now; what came after a put is the whole record, wound back the same way. The
counters of reads are not journalled: they are told as they are now, or as they were when the memory was deleted.
"""

from __future__ import annotations

from collections.abc import Sequence

from longmind.store.inmem.state import Row
from longmind.store.plan import JournalLine
from longmind.types import Change, Json


def told(line: JournalLine, journal: Sequence[JournalLine], row: Row | None) -> Change:
    """A line as a change; ``row`` is the memory as it is now, if it exists."""
    return Change(
        seq=line.seq,
        operation=line.operation,
        at=line.at,
        actor=line.actor,
        reason=line.reason,
        action=line.action,
        memory_id=line.memory_id,
        before=line.before,
        after=_after(line, journal, row),
        link=line.link,
    )


def _after(line: JournalLine, journal: Sequence[JournalLine], row: Row | None) -> Json | None:
    if line.action == "link":
        return None if line.link is None else line.link.model_dump(mode="json")
    if line.action == "put":
        return _record_after(line, journal, row)
    if line.action == "update" and line.before is not None:
        record = _record_after(line, journal, row)
        return None if record is None else {name: record[name] for name in line.before}
    return None


def _record_after(line: JournalLine, journal: Sequence[JournalLine], row: Row | None) -> Json | None:
    """The whole record as a line left it: the newest known, with every later update undone."""
    later = []
    record: Json | None = None if row is None else row.memory.model_dump(mode="json")
    for following in journal[line.seq :]:
        if following.memory_id == line.memory_id and following.action in ("update", "delete", "erase"):
            if following.action != "update":
                record = following.before
                break
            later.append(following.before)
    if record is None or None in later:
        return None
    for before in reversed(later):
        record = {**record, **(before or {}), "version": record["version"] - 1}
    return record
