"""The documentation as a site: it builds strictly, without a network, and loads nothing from elsewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import diagrams, reference_pages

ROOT = Path(__file__).parents[2]
LOADED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=\"(?P<address>https?://[^\"]+)\"")
IMAGES = ROOT / "docs" / "images"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


def test_every_page_is_built_and_the_python_reference_has_the_verbs(site: Path) -> None:
    pages = {page.relative_to(ROOT / "docs").with_suffix(".html") for page in (ROOT / "docs").rglob("*.md")}
    pages = {page.with_name("index.html") if page.name == "README.html" else page for page in pages}
    assert {page for page in pages if not (site / page).exists()} == set()
    reference = (site / "reference" / "python.html").read_text(encoding="utf-8")
    for verb in ("remember", "recall", "context", "forget", "consolidate"):
        assert f'id="longmind.agent_memory.AgentMemory.{verb}"' in reference


def test_no_page_loads_anything_from_another_place(site: Path) -> None:
    loaded = {
        f"{page.relative_to(site)}: {found['address']}"
        for page in site.rglob("*.html")
        for found in LOADED.finditer(page.read_text(encoding="utf-8"))
        if 'rel="canonical"' not in found[0]
    }
    assert loaded == set()


@pytest.mark.parametrize("name", sorted(reference_pages.PAGES))
def test_a_reference_page_is_up_to_date(name: str) -> None:
    committed = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert committed == reference_pages.PAGES[name](), "run: python -m tools.reference_pages docs/reference"


def test_the_pictures_are_up_to_date() -> None:
    pictures = diagrams.draw_all()
    committed = {file.name: file.read_text(encoding="utf-8") for file in IMAGES.glob("*.svg")}
    assert committed == pictures, "run: python -m tools.diagrams docs/images"


@pytest.mark.parametrize("walk", diagrams.load_walks(), ids=lambda walk: walk.name)
def test_every_hop_of_a_walk_exists(walk: diagrams.Walk) -> None:
    for hop in walk.hops:
        assert callable(hop.resolve()), hop.target


def test_a_hop_that_does_not_exist_is_noticed() -> None:
    with pytest.raises(AttributeError):
        diagrams.Hop("memory:Longmind.no_such_method", "").resolve()
