"""Write the reference of the command line from the commands themselves, so that it cannot differ from ``--help``.

    python -m tools.cli_reference docs/reference/cli.md

A test compares the file with the output of this module.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from longmind.cli.command import PANEL

_HEAD = """# The command line

`longmind COMMAND --help` prints what is here. This page is made from the commands by
`python -m tools.cli_reference docs/reference/cli.md`.

The store is given with `--url`, or `LONGMIND_URL` in the environment; without either it is a file of yours,
`longmind/memory.db` in `XDG_DATA_HOME` or `~/.local/share`. `LONGMIND_AGENT`, `LONGMIND_TENANT` and
`LONGMIND_EMBEDDER` are heeded in the same way.

Wherever an id is asked for, 8 or more characters of its beginning or of its end are enough if they name one thing only.
Listings show the last 8. A moment is written as in ISO 8601, `2026-05-31` or `2026-05-31T18:30+02:00`; without a zone
it is UTC.

With `--json` a command prints one JSON document on the standard output and nothing else; errors and notices are JSON
objects on the standard error, `{"error": ..., "message": ..., "hint": ..., "details": ...}` and `{"notice": ...}`.

| exit code | meaning |
|---|---|
| 0 | fine |
| 1 | an error: the message says what happened, the hint what to do. For `doctor`: problems were found |
| 2 | the command was called wrongly |
| 3 | what was asked for does not exist |
| 130 | broken off with Ctrl-C |

`longmind --install-completion` adds completion of commands and options to your shell.
"""


_SHARED_HEAD = """## Options that most commands share

| | |
|---|---|
"""


def page() -> str:
    """Return the whole reference as Markdown."""
    from longmind.cli import app

    group: Any = get_command(app)
    shared = [p for p in group.commands["remember"].params if _is_shared(p)]
    rows = "".join(f"| {_names(p)} | {_cell(p)} |\n" for p in shared)
    return "\n".join([_HEAD, _SHARED_HEAD + rows, *_commands(group, "longmind")])


def _is_shared(parameter: Any) -> bool:
    return getattr(parameter, "rich_help_panel", None) == PANEL


def _commands(group: Any, path: str) -> Iterator[str]:
    for name, command in group.commands.items():
        if command.hidden:
            continue
        full = f"{path} {name}"
        if hasattr(command, "commands"):
            yield f"## {full}\n\n{_text(command.help)}\n"
            yield from _commands(command, full)
        else:
            yield _command(command, full)


def _command(command: Any, path: str) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    named = [p for p in command.params if p.param_type_name == "option" and not p.hidden and p.name != "help"]
    usage = " ".join(["longmind", *path.split()[1:], *map(_placeholder, arguments), *(["[OPTIONS]"] if named else [])])
    lines = [f"## {path}", "", _text(command.help), "", "```text", usage, "```", ""]
    if arguments or named:
        lines += ["| | |", "|---|---|"]
        lines += [f"| `{_placeholder(p)}` | {_cell(p)} |" for p in arguments]
        lines += [f"| {_names(p)} | {_cell(p)} |" for p in named if not _is_shared(p)]
        if shared := [_names(p) for p in named if _is_shared(p)]:
            lines.append(f"| {', '.join(shared)} | See above. |")
        lines.append("")
    return "\n".join(lines)


def _placeholder(argument: Any) -> str:
    name = (argument.metavar or argument.name.upper()) + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _names(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    if option.is_flag:
        return names
    return f"{names} {option.metavar or option.name.upper()}"


def _cell(parameter: Any) -> str:
    text = _text(parameter.help).replace("|", "\\|")
    choices = parameter.type_descriptor.choices
    if choices:
        text += " One of " + ", ".join(f"`{choice}`" for choice in choices) + "."
    if parameter.default not in (None, False, "", (), []):
        text += f" Default: `{parameter.default}`."
    return text


def _text(help_text: str | None) -> str:
    return "\n\n".join(" ".join(part.split()) for part in (help_text or "").split("\n\n")).strip()


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
