"""Sources that are damaged or meant to do harm: a clear error with the place, and nothing stored or unpacked."""

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.unit.importing import samples

from longmind.errors import InvalidInput, LongmindError, NotFound
from longmind.importing import preview, sources


def archive_of(path: Path, name: str, content: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return path


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_UNCOUNTED", 100_000)
    bomb = archive_of(tmp_path / "bomb.zip", "conversations.json", b"[" + b" " * 50_000_000 + b"]")
    with pytest.raises(InvalidInput, match=r"bomb\.zip:conversations\.json: it unpacks to more than"):
        preview("chatgpt", bomb)


def test_names_in_an_archive_lead_nowhere(tmp_path: Path) -> None:
    content = json.dumps([samples.chatgpt_conversation("c1")]).encode()
    path = archive_of(tmp_path / "a.zip", "../../../conversations.json", content)
    before = sorted(tmp_path.parent.rglob("*"))
    assert preview("chatgpt", path).counts == {"messages": 4}
    assert sorted(tmp_path.parent.rglob("*")) == before


def test_archives_that_are_damaged_encrypted_or_of_something_else(tmp_path: Path) -> None:
    other = archive_of(tmp_path / "other.zip", "photos.json", b"[]")
    with pytest.raises(InvalidInput, match=r"other\.zip: there is no such file"):
        preview("chatgpt", other)
    good = samples.chatgpt(tmp_path, *[samples.chatgpt_conversation(f"c{n}") for n in range(50)]).read_bytes()
    damaged = tmp_path / "damaged.zip"
    middle = len(good) // 3
    damaged.write_bytes(good[:middle] + os.urandom(100) + good[middle + 100 :])
    with pytest.raises(InvalidInput, match=r"damaged\.zip"):
        preview("chatgpt", damaged)


@pytest.mark.parametrize("cut", [1, 7, 100, 1_000, 2_000])
def test_json_that_ends_too_early_is_told_with_its_line(tmp_path: Path, cut: int) -> None:
    whole = json.dumps([samples.chatgpt_conversation("c1")], indent=1)
    path = tmp_path / "conversations.json"
    path.write_text(whole[:-cut], encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"conversations\.json, line \d+: "):
        preview("chatgpt", path)


STRANGE = ["[" * 100_000, '{"a": ' * 100_000, "[1, 2", "[1 2]", '[{"a": NaN}]', f"[{'9' * 5_000}]", "[] []", "", "\x00"]


@pytest.mark.parametrize("text", STRANGE, ids=lambda text: repr(text[:10]))
@pytest.mark.parametrize("format", ["chatgpt", "claude", "mem0", "letta", "zep", "langgraph", "jsonl"])
def test_strange_json_never_ends_in_a_traceback(tmp_path: Path, format: str, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    assert _read(format, path) == 0


def test_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_LINE", 1_000)
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"content": "x" * 2_000}), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"x\.jsonl, line 1: the line has more than 1,000 bytes"):
        preview("jsonl", path)


def test_a_list_is_read_without_holding_it(tmp_path: Path) -> None:
    """Elements come while the list is still being read, also when one is longer than what is read at once."""
    long = json.dumps({"text": "é\n" * 900_000}, ensure_ascii=False)
    stream = io.BytesIO(f"\ufeff[{long},\n {{}} , 3.5,{long}]".encode())
    read = [value for _, value in sources.elements(stream, "x")]
    assert [len(value.get("text", "")) if isinstance(value, dict) else value for value in read] == [
        1_800_000,
        0,
        3.5,
        1_800_000,
    ]


WRONG: list[Any] = [None, -1e308, "\ud800", [[1]], {"a": 1}]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_fields_of_wrong_types_are_listed_not_fatal(tmp_path: Path, wrong: Any) -> None:
    """Each field of each sample, one after the other, holds something else than the format says."""
    documents: list[tuple[str, str, Any]] = [
        ("chatgpt", "conversations.json", [samples.chatgpt_conversation("c1")]),
        ("mem0", "mem0.json", json.loads(samples.mem0_json(tmp_path).read_text())),
        ("letta", "sam.af", json.loads(samples.letta(tmp_path).read_text())),
        ("zep", "graph.json", json.loads(samples.zep(tmp_path).read_text())),
    ]
    with zipfile.ZipFile(samples.claude(tmp_path)) as archive:
        names = ("conversations.json", "projects.json", "memories.json")
        documents += [("claude", name, json.loads(archive.read(name))) for name in names]
    for format, name, data in documents:
        for changed in _variants(data, wrong):
            path = tmp_path / name
            path.write_text(json.dumps(changed), encoding="utf-8")
            _read(format, path)


def _read(format: str, path: Path) -> int:
    """How many items there are; 0 for a file that is refused with its name."""
    try:
        return preview(format, path).total
    except LongmindError as error:
        refused = path.name in error.message
    assert refused
    return 0


def _variants(data: Any, wrong: Any) -> Any:
    """Yield copies of a document, each with one value replaced."""
    yield wrong
    if isinstance(data, dict):
        for key in data:
            for changed in _variants(data[key], wrong):
                yield {**data, key: changed}
    elif isinstance(data, list):
        for index in range(len(data)):
            for changed in _variants(data[index], wrong):
                yield [*data[:index], changed, *data[index + 1 :]]


def test_a_cycle_in_a_conversation_ends(tmp_path: Path) -> None:
    conversation = samples.chatgpt_conversation("c1")
    conversation["mapping"]["c1-r"]["parent"] = "c1-e"
    assert preview("chatgpt", samples.chatgpt(tmp_path, conversation)).counts == {"messages": 4}


def test_a_link_out_of_a_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    notes = samples.markdown(tmp_path)
    (notes / "link.md").symlink_to(tmp_path / "secret.md")
    read = preview("markdown", notes)
    assert "a link that leads out of the folder" in [item.reason for item in read.unmapped]
    assert not any("secret" in str(item) for item in read.items)


def test_a_database_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 4_000)
    with pytest.raises(InvalidInput, match=r"history\.db"):
        preview("mem0", path)
    with pytest.raises(NotFound):
        preview("mem0", tmp_path / "none.db")
