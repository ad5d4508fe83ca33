"""Posts of a file or of the standard input: JSON lines, or CSV with the same columns.

    {"id": "1", "author": "ann", "text": "Bought $AAPL at 190", "created_at": "2026-03-02T15:04:00Z"}

Other fields are ignored, and so are empty lines. A moment without a zone is UTC. Which of the two forms it is, the
first line tells. Lines are read one at a time, so a feed may be longer than memory.
"""

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

from longmind import InvalidInput, NotFound
from taat.models import Post

FIELDS = ("id", "author", "text", "created_at")
LONGEST_LINE = 1_000_000
"""In bytes. A longer line is no post, and would only fill memory."""
SAMPLE = Path(__file__).parents[1] / "data" / "sample_feed.jsonl"
_FORM = f"A line is a JSON object with {', '.join(FIELDS)}; or the file is CSV with these columns."


class FileFeed:
    """The posts of a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        return f"file:{self.path}"

    def posts(self) -> Iterator[Post]:
        """Yield the posts of the file."""
        if not self.path.exists():
            raise NotFound(f"There is no file {self.path}.")
        try:
            with self.path.open("rb") as stream:
                yield from read_posts(stream, str(self.path), self.name)
        except OSError as error:
            raise InvalidInput(f"{self.path} cannot be read: {error.strerror or error}.") from error


class StandardInput:
    """The posts that another program writes to the standard input."""

    name = "-"

    def posts(self) -> Iterator[Post]:
        """Yield the posts as they come."""
        yield from read_posts(sys.stdin.buffer, "the standard input", self.name)


def sample_feed() -> FileFeed:
    """Return the invented feed that comes with the package."""
    return FileFeed(SAMPLE)


def read_posts(stream: IO[bytes], where: str, feed: str) -> Iterator[Post]:
    """Yield the posts of a stream; ``where`` is what errors call it, ``feed`` what the posts come from."""
    lines = _numbered(stream, where)
    number, line = next(((number, line) for number, line in lines if line.strip()), (0, ""))
    if not line:
        return
    if line.lstrip().startswith("{"):
        yield _json_post(line, number, where, feed)
        for number, line in lines:
            if line.strip():
                yield _json_post(line, number, where, feed)
        return
    yield from _csv_posts(line, number, lines, where, feed)


def _problem(where: str, number: int, what: str, hint: str = _FORM) -> InvalidInput:
    return InvalidInput(f"Line {number} of {where} {what}.", hint=hint, line=number)


def _numbered(stream: IO[bytes], where: str) -> Iterator[tuple[int, str]]:
    number = 0
    while raw := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(raw) > LONGEST_LINE:
            raise _problem(where, number, f"is longer than {LONGEST_LINE:,} bytes")
        try:
            yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8")
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


def _csv_posts(head: str, number: int, lines: Iterable[tuple[int, str]], where: str, feed: str) -> Iterator[Post]:
    last = number

    def texts() -> Iterator[str]:
        nonlocal last
        yield head
        for number_of_line, line in lines:
            last = number_of_line
            yield line

    rows = csv.DictReader(texts(), strict=True)
    try:
        columns = [name.strip().lower() for name in rows.fieldnames or ()]
        if not set(FIELDS) <= set(columns):
            raise _problem(where, number, "is neither a JSON object nor the head of a CSV file")
        rows.fieldnames = columns
        for row in rows:
            if None in row:
                raise _problem(where, last, f"has more than {len(columns)} columns")
            yield _post({name: value for name, value in row.items() if value is not None}, last, where, feed)
    except csv.Error as error:
        raise _problem(where, last, f"is not CSV ({error})") from error


def _post(fields: Mapping[str, Any], number: int, where: str, feed: str) -> Post:
    if missing := [name for name in FIELDS if fields.get(name) is None]:
        raise _problem(where, number, f"has no {' and no '.join(missing)}")
    post_id = fields["id"]
    values = {
        "id": str(post_id) if isinstance(post_id, int) and not isinstance(post_id, bool) else post_id,
        "author": fields["author"],
        "text": fields["text"],
        "created_at": fields["created_at"],
    }
    try:
        post = Post(feed=feed, **{name: _whole(value) for name, value in values.items()})
        moment = post.created_at
        utc = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except ValidationError as error:
        first = error.errors()[0]
        raise _problem(where, number, f"has a wrong {first['loc'][0]}: {first['msg']}") from error
    except OverflowError as error:
        raise _problem(where, number, "has a wrong created_at: out of range") from error
    if not 1970 <= utc.year < 9999:
        raise _problem(where, number, "has a wrong created_at: out of range")
    return post.model_copy(update={"created_at": utc})


def _whole(value: Any) -> Any:
    """Return a text with halves of characters replaced: JSON can carry them, UTF-8 cannot."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
