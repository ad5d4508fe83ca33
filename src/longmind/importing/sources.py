"""Reading files of strangers: JSON, JSON lines and zip archives, with limits and errors that say where.

Nothing is unpacked to the disk, so the names in an archive lead nowhere. What is decompressed is counted while it is
read: an archive's own word on its sizes is not trusted.
"""

from __future__ import annotations

import codecs
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

from longmind.errors import InvalidInput, NotFound

MAX_JSON = 256 * 2**20
"""Bytes of one JSON document that is read whole, or of one element of a list that is read element by element."""
MAX_LINE = 16 * 2**20
"""Bytes of one line of JSON lines."""
MAX_UNPACKED = 8 * 2**30
"""Bytes of one member of an archive."""
MAX_RATIO, _UNCOUNTED = 200, 64 * 2**20
"""How many times its packed size a member may have, beyond the first bytes that are always read."""
_CHUNK = 2**20
_SPACE = re.compile(r"[\s]*")


class _Limited(io.RawIOBase):
    """A member of an archive that stops when it unpacks to more than an honest one would."""

    def __init__(self, stream: IO[bytes], name: str, packed: int) -> None:
        self._stream, self._name = stream, name
        self._most = min(MAX_UNPACKED, max(_UNCOUNTED, packed * MAX_RATIO))
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._stream.read(len(buffer))
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise InvalidInput(f"{self._name}: the archive is damaged: {error}.") from error
        self._read += len(data)
        if self._read > self._most:
            raise InvalidInput(
                f"{self._name}: it unpacks to more than {self._most:,} bytes.",
                hint="If the archive is yours and right, unpack it and import the file.",
            )
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def opened(path: Path, member: re.Pattern[str], *, required: bool = True) -> Iterator[Iterator[tuple[str, IO[bytes]]]]:
    """Open a file, those of a folder, or those of a zip archive, whose names match; each with a name for messages.

    A file that is given by itself is taken whatever its name is. Where none is ``required``, there may be none.
    """
    with ExitStack() as stack:
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if member.fullmatch(file.name) and file.is_file())
            if not files and required:
                raise NotFound(f"There is no such file in {path}.", hint=f"Looked for: {member.pattern}.")
            yield ((file.relative_to(path).as_posix(), _only(stack, file.open("rb"))) for file in files)
        elif not path.is_file():
            raise NotFound(f"There is no file {path}.")
        elif zipfile.is_zipfile(path):
            try:
                with zipfile.ZipFile(path) as archive:
                    yield _members(archive, path.name, member, stack, required)
            except zipfile.BadZipFile as error:
                raise InvalidInput(f"{path.name}: the archive is damaged: {error}.") from error
        else:
            yield iter([(path.name, _only(stack, path.open("rb")))])


def _only(stack: ExitStack, stream: IO[bytes]) -> IO[bytes]:
    """Close the stream that was open before, and let the stack close this one."""
    stack.close()
    return stack.enter_context(stream)


