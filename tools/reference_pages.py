"""Write the reference pages that follow from the code: settings, errors, the record and REST.

    python -m tools.reference_pages docs/reference

A test checks that the committed pages are up to date.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from longmind import errors
from longmind.config import PREFIX, SYSTEMS, AgentSettings, Settings, variable_of
from longmind.kinds import TABLE
from longmind.security.token_settings import TokenSettings
from longmind.server.settings import SERVER_PREFIX, TOKENS_PREFIX, ServerSettings
from longmind.systems.configuration import settings_class
from longmind.types import Change, Link, Memory, Source
from tools import rest_reference
from tools.markdown import MADE_BY, table


def attribute_docs(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstring below each field of a model."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(node, ast.ClassDef)
    docs: dict[str, str] = {}
    for field, below in zip(node.body, node.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
        ):
            docs[field.target.id] = " ".join(str(below.value.value).split()).replace("``", "`")
    return docs


def type_name(annotation: Any) -> str:
    """Return a type as a reader would write it."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return type_name(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return " or ".join(type_name(part) for part in get_args(annotation))
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in get_args(annotation))
    if origin is not None:
        inner = ", ".join("..." if part is ... else type_name(part) for part in get_args(annotation))
        return f"{origin.__name__} of {inner}" if inner else origin.__name__
    return "None" if annotation is type(None) else getattr(annotation, "__name__", str(annotation))


def default_of(field: FieldInfo) -> str:
    """Return a field's default as it is written in a table."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        return "the user"
    return "" if value is None else f"`{value}`"


def settings_page() -> str:
    """Return the page of all settings: of the process, and of one agent."""
    process, agent = attribute_docs(Settings), attribute_docs(AgentSettings)
    environment = [
        (f"`{PREFIX}{name.upper()}`", type_name(field.annotation), default_of(field), process.get(name, ""))
        for name, field in Settings.model_fields.items()
        if name != "defaults"
    ]
    stored = [
        (f"`{name}`", type_name(field.annotation), default_of(field), agent.get(name, ""))
        for name, field in AgentSettings.model_fields.items()
    ]
    return (
        "\n\n".join(
            [
                "# Settings",
                MADE_BY,
                "## Of the process",
                "Set them in the environment, or pass them to `Longmind.open(...)` by the lower-case name "
                "without the prefix. An argument wins over the environment.",
                table(environment, "variable", "type", "default", "meaning"),
                "## Of the server",
                "For `longmind serve`, whose options win over the environment. "
                "[Serving](../howto/serving.md) shows how they are used.",
                table(_server_rows(), "variable", "type", "default", "meaning"),
                "## Of one agent",
                "Stored with the agent, so they survive a restart and have a history. "
                "Change them with `await mem.configure(recall_k=20)`.",
                table(stored, "setting", "type", "default", "meaning"),
                "## Defaults for all agents",
                "Every setting of an agent and of its memory systems has a default for the whole process: set "
                "`LONGMIND_<SYSTEM>_<SETTING>` in the environment, or pass `Settings(defaults={...})`. The word `none` "
                "stands for no value. What an agent has configured itself wins, and only that is stored. A default "
                "that is not usable is refused when the store is opened.",
                *(part for system in SYSTEMS if system != "agent" for part in _defaults_of(system)),
            ]
        )
        + "\n"
    )


def _server_rows() -> list[tuple[str, str, str, str]]:
    """Return the rows of the settings of a server, and of the provider of tokens."""
    parts = ((SERVER_PREFIX, ServerSettings), (TOKENS_PREFIX, TokenSettings))
    return [
        (
            f"`{prefix}{name.upper()}`",
            type_name(field.annotation),
            "" if field.is_required() else default_of(field),
            attribute_docs(settings).get(name, ""),
        )
        for prefix, settings in parts
        for name, field in settings.model_fields.items()
        if name != "tokens"
    ]


def _defaults_of(system: str) -> tuple[str, str]:
    """Return the heading and the table of one memory system's settings."""
    settings = settings_class(system)
    docs = attribute_docs(settings)
    rows = [
        (f"`{variable_of(system, name)}`", type_name(field.annotation), default_of(field), docs.get(name, ""))
        for name, field in settings.model_fields.items()
    ]
    return f"### {system.capitalize()}", table(rows, "variable", "type", "default", "meaning")


def error_tree(error: type[errors.LongmindError], depth: int = 0) -> Iterator[tuple[type[errors.LongmindError], int]]:
    """Yield an error and all below it, each with its depth."""
    yield error, depth
    for child in error.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from error_tree(child, depth + 1)


def errors_page() -> str:
    """Return the page of the error tree."""
    rows = [
        (
            "&nbsp;" * 4 * depth + f"`{error.__name__}`",
            f"`{error.code}`",
            str(error.status),
            (error.__doc__ or "").splitlines()[0],
        )
        for error, depth in error_tree(errors.LongmindError)
    ]
    return (
        "\n\n".join(
            [
                "# Errors",
                MADE_BY,
                "Every error is a `LongmindError`. It has a `message` that says what happened, a `hint` that says "
                "what to do, a stable `code` for programs, the HTTP `status` a server answers with, and `details`. "
                "Catch a class to catch all that stand below it.",
                table(rows, "error", "code", "status", "meaning"),
            ]
        )
        + "\n"
    )


def _fields(model: type[BaseModel]) -> str:
    docs = attribute_docs(model)
    rows = [
        (f"`{name}`", type_name(field.annotation), default_of(field), docs.get(name, ""))
        for name, field in model.model_fields.items()
    ]
    return table(rows, "field", "type", "default", "meaning")


def record_page() -> str:
    """Return the page of the record: memories, links and journal lines, and the kinds of memory."""
    parts = [
        "# The record",
        MADE_BY,
        "Everything is stored in three tables; each memory system is a typed view over them.",
    ]
    for model in (Memory, Source, Link, Change):
        parts += [f"## {model.__name__}", " ".join((model.__doc__ or "").split()), _fields(model)]
    return "\n\n".join([*parts, "## Kinds", kinds_table()]) + "\n"


def kinds_table() -> str:
    """Return the table of the kinds of memory."""
    rows = [
        (f"`{kind.name}`", kind.origin, kind.owner, kind.group, "only by `kinds=`" if kind.on_request else "yes")
        for kind in TABLE
    ]
    return table(rows, "kind", "origin", "memory system", "heading in a context", "recalled")


PAGES = {
    "settings.md": settings_page,
    "errors.md": errors_page,
    "record.md": record_page,
    "rest.md": rest_reference.page,
}


def main() -> None:
    """Write the pages to a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
