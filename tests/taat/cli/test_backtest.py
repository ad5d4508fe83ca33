"""``taat backtest``: the sample's result beside an index, and nothing stays."""

from typer.testing import CliRunner

from taat.cli import app


def test_the_sample_is_told_beside_an_index() -> None:
    result = CliRunner().invoke(app, ["backtest"])
    assert result.exit_code == 0, result.output
    assert "40 posts, 29 signals: 27 followed, 2 refused. 26 executions." in result.output
    assert "9 closed trades, 1 open." in result.output
    assert "SPY, bought and held: +0.27 %" in result.output