def _members(
    archive: zipfile.ZipFile, name: str, member: re.Pattern[str], stack: ExitStack, required: bool
) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the members whose last part matches, in the order of their names."""
    infos = [info for info in archive.infolist() if member.fullmatch(re.split(r"[/\\]", info.filename)[-1])]
    if not infos and required:
        raise InvalidInput(f"{name}: there is no such file in the archive.", hint=f"Looked for: {member.pattern}.")
    for info in sorted(infos, key=lambda info: info.filename):
        where = f"{name}:{info.filename}"
        try:
            stream = _only(stack, archive.open(info))
        except (RuntimeError, NotImplementedError) as error:
            raise InvalidInput(f"{where}: it cannot be unpacked: {error}.") from error
        yield where, io.BufferedReader(_Limited(stream, where, info.compress_size), _CHUNK)


def is_archive(path: Path) -> bool:
    """Whether a path leads to a zip archive."""
    return path.is_file() and zipfile.is_zipfile(path)


def other_files(path: Path, member: re.Pattern[str]) -> Iterator[str]:
    """Yield the names of the files of a folder or zip archive that do not match; hidden ones are left out."""
    if path.is_dir():
        names = [file.relative_to(path).as_posix() for file in sorted(path.rglob("*")) if file.is_file()]
    elif is_archive(path):
        with zipfile.ZipFile(path) as archive:
            names = [f"{path.name}:{info.filename}" for info in archive.infolist() if not info.is_dir()]
    else:
        return
    for name in names:
        last = re.split(r"[/\\:]", name)[-1]
        if not member.fullmatch(last) and not last.startswith("."):
            yield name


def elements(stream: IO[bytes], name: str) -> Iterator[tuple[int, Any]]:
    """Yield the elements of a JSON list with their numbers from 1, without holding the whole list.

    A document that is one object is one element.
    """
    reader = _ElementReader(stream, name)
    if reader.peek() != "[":
        yield 1, reader.value(1)
        reader.end()
        return
    reader.skip()
    number = 0
    while reader.peek() != "]":
        if number:
            reader.expect(",", number)
        number += 1
        yield number, reader.value(number)
    reader.skip()
    reader.end()


class _ElementReader:
    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream, self._decoder = stream, codecs.getincrementaldecoder("utf-8-sig")()
        self._name, self._buffer, self._at, self._lines, self._ended = name, "", 0, 1, False

    def peek(self) -> str:
        """Return the next character that is no space; "" at the end."""
        while True:
            match = _SPACE.match(self._buffer, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._more(_CHUNK):
                return ""

    def skip(self) -> None:
        self._at += 1

    def expect(self, character: str, number: int) -> None:
        if self.peek() != character:
            self._fail(f"after element {number} there is no {character!r}")
        self.skip()

    def value(self, number: int) -> Any:
        """Return the next value."""
        self.peek()
        self._lines += self._buffer.count("\n", 0, self._at)
        self._buffer, self._at = self._buffer[self._at :], 0
        size = _CHUNK
        while True:
            try:
                value, end = decode(self._buffer)
                if end < len(self._buffer) or not self._more(_CHUNK):  # a number may go on in the next chunk
                    self._at = end
                    return value
            except json.JSONDecodeError as error:
                if self._ended or not self._more(size):
                    self._fail(f"element {number} is not JSON: {error.msg}", error.pos, error)
                size *= 2
            except (ValueError, RecursionError) as error:
                self._fail(f"element {number} cannot be read: {_reason(error)}", 0, error)
            if len(self._buffer) > MAX_JSON:
                self._fail(f"element {number} has more than {MAX_JSON:,} characters")

    def end(self) -> None:
        if self.peek():
            self._fail("there is more after the end of the document")

    def _more(self, size: int) -> bool:
        data = self._stream.read(size)
        try:
            self._buffer += self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{self._name}: this is not UTF-8 text: {error.reason}.") from error
        self._ended = not data
        return bool(data)

    def _fail(self, what: str, position: int | None = None, cause: Exception | None = None) -> NoReturn:
        at = self._at if position is None else position
        line = self._lines + self._buffer.count("\n", 0, at)
        raise InvalidInput(f"{self._name}, line {line}: {what}.", hint="Is the file complete?") from cause


def document(stream: IO[bytes], name: str) -> Any:
    """Return a JSON document that is read whole."""
    reader = _ElementReader(stream, name)
    if not reader.peek():
        raise InvalidInput(f"{name}: the file is empty.")
    value = reader.value(1)
    reader.end()
    return value


def lines(stream: IO[bytes], name: str) -> Iterator[tuple[int, Any]]:
    """Yield the values of JSON lines with their line numbers; empty lines are left out."""
    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise InvalidInput(f"{name}, line {number}: the line has more than {MAX_LINE:,} bytes.")
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            if not text:
                continue
            value, end = decode(text)
            if end != len(text):
                raise InvalidInput(f"{name}, line {number}: there is more after the JSON value.")
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{name}, line {number}: this is not UTF-8 text.") from error
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{name}, line {number}: this is not JSON: {_reason(error)}.") from error
        yield number, value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def decode(text: str) -> tuple[Any, int]:
    """Return the JSON value that a text begins with, and where it ends."""
    value, end = _DECODER.raw_decode(text)
    return value, end


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error)
