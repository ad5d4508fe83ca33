"""What is committed: links that lead somewhere, and nothing that is true of one machine only."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def committed() -> list[Path]:
    """Every file that is in the repository, or would be with the next commit."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_place_on_this_machine() -> None:
    places = [str(ROOT), f"{Path.home()}/"]
    found = {
        str(file.relative_to(ROOT)): place
        for file in committed()
        for place in places
        if place.encode() in file.read_bytes()
    }
    assert found == {}


def test_the_files_are_really_looked_at() -> None:
    names = {str(file.relative_to(ROOT)) for file in committed()}
    assert {"README.md", "pyproject.toml", "src/longmind/memory.py"} <= names


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_within_the_repository_lead_somewhere(page: Path) -> None:
    targets = [link.partition("#")[0] for link in LINK.findall(page.read_text(encoding="utf-8"))]
    local = [target for target in targets if target and "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []
