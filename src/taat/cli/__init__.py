"""The command line: ``taat``. One file per command; what they share is in ``screen``."""

import sys

import typer

from taat.cli import (
    announcers,
    backtest,
    confirm,
    goals,
    positions,
    prefer,
    procedures,
    report,
    rules,
    run,
    signals,
    terms,
    try_post,
    why,
)

__all__ = ["app", "main"]

app = typer.Typer(
    name="taat",
    help="Follow accounts that announce trades: read their posts, decide by your rules, and trade on paper. "
    "Begin with `taat run`, which has invented posts and prices with it.",
    epilog="Exit codes: 0 fine, 2 called wrongly or a feed that cannot be read, 3 not found, 130 broken off.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.command("run")(run.run)
app.command("backtest")(backtest.backtest)
app.command("signals")(signals.signals)
app.command("positions")(positions.positions)
app.command("announcers")(announcers.announcers)
app.command("report")(report.report)
app.command("try")(try_post.try_post)
app.command("why")(why.why)
app.command("confirm")(confirm.confirm)
app.command("prefer")(prefer.prefer)
app.command("terms")(terms.terms)
app.add_typer(rules.rules, name="rules")
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
