"""The runs of a procedure: start one, look into it, resume, approve and cancel it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from longmind.console.parts.dialogs import close_and, dialog
from longmind.console.parts.elements import box, button, text
from longmind.console.parts.kinds import tag
from longmind.console.parts.messages import say
from longmind.console.parts.tables import Column
from longmind.console.parts.times import time_ago
from longmind.errors import InvalidInput
from longmind.systems.procedural import ProceduralMemory, Run, StepRecord, Version, declared_params

RUN_LOOKS = {"succeeded": "good", "failed": "bad", "waiting": "warn", "interrupted": "warn"}
_MOST = 600
Refresh = Callable[[], Awaitable[None]]


def run_columns(procedural: ProceduralMemory, refresh: Refresh, *, may_write: bool) -> list[Column[Run]]:
    """Return the columns of a table of runs, with what can be done about each."""

    def actions(run: Run) -> None:
        with box("div", "lm-tags"):
            button("Steps", lambda: _look_into(procedural, run))
            if not may_write or run.finished:
                return
            if run.status == "waiting":
                button("Approve", lambda: _do(procedural.approve(run.id, approved=True), refresh), look="primary")
                button("Refuse", lambda: _do(procedural.approve(run.id, approved=False), refresh))
            else:
                button("Resume", lambda: _do(procedural.resume(run.id), refresh), look="primary")
            button("Cancel", lambda: _do(procedural.cancel(run.id), refresh))

    return [
        Column("Status", lambda run: tag(run.status, RUN_LOOKS.get(run.status, ""))),
        Column("Version", lambda run: text(f"version {run.number}{', on trial' if run.candidate else ''}", "lm-num")),
        Column("Started", lambda run: time_ago(run.started_at)),
        Column("Outcome", lambda run: text(_outcome(run), "lm-clip-2")),
        Column("", actions),
    ]


async def _do(action: Awaitable[Run], refresh: Refresh) -> None:
    run = await action
    _say(run)
    await refresh()


def _say(run: Run) -> None:
    ended = "was cancelled" if run.status == "cancelled" else run.status
    say(f"The run {ended}." if run.finished else f"The run is {run.status}.")


def _outcome(run: Run) -> str:
    if run.error is not None:
        where = f"{run.error.step}: " if run.error.step else ""
        return f"{where}{run.error.message}"
    if run.waiting is not None:
        return f"{run.waiting.path} waits for approval to call {run.waiting.use} with {_short(run.waiting.args)}"
    return _short(run.result) if run.finished else "not finished"


def _short(value: Any) -> str:
    if value is None:
        return "no result"
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return written if len(written) <= _MOST else f"{written[:_MOST]}…"


async def _look_into(procedural: ProceduralMemory, listed: Run) -> None:
    run = await procedural.run(listed.id)
    with dialog(f"Run of {run.name}, version {run.number}", wide=True) as opened:
        with box("div", "lm-tags"):
            tag(run.status, RUN_LOOKS.get(run.status, ""))
            time_ago(run.started_at)
            text(f"{run.seconds:.1f} s", "lm-note lm-num")
        if run.params:
            text(f"With {_short(dict(run.params))}", "lm-wrap", "p")
        for name, chosen in run.chosen.items():
            text(f"{name} was chosen by learning: {chosen.why}", "lm-note lm-wrap", "p")
        with box("ul", "lm-feed"):
            for step in run.steps:
                _step(step)
        if not run.steps:
            text("No step is done yet.", "lm-note", "p")
        text(_outcome(run), "lm-wrap lm-strong", "p")
        with box("div", "lm-actions"):
            button("Close", opened.close)


def _step(step: StepRecord) -> None:
    with box("li"):
        tag(step.outcome, {"succeeded": "good", "failed": "bad"}.get(step.outcome, ""))
        with box("div", "lm-stack"):
            text(step.path, "lm-strong lm-wrap")
            said = step.error.message if step.error is not None else step.why or _short(step.result)
            text(said, "lm-clip-3")
        attempts = "" if step.attempts <= 1 else f"{step.attempts} attempts, "
        text(f"{attempts}{step.seconds:.1f} s", "lm-note lm-num")


def ask_to_run(procedural: ProceduralMemory, version: Version, refresh: Refresh) -> None:
    """Ask for the parameters of a procedure, and run it."""
    declared = declared_params(version.procedure.parameters)
    required = set(version.procedure.parameters.get("required", ()))
    with dialog(f"Run {version.name}") as opened:
        text("It calls the functions that are registered in the server.", "lm-note", "p")
        fields: dict[str, ui.input] = {}
        for name, schema in declared.items():
            default = schema.get("default")
            shown = default if isinstance(default, str) else "" if default is None else json.dumps(default)
            fields[name] = ui.input(f"{name}{'' if name in required else ' (optional)'}", value=shown).props(
                "outlined dense"
            )
            if schema.get("description"):
                text(schema["description"], "lm-note lm-wrap", "p")

        async def run() -> None:
            params = {
                name: _value(name, field.value, declared[name]) for name, field in fields.items() if field.value != ""
            }
            await close_and(opened, lambda: _do(procedural.execute(version.id, params), refresh))

        with box("div", "lm-actions"):
            button("Cancel", opened.close)
            button("Run now", run, look="primary")


def _value(name: str, written: str, schema: Any) -> Any:
    if schema.get("type", "string") == "string":
        return written
    try:
        return json.loads(written)
    except ValueError as error:
        raise InvalidInput(f"{name} is no {schema['type']}.", hint='Write 3, true, ["a"] or {"b": 1}.') from error
