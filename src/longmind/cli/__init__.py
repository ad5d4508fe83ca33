"""The command line: ``longmind``. One file per command; what they share is in ``command``, ``options`` and ``screen``.

What a command needs is imported when it runs, so that ``--help`` and completion answer at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from longmind.cli import (
    agents,
    ask,
    audit,
    chat,
    consolidate,
    context,
    demo,
    dialogue,
    doctor,
    episodes,
    erase,
    export,
    facts,
    forget,
    goal,
    graph,
    history,
    import_,
    jobs,
    keys,
    mcp,
    models,
    persona,
    procedures,
    recall,
    reembed,
    remember,
    screen,
    serve,
    shared,
    show,
    stats,
    tenants,
    undo,
    update,
    users,
    version,
    worker,
    working,
)
from longmind.cli import list as list_

__all__ = ["app", "main"]


class _Group(TyperGroup):
    """typer's group, which with ``--json`` also tells a wrong call as JSON."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        words = sys.argv[1:] if args is None else [*args]
        if "--json" not in words or not standalone_mode:
            return super().main(words, prog_name, complete_var, standalone_mode, windows_expand_args, **extra)
        try:
            code = super().main(words, prog_name, complete_var, False, windows_expand_args, **extra)
        except typer.TyperException as error:
            problem = {"error": "usage", "message": error.format_message(), "hint": "See --help.", "details": {}}
            screen.print_error(problem, as_json=True)
            sys.exit(error.exit_code)
        except typer.Abort:
            screen.print_error({"error": "aborted", "message": "Aborted.", "hint": "", "details": {}}, as_json=True)
            sys.exit(1)
        sys.exit(code if isinstance(code, int) else 0)


app = typer.Typer(
    name="longmind",
    cls=_Group,
    help="Memory for AI agents: remember, recall with reasons, forget, and undo.",
    epilog="Exit codes: 0 fine, 1 an error, 2 called wrongly, 3 not found.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
_VERBS, _LOOK, _STORE = "The six verbs", "Look and take back", "The store"
_ROOMS = "One kind of memory"
app.command("remember", rich_help_panel=_VERBS)(remember.remember)
app.command("recall", rich_help_panel=_VERBS)(recall.recall)
app.command("ask", rich_help_panel=_VERBS)(ask.ask)
app.command("context", rich_help_panel=_VERBS)(context.context)
app.command("forget", rich_help_panel=_VERBS)(forget.forget)
app.command("consolidate", rich_help_panel=_VERBS)(consolidate.consolidate)
app.command("chat", rich_help_panel=_VERBS)(chat.chat)
app.command("list", rich_help_panel=_LOOK)(list_.list_)
app.command("show", rich_help_panel=_LOOK)(show.show)
app.command("history", rich_help_panel=_LOOK)(history.history)
app.command("update", rich_help_panel=_LOOK)(update.update)
app.command("undo", rich_help_panel=_LOOK)(undo.undo)
app.command("stats", rich_help_panel=_LOOK)(stats.stats)
app.command("agents", rich_help_panel=_LOOK)(agents.agents)
app.command("users", rich_help_panel=_LOOK)(users.users)
app.command("conversations", rich_help_panel=_LOOK)(users.conversations)
app.command("export", rich_help_panel=_STORE)(export.export)
app.command("import", rich_help_panel=_STORE)(import_.import_)
app.command("reembed", rich_help_panel=_STORE)(reembed.reembed)
app.command("doctor", rich_help_panel=_STORE)(doctor.doctor)
app.command("erase-user", rich_help_panel=_STORE)(erase.erase_user)
app.command("erase-agent", rich_help_panel=_STORE)(erase.erase_agent)
app.command("erase-tenant", rich_help_panel=_STORE)(erase.erase_tenant)
app.command("verify-erasure", rich_help_panel=_STORE)(erase.verify_erasure)
app.command("demo", rich_help_panel=_STORE)(demo.demo)
app.command("serve", rich_help_panel=_STORE)(serve.serve)
app.command("mcp", rich_help_panel=_STORE)(mcp.mcp)
app.command("worker", rich_help_panel=_STORE)(worker.worker)
app.add_typer(jobs.app, name="jobs", rich_help_panel=_STORE)
app.command("tenants", rich_help_panel=_STORE)(tenants.tenants)
app.add_typer(keys.app, name="keys", rich_help_panel=_STORE)
app.add_typer(audit.app, name="audit", rich_help_panel=_STORE)
app.command("models", rich_help_panel=_STORE)(models.models)
app.command("version", rich_help_panel=_STORE)(version.version)
app.add_typer(working.app, name="working", rich_help_panel=_ROOMS)
app.add_typer(episodes.app, name="episodes", rich_help_panel=_ROOMS)
app.add_typer(facts.app, name="facts", rich_help_panel=_ROOMS)
app.add_typer(graph.app, name="graph", rich_help_panel=_ROOMS)
app.add_typer(procedures.app, name="procedures", rich_help_panel=_ROOMS)
app.add_typer(goal.app, name="goal", rich_help_panel=_ROOMS)
app.add_typer(dialogue.app, name="dialogue", rich_help_panel=_ROOMS)
app.add_typer(persona.app, name="persona", rich_help_panel=_ROOMS)
app.add_typer(shared.app, name="shared", rich_help_panel=_ROOMS)


def _print_version(asked: bool) -> None:
    if asked:
        version.version()
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Tell the version and stop.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """What the ``longmind`` command runs. A character that the terminal cannot show is no reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app()
