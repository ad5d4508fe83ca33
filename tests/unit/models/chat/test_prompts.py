"""Prompts are files with a version, and a text does not change without it."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from longmind.errors import InvalidInput
from longmind.models import prompts
from longmind.models.prompts import Prompt


@pytest.mark.parametrize(
    ("package", "some"),
    [
        ("longmind.models.prompts", {"structured", "correction"}),
        ("longmind.consolidate.prompts", {"extract", "summarise"}),
    ],
)
def test_a_changed_text_has_a_new_version(package: str, some: set[str]) -> None:
    """When this fails: raise the version in the file and add its line to versions.json."""
    known = json.loads(resources.files(package).joinpath("versions.json").read_text(encoding="utf-8"))
    found = {(prompt := prompts.load(name, package)).id: prompt.digest for name in prompts.names(package)}
    assert found.items() <= known.items()
    assert {id.partition("@")[0] for id in found} >= some


def test_places_are_filled_and_what_is_filled_in_is_not_looked_at_again() -> None:
    prompt = Prompt("test", 3, 'Say {what} to {who}: {"json": 1}')
    assert (prompt.id, prompt.fill(what="{who}", who="Bob")) == ("test@3", 'Say {who} to Bob: {"json": 1}')


@pytest.mark.parametrize("values", [{}, {"what": "x"}, {"what": "x", "who": "y", "more": "z"}])
def test_a_missing_or_unknown_place_is_told(values: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match="who"):
        Prompt("test", 1, "Say {what} to {who}").fill(**values)


def test_a_prompt_that_is_not_there_is_told() -> None:
    with pytest.raises(InvalidInput, match="nothing"):
        prompts.load("nothing")
    with pytest.raises(InvalidInput, match="elsewhere"):
        prompts.load("structured", "longmind.elsewhere")
