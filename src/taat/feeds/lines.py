"""Posts of a stream of lines: JSON lines, or CSV with the same columns.

    {"id": "1", "author": "ann", "text": "Bought $AAPL at 190", "created_at": "2026-03-02T15:04:00Z"}

Other fields are ignored, and so are empty lines. A moment without a zone is UTC. Which of the two forms it is, the
first line tells. Lines are read one at a time, so a feed may be longer than memory.
"""

import csv
import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

from longmind import InvalidInput
from taat.feeds.fields import FIELDS, post_of_fields
from taat.models import Post

LONGEST_LINE = 1_000_000
"""In bytes. A longer line is no post, and would only fill memory."""
_FORM = f"A line is a JSON object with {', '.join(FIELDS)}; or the file is CSV with these columns."


class Lines(Protocol):
    """What posts are read from: anything binary that gives its lines one by one."""

    def readline(self, size: int, /) -> bytes:
        """Return the next line with its end, at most ``size`` bytes; nothing at the end."""


class Mark(NamedTuple):
    """How far a stream was read: the bytes, and the lines they are."""

    offset: int = 0
    line: int = 0


BEGINNING = Mark()


def read_posts(
    stream: Lines, where: str, feed: str, start: Mark = BEGINNING, head: tuple[int, str] | None = None
) -> Iterator[tuple[Post, Mark]]:
    """Yield the posts of a stream, each with how far the stream is read then.

    ``where`` is what errors call the stream, ``feed`` what the posts come from. A stream that is read on from its
    middle stands at ``start``, and ``head`` is the number and the text of its first line that is not empty.
    """
    lines = _numbered(stream, where, start)
    first = None
    if head is None:
        first = next(((mark, line) for mark, line in lines if line.strip()), None)
        if first is None:
            return
        head = (first[0].line, first[1])
    if not head[1].lstrip().startswith("{"):
        yield from _csv_posts(head, lines, where, feed)
        return
    if first is not None:
        yield _json_post(first[1], first[0].line, where, feed), first[0]
    for mark, line in lines:
        if line.strip():
            yield _json_post(line, mark.line, where, feed), mark


def first_line(stream: Lines, where: str) -> tuple[int, str] | None:
    """Return the number and the text of the first line that is not empty, if there is one."""
    lines = _numbered(stream, where, BEGINNING)
    return next(((mark.line, line) for mark, line in lines if line.strip()), None)


def _problem(where: str, number: int, what: str) -> InvalidInput:
    return InvalidInput(f"Line {number} of {where} {what}.", hint=_FORM, line=number)


def _numbered(stream: Lines, where: str, start: Mark) -> Iterator[tuple[Mark, str]]:
    offset, number = start
    while raw := stream.readline(LONGEST_LINE + 1):
        offset, number = offset + len(raw), number + 1
        if len(raw) > LONGEST_LINE:
            raise _problem(where, number, f"is longer than {LONGEST_LINE:,} bytes")
        try:
            yield Mark(offset, number), raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise _problem(where, number, "is not UTF-8 text") from error


def _json_post(line: str, number: int, where: str, feed: str) -> Post:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        why = error.msg if isinstance(error, json.JSONDecodeError) else "too deep, or a number too long"
        raise _problem(where, number, f"is not JSON ({why})") from error
    if not isinstance(fields, dict):
        raise _problem(where, number, "is not a JSON object")
    return _post(fields, number, where, feed)


def _csv_posts(
    head: tuple[int, str], lines: Iterable[tuple[Mark, str]], where: str, feed: str
) -> Iterator[tuple[Post, Mark]]:
    last = Mark(0, head[0])

    def texts() -> Iterator[str]:
        nonlocal last
        yield head[1]
        for mark, line in lines:
            last = mark
            yield line

    rows = csv.DictReader(texts(), strict=True)
    try:
        columns = [name.strip().lower() for name in rows.fieldnames or ()]
        if not set(FIELDS) <= set(columns):
            raise _problem(where, head[0], "is neither a JSON object nor the head of a CSV file")
        rows.fieldnames = columns
        for row in rows:
            if None in row:
                raise _problem(where, last.line, f"has more than {len(columns)} columns")
            fields = {name: value for name, value in row.items() if value is not None}
            yield _post(fields, last.line, where, feed), last
    except csv.Error as error:
        raise _problem(where, last.line, f"is not CSV ({error})") from error


def _post(fields: dict[str, Any], number: int, where: str, feed: str) -> Post:
    try:
        return post_of_fields(fields, feed)
    except ValueError as error:
        raise _problem(where, number, str(error)) from error
