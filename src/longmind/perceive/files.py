"""Read a file as a document: text and Markdown, and with the extra ``longmind[documents]`` HTML and PDF."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from longmind.errors import InvalidInput
from longmind.types import Document

_INSTALL = 'Run: pip install "longmind[documents]"'
_CONVERT = "Convert it to text, Markdown, HTML or PDF first."
_BINARY = {
    b"PK\x03\x04": "a ZIP archive or an Office document",
    b"\xd0\xcf\x11\xe0": "an old Office document",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"GIF8": "an image",
    b"\x1f\x8b": "a compressed file",
    b"SQLite format 3\x00": "an SQLite database",
    b"\x7fELF": "a program",
}
_UNSEEN = ["script", "style", "noscript", "template", "head"]
"""Elements of a page whose text is not shown."""


def read_document(path: str | Path) -> Document:
    """Read a file as a document with a title and a URI, to be given to ``remember``. Blocks while it reads.

    PDF and HTML need the extra ``longmind[documents]``. Headings of a page become headings of its passages. Other
    binary files are refused.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path.name} cannot be read: {error.strerror}.", hint="Check the path.") from error
    if data.lstrip()[:5] == b"%PDF-":
        title, text = _read_pdf(data, path.name)
    elif path.suffix.lower() in (".html", ".htm", ".xhtml") or data[:200].lstrip().lower().startswith(
        (b"<!doctype html", b"<html")
    ):
        title, text = _read_html(data, path.name)
    else:
        title, text = None, as_text(data, path.name)
    return Document(content=text, title=title or path.stem, uri=path.resolve().as_uri())


def as_text(data: bytes, name: str) -> str:
    """Return the text of a file or a pipe, without a byte order mark; refuse what is no text."""
    for start, kind in _BINARY.items():
        if data.startswith(start):
            raise InvalidInput(f"{name} is {kind}, not text.", hint=_CONVERT)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{name} is not UTF-8 text: byte {error.start} is no part of a character.",
            hint="Text in another encoding can be converted with `iconv -t utf-8`. "
            "PDF and HTML are read; other binary files are not.",
        ) from error
    if "\x00" in text:
        raise InvalidInput(f"{name} is a binary file: it contains zero bytes.", hint=_CONVERT)
    return text


def _read_pdf(data: bytes, name: str) -> tuple[str | None, str]:
    try:
        import pypdf
    except ImportError as error:
        raise InvalidInput(f"{name} is a PDF; reading it needs pypdf.", hint=_INSTALL) from error
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        pages = [page.extract_text() for page in reader.pages]
        title = reader.metadata.title if reader.metadata else None
    except Exception as error:  # a damaged or encrypted file can fail anywhere in the parser
        raise InvalidInput(
            f"{name} cannot be read as a PDF: {type(error).__name__}.", hint="Is it complete, and without a password?"
        ) from error
    text = "\n\n".join(page.strip() for page in pages if page.strip())
    if not text:
        raise InvalidInput(f"{name} has no text, only images.", hint="Recognise its text (OCR) first.")
    return _one_line(title), text


def _read_html(data: bytes, name: str) -> tuple[str | None, str]:
    try:
        from bs4 import BeautifulSoup
        from markdownify import MarkdownConverter
    except ImportError as error:
        raise InvalidInput(f"{name} is HTML; reading it needs markdownify.", hint=_INSTALL) from error
    page: Any = BeautifulSoup(data, "html.parser")
    title = page.title.get_text() if page.title else None
    for element in page(_UNSEEN):
        element.decompose()
    plain: dict[str, Any] = {"escape_asterisks": False, "escape_underscores": False, "escape_misc": False}
    text = MarkdownConverter(heading_style="atx", bullets="-", strip=["a", "img"], **plain).convert_soup(page)
    return _one_line(title), text.strip()


def _one_line(title: str | None) -> str | None:
    return " ".join(title.split())[:500] or None if title else None
