"""A folder of Markdown files, with or without front matter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from longmind.errors import InvalidInput, NotFound
from longmind.importing.items import ImportedDocument, Read, Unmapped, item_of, moment_of, name_of

MAX_FILE = 50_000_000
"""Bytes of one file."""
_SUFFIXES = (".md", ".markdown")
_FIELD = re.compile(r"([A-Za-z_][\w .-]*?)\s*:(?:\s+(.*)|\s*)")
_TITLE = re.compile(r"^#\s+(.+)$", re.MULTILINE)
_TIMES = ("date", "created", "created_at", "updated", "updated_at")
FrontMatter = dict[str, str | list[str]]


def read(path: Path) -> Iterator[Read]:
    """Yield a document for each file of a folder and of the folders in it; links to elsewhere are not followed."""
    if path.is_file():
        files, root = [path], path.parent
    elif path.is_dir():
        root = path
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() in _SUFFIXES and file.is_file())
        if not files:
            raise NotFound(f"There is no Markdown file in {path}.")
    else:
        raise NotFound(f"There is no file or folder {path}.")
    top = root.resolve()
    for file in files:
        name = file.relative_to(root).as_posix()
        if not file.resolve().is_relative_to(top):
            yield Unmapped(place=name, reason="a link that leads out of the folder")
            continue
        yield from _document(file, name, top.name)


def _document(file: Path, name: str, folder: str) -> Iterator[Read]:
    status = file.stat()
    if status.st_size > MAX_FILE:
        yield Unmapped(place=name, reason=f"the file has more than {MAX_FILE:,} bytes")
        return
    try:
        text = file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        yield Unmapped(place=name, reason=f"it is not UTF-8 text: {error.reason}")
        return
    try:
        fields, content, unread = split_front_matter(text)
    except InvalidInput as error:
        yield Unmapped(place=name, reason=error.message)
        return
    for line in unread:
        yield Unmapped(place=f"{name}, line {line}", reason="the front matter is more than names, texts and lists")
    if not content.strip():
        yield Unmapped(place=name, reason="there is no text in the file")
        return
    heading = _TITLE.search(content)
    title = fields.pop("title", None) or (heading[1].strip() if heading else file.stem)
    tags = fields.pop("tags", [])
    stated = next((time for field in _TIMES if (time := moment_of(fields.get(field)))), None)
    author = fields.get("author")
    yield item_of(
        ImportedDocument,
        name,
        id=f"{folder}/{name}",
        content=content,
        title=str(title),
        author=name_of(author if isinstance(author, str) else None),
        occurred_at=stated or datetime.fromtimestamp(status.st_mtime, UTC),
        tags=[tag for tag in (tags if isinstance(tags, list) else re.split(r"[,\s]+", tags)) if tag],
        metadata=fields,
    )


def split_front_matter(text: str) -> tuple[FrontMatter, str, list[int]]:
    """Return the fields of the front matter, the text after it, and the numbers of lines that were not understood.

    Understood are ``name: text``, ``name: [a, b]``, and a name with a list of ``- item`` lines under it.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, text, []
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        raise InvalidInput("The front matter has no end: a line of three hyphens.")
    fields: FrontMatter = {}
    unread: list[int] = []
    name = ""
    for number, line in enumerate(lines[1:end], 2):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        before = fields.get(name)
        if stripped.startswith("- ") and (before == "" or isinstance(before, list)):
            fields[name] = [*before, _unquoted(stripped[2:])]
        elif not line[0].isspace() and (match := _FIELD.fullmatch(stripped)):
            name, value = match[1], (match[2] or "").strip()
            listed = value.startswith("[") and value.endswith("]")
            fields[name] = [_unquoted(v) for v in value[1:-1].split(",") if v.strip()] if listed else _unquoted(value)
        else:
            unread.append(number)
    return fields, "\n".join(lines[end + 1 :]), unread


def _unquoted(value: str) -> str:
    value = value.strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value
