"""A copy of a damaged store file that SQLite opens.

SQLite refuses a whole file when its first hundred bytes are damaged, when it is shorter than they say, or when the
schema in its first pages cannot be read, though the memories on the other pages are sound. In the copy the file gets a
header that fits, is padded with zeros to its full length, and, if need be, gets the schema's pages of a new store: all
stores are made by the same migrations, so their tables begin on the same pages. The original is only read.
"""

from __future__ import annotations

import os
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import apsw

from longmind.store import sql
from longmind.store.sqlite.connect import LOG, Target, prepare
from longmind.store.sqlite.queries import PACKAGE, fetch

_PLACES = sql.load(PACKAGE, "salvage.sql")
_HEADER = 100
_LOG_HEADER = 32
_PAGE_SIZES = frozenset(2**n for n in range(9, 17))
_MOST_PADDING = 2**20
"""Pages that a header may say are missing; one that says more is not believed."""


@dataclass(frozen=True, slots=True)
class Template:
    """A new, empty store, from which header and schema are taken."""

    content: bytes
    page_size: int
    schema_pages: tuple[int, ...]
    """The numbers, from 1, of the pages that hold the schema."""

    @classmethod
    def make(cls, folder: str) -> Template:
        """Make a store in a folder and read it."""
        path = os.path.join(folder, "template.db")
        prepare(Target(path))
        connection = apsw.Connection(path)
        try:
            page_size = int(connection.pragma("page_size"))
            pages = tuple(sorted(page for (page,) in fetch(connection, _PLACES["schema_pages"])))
        finally:
            connection.close()
        return cls(Path(path).read_bytes(), page_size, pages)

    def page(self, number: int) -> bytes:
        return self.content[(number - 1) * self.page_size : number * self.page_size]


def repaired_copy(path: str, folder: str) -> str:
    """Write a repaired copy of a store file, with its log, into a folder and return its path."""
    template = Template.make(folder)
    copy = os.path.join(folder, "repaired.db")
    if os.path.exists(path):
        shutil.copyfile(path, copy)
    else:
        open(copy, "wb").close()
    if os.path.exists(path + LOG):
        shutil.copyfile(path + LOG, copy + LOG)
    page_size = _page_size(copy, template)
    with open(copy, "r+b") as file:
        _mend_header(file, page_size, template)
    if page_size == template.page_size and not _has_tables(copy):
        with open(copy, "r+b") as file:
            for number in template.schema_pages:
                file.seek((number - 1) * page_size)
                file.write(template.page(number))
            _mend_header(file, page_size, template)
    return copy


def _page_size(copy: str, template: Template) -> int:
    """Return the size of a page by the log, or else by the header; that of a new store if neither can be read."""
    sizes = []
    if os.path.exists(copy + LOG):
        log = _read(copy + LOG, _LOG_HEADER)
        sizes.append(struct.unpack_from(">I", log, 8)[0] if len(log) == _LOG_HEADER else 0)
    header = _read(copy, _HEADER)
    stored = struct.unpack_from(">H", header, 16)[0] if len(header) == _HEADER else 0
    sizes.append(65_536 if stored == 1 else stored)
    return next((size for size in sizes if size in _PAGE_SIZES), template.page_size)


def _mend_header(file: BinaryIO, page_size: int, template: Template) -> None:
    """Write a header that fits the file, and pad the file with zeros to the length that the header says.

    The list of free pages is left out, for nothing is written.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    stored = file.read(_HEADER)
    there = -(-size // page_size)
    claimed = struct.unpack_from(">I", stored, 28)[0] if len(stored) == _HEADER else 0
    pages = max(there, len(template.content) // template.page_size)
    if pages < claimed <= there + _MOST_PADDING:
        pages = claimed
    header = bytearray(template.content[:_HEADER])
    struct.pack_into(">H", header, 16, 1 if page_size == 65_536 else page_size)
    struct.pack_into(">III", header, 28, pages, 0, 0)
    header[92:96] = header[24:28]  # the number of pages counts only if these two agree
    file.truncate(pages * page_size)
    file.seek(0)
    file.write(header)


def _has_tables(copy: str) -> bool:
    """Whether the schema can be read and has the tables of a store."""
    try:
        connection = apsw.Connection(copy)
        try:
            return bool(fetch(connection, _PLACES["has_tables"])[0][0])
        finally:
            connection.close()
    except apsw.Error:
        return False


def _read(path: str, count: int) -> bytes:
    with open(path, "rb") as file:
        return file.read(count)
