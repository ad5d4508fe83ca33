from __future__ import annotations

import pytest

from longmind.models import measure


def test_the_texts_are_the_same_every_time() -> None:
    assert measure.sentences(3) == measure.sentences(5)[:3]
    assert len(set(measure.sentences(100))) == 100


def test_one_embedder_gives_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(measure, "AT_LEAST_SECONDS", 0.01)
    assert measure.main(["static"]) == 0
    name, dimensions, load, *figures = capsys.readouterr().out.split()
    assert (name, dimensions) == ("static", "256")
    assert float(load) >= 0, "it may have been loaded before"
    assert len(figures) == 3
    assert all(float(figure) > 0 for figure in figures)


def test_an_unknown_embedder_is_said_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert measure.main(["nonsense"]) == 1
    assert "There is no embedder 'nonsense'." in capsys.readouterr().out
