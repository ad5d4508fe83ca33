from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path

import pytest

from longmind.config import cache_folder
from longmind.models.embed_minilm import build_once


def test_xdg_cache_home_is_respected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "longmind"


@pytest.mark.parametrize(
    ("platform", "expected"),
    [("linux", ".cache/longmind"), ("darwin", "Library/Caches/longmind"), ("win32", "AppData/Local/longmind/cache")],
)
@pytest.mark.parametrize("value", [None, "", "relative/path"])
def test_otherwise_the_usual_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, expected: str, value: str | None
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    if value is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", value)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder() == tmp_path / expected


def test_a_file_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file.bin"
    assert build_once(path, lambda part: part.write_bytes(b"first") and None).read_bytes() == b"first"
    assert build_once(path, lambda part: part.write_bytes(b"second") and None).read_bytes() == b"first"
    assert [entry.name for entry in path.parent.iterdir()] == ["file.bin"]


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    def fail(part: Path) -> None:
        part.write_bytes(b"half")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        build_once(tmp_path / "file.bin", fail)
    assert list(tmp_path.iterdir()) == []


def _write_slowly(part: Path) -> None:
    with part.open("wb") as file:
        for _ in range(200):
            file.write(b"0123456789" * 1_000)
            file.flush()


def _keep(path: Path) -> int:
    return len(build_once(path, _write_slowly).read_bytes())


def test_several_processes_never_see_half_a_file(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        sizes = pool.map(_keep, [tmp_path / f"file-{number // 4}.bin" for number in range(16)], chunksize=1)
    assert sizes == [2_000_000] * 16
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [f"file-{number}.bin" for number in range(4)]
