from __future__ import annotations

import sys
from pathlib import Path

import pytest

from longmind import Document, InvalidInput, Longmind, read_document

PAGE = """<!DOCTYPE html><html><head><title>House
 rules</title><style>p {color: red}</style></head><body><h1>Bins</h1><p>Put them out on <b>Tuesdays</b>.</p>
<script>alert("no")</script><h2>Noise</h2><p>Not after ten_o_clock.</p></body></html>"""


def _pdf(text: str) -> bytes:
    """Return a PDF of one page with one line of text."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    data, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(data)
    return data + b"xref\n0 6\n0000000000 65535 f \n" + table + trailer


def test_a_text_file_has_its_name_as_title_and_its_place_as_uri(tmp_path: Path) -> None:
    file = tmp_path / "rules.md"
    file.write_bytes(b"\xef\xbb\xbf# Bins\n\nTuesdays.")
    document = read_document(file)
    assert (document.title, document.uri) == ("rules", file.as_uri())
    assert document.content == "# Bins\n\nTuesdays."


@pytest.mark.parametrize("name", ["rules.html", "rules.txt"])
def test_html_becomes_text_with_headings(tmp_path: Path, name: str) -> None:
    pytest.importorskip("markdownify")
    (tmp_path / name).write_text(PAGE, "utf-8")
    document = read_document(str(tmp_path / name))
    assert document.title == "House rules"
    assert "# Bins" in document.content
    assert "## Noise" in document.content
    assert "ten_o_clock" in document.content
    assert "alert" not in document.content
    assert "color" not in document.content


def test_pdf_becomes_text(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    (tmp_path / "rules.pdf").write_bytes(_pdf("Bins go out on Tuesdays."))
    document = read_document(tmp_path / "rules.pdf")
    assert document.content == "Bins go out on Tuesdays."
    assert document.title == "rules"


@pytest.mark.parametrize(("data", "said"), [(b"%PDF-1.4 damaged", "cannot be read"), (_pdf(""), "no text")])
def test_a_pdf_that_gives_no_text_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    pytest.importorskip("pypdf")
    (tmp_path / "rules.pdf").write_bytes(data)
    with pytest.raises(InvalidInput, match=said):
        read_document(tmp_path / "rules.pdf")


@pytest.mark.parametrize(("name", "data"), [("a.pdf", b"%PDF-1.4"), ("a.html", b"<html></html>")])
def test_without_the_extra_the_hint_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, data: bytes
) -> None:
    for package in ("pypdf", "markdownify"):
        monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InvalidInput) as refused:
        read_document(tmp_path / name)
    assert "longmind[documents]" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04rest", "Office document"),
        (b"\x89PNG\r\n", "an image"),
        (b"abc\x00def", "binary"),
        (b"abc\xff\xfe", "not UTF-8"),
    ],
)
def test_other_binary_files_are_refused(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "some.docx").write_bytes(data)
    with pytest.raises(InvalidInput, match=said) as refused:
        read_document(tmp_path / "some.docx")
    assert refused.value.hint


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_document(tmp_path / "absent.md")


async def test_progress_counts_to_the_total() -> None:
    calls: list[tuple[int, int]] = []
    text = "\n\n".join(f"# Section {number}\n\nText {number}." for number in range(1_500))
    async with Longmind.open("memory:") as longmind:
        await longmind.agent("house").remember(
            Document(content=text, title="Long"), progress=lambda done, total: calls.append((done, total))
        )
    assert calls == [(1_000, 1_500), (1_500, 1_500)]
