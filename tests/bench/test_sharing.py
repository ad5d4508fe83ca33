"""The benchmark of sharing: nearly all that many agents are told is shared, and nothing about a person."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from benchmarks import sharing
from benchmarks.commands import app


def test_eight_agents_are_told_thirty_statements_each() -> None:
    whole = sharing.fleet()
    assert [len(own) for own in whole.told] == [30] * 8
    assert sum(len(sharing.statements(name)[label]) for name in sharing.LISTS for label in sharing.LABELS) >= 400


def test_the_fleet_shares_the_world_and_no_person() -> None:
    result = CliRunner().invoke(app, ["sharing", "--embedder", "none", "--json"], catch_exceptions=False)
    figures = {name: value for name, value, _ in json.loads(result.stdout)["figures"]}
    assert figures["personal: kept as candidates"] == figures["personal: shared"] == 0
    assert figures["personal: told"] == 96
    for label in ("world", "how-to"):
        told = figures[f"{label}: told to four agents"]
        assert figures[f"{label}: shared"] >= 0.9 * told
        assert figures[f"{label}: found by a newcomer"] == figures[f"{label}: shared"]
