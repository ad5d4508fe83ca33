"""What the base install brings along."""

from __future__ import annotations

import tomllib
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def _base_packages() -> set[str]:
    """Return every package that the base install needs, directly or through another."""
    left = [Requirement(line) for line in tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]["dependencies"]]
    names: set[str] = set()
    while left:
        requirement = left.pop()
        name = canonicalize_name(requirement.name)
        if name in names or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        names.add(name)
        left += map(Requirement, requires(name) or ())
    return names


def test_the_base_install_needs_no_model_hub_and_no_http_client() -> None:
    packages = _base_packages()
    assert packages.isdisjoint({"wordllama", "tokenizers", "huggingface-hub", "hf-xet", "requests", "httpx", "torch"})
    assert len(packages) <= 30
