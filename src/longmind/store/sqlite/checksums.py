"""The checksum of a memory's row: SQLite notices a damaged page, but not a flipped bit inside a text or a number.

The layout is part of the file format and is spelled out here, so that no library decides it: the numbers as eight
bytes each, little end first, then the texts in UTF-8, separated by the byte 0x1F. A CRC-32 finds every single flipped
bit and every burst of up to 32 bits. The counts of reads are left out: they change with every recall, in place.

A column holds two checksums: that of what a memory says, which is compared whenever a memory is read, and that of its
search terms, which only the check of the whole store compares.
"""

from __future__ import annotations

import struct
from zlib import crc32

_pack_numbers = struct.Struct("<3d8q").pack
_SEPARATOR = "\x1f"
_NONE = -(2**63)
"""Stands for no moment and no position; no moment is so early."""
_HALF = 2**63
ROW_PART = 2**32 - 1
"""The bits of the column that are the checksum of the row."""
FAULTS = (TypeError, struct.error)
"""What ``of_row`` raises for a value that has not the type of its column: a flipped bit can change that, too."""


def of_row(
    id_: str, user: str, session: str | None, kind: str, state: str, importance: float, trust: float, occurred_at: int,
    recorded_at: int, valid_from: int | None, valid_to: int | None, expires_at: int | None, version: int,
    key: str | None, valence: float, role: str, speaker: str | None, uri: str | None, span_start: int | None,
    span_end: int | None, tags: str | None, content: str, body: str | None, metadata: str | None,
) -> int:  # fmt: skip
    """Return the checksum of what a memory says. Raise if a value has not the type of its column.

    Adding 0.0 makes minus zero zero, as SQLite does when it stores a number.
    """
    numbers = _pack_numbers(
        importance + 0.0, trust + 0.0, valence + 0.0, occurred_at, recorded_at, version,
        _NONE if valid_from is None else valid_from, _NONE if valid_to is None else valid_to,
        _NONE if expires_at is None else expires_at,
        _NONE if span_start is None else span_start, _NONE if span_end is None else span_end,
    )  # fmt: skip
    texts = _SEPARATOR.join((
        id_, user, session or "", kind, state, key or "", role, speaker or "", uri or "", tags or "", body or "",
        metadata or "", content,
    ))  # fmt: skip
    return crc32(texts.encode("utf-8", "surrogatepass"), crc32(numbers))


def joined(row_checksum: int, terms: bytes) -> int:
    """Return the value of the column: the checksums of a row and of its search terms."""
    return (crc32(terms) << 32 | row_checksum) - _HALF


def fits_terms(stored: int, terms: bytes) -> bool:
    """Whether the search terms are the ones that were stored."""
    return (stored + _HALF) >> 32 == crc32(terms)
