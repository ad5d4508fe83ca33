"""The command line: ``taat``. One file per command; what they share is in ``screen``."""

import sys

import typer

from taat.cli import announcers, backtest, goals, positions, procedures, report, rules, run, signals, why

__all__ = ["app", "main"]

app = typer.Typer(
    name="taat",
    help="Trade announcements: what announcers say they trade, read from their posts.",
    epilog="Exit codes: 0 fine, 2 called wrongly or a feed that cannot be read, 3 not found, 130 broken off.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.command("signals")(signals.signals)
app.command("run")(run.run)
app.command("positions")(positions.positions)
app.command("announcers")(announcers.announcers)
app.command("report")(report.report)
app.add_typer(rules.rules, name="rules")
app.command("why")(why.why)
app.command("backtest")(backtest.backtest)
app.add_typer(goals.goals, name="goals")
app.add_typer(procedures.procedures, name="procedures")


@app.callback()
def _root() -> None:
    pass


def main() -> None:
    """What the ``taat`` command runs. A character that the terminal cannot show is no reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app()
