"""The settings of an agent, each with its default beside it."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from nicegui import ui
from nicegui.elements.mixins.value_element import ValueElement

from longmind.config import AgentSettings
from longmind.console.parts.elements import attributes, box, button, text
from longmind.console.parts.kinds import tag
from longmind.console.parts.messages import empty, say
from longmind.console.parts.panels import panel
from longmind.console.view import View


async def build_configuration(view: View) -> None:
    """Build the form of the chosen agent's settings."""
    if view.agent is None:
        empty("There is no agent yet", "An agent exists from its first memory on. Its settings are here then.")
        return
    await _Configuration(view).build()


class _Configuration:
    def __init__(self, view: View) -> None:
        self._view = view
        self._agent = view.longmind.agent(view.agent or "")
        self._fields: dict[str, ValueElement[Any]] = {}
        self._place = box("div")

    async def build(self) -> None:
        """Show the settings as they are."""
        settings, defaults, described = await self._agent.configuration(), AgentSettings(), descriptions(AgentSettings)
        self._place.clear()
        with self._place, panel(f"Settings of {self._view.agent}", "they hold for all its users"):
            with box("div", "lm-settings"):
                for name, info in AgentSettings.model_fields.items():
                    value, default = getattr(settings, name), getattr(defaults, name)
                    with box("div", "lm-setting"):
                        with box("div"):
                            text(_title(name), "lm-strong", "div")
                            text(described.get(name, ""), "lm-note", "p")
                        with box("div", "lm-setting-value"):
                            self._fields[name] = _field(name, info.annotation, value)
                            with box("div", "lm-row"):
                                text(f"default: {_said(default)}", "lm-note")
                                if value != default:
                                    tag("changed", "warn")
            with box("div", "lm-row lm-settings-actions"):
                button("Save", self._save, look="primary")
                button("Set everything to its default", self._reset)

    async def _save(self) -> None:
        settings = await self._agent.configuration()
        wanted = {name: _value(name, field.value) for name, field in self._fields.items()}
        await self._change({name: value for name, value in wanted.items() if value != getattr(settings, name)})

    async def _reset(self) -> None:
        settings, defaults = await self._agent.configuration(), AgentSettings()
        changed = {name: getattr(defaults, name) for name in AgentSettings.model_fields}
        await self._change({name: value for name, value in changed.items() if value != getattr(settings, name)})

    async def _change(self, changes: dict[str, Any]) -> None:
        if not changes:
            say("Nothing was changed.")
            return
        await self._agent.configure(**changes)
        say("Saved.")
        await self.build()


def _field(name: str, annotation: Any, value: Any) -> ValueElement[Any]:
    """Return what edits a setting, by its type."""
    field: ValueElement[Any]
    if annotation is bool:
        field = ui.switch(value=value)
    elif get_origin(annotation) is tuple:
        options = list(get_args(get_args(annotation)[0]))
        field = ui.select(options, value=list(value), multiple=True).props("outlined dense options-dense use-chips")
    elif get_origin(annotation) is Literal:
        field = ui.select(list(get_args(annotation)), value=value).props("outlined dense options-dense")
    elif numbers_of(annotation):
        optional = type(None) in get_args(annotation)
        field = ui.number(value=value, placeholder="no limit" if optional else "").props("outlined dense")
    else:
        field = ui.input(value="" if value is None else str(value)).props("outlined dense")
    attributes(field, aria_label=_title(name))
    return field


def numbers_of(annotation: Any) -> set[type]:
    """Return the number types among the options of a hint."""
    if get_origin(annotation) is Annotated:
        return numbers_of(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return set().union(*(numbers_of(option) for option in get_args(annotation)))
    return {annotation} if annotation in (int, float) else set()


def _value(name: str, value: Any) -> Any:
    """Return what a field holds as the setting takes it."""
    numbers = numbers_of(AgentSettings.model_fields[name].annotation)
    if isinstance(value, list):
        return tuple(value)
    if numbers and isinstance(value, int | float) and not isinstance(value, bool):
        return int(value) if int in numbers and float(value).is_integer() else float(value)
    return None if value == "" else value


@cache
def descriptions(cls: type) -> dict[str, str]:
    """Return the docstrings that stand below the fields of a class."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(definition, ast.ClassDef)
    found: dict[str, str] = {}
    for field, below in pairwise(definition.body):
        documented = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if documented and isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            said = inspect.cleandoc(str(ast.literal_eval(ast.unparse(below))))
            found[field.target.id] = said.replace("\n", " ").replace("``", "")
    return found


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _said(value: Any) -> str:
    if value is None:
        return "no limit"
    if isinstance(value, bool):
        return "on" if value else "off"
    return ", ".join(value) if isinstance(value, tuple) else str(value)
