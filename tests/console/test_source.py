"""The source of the console: what a memory says can reach a page as text only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from longmind.kinds import KINDS

ROOT = Path(__file__).parents[2] / "src" / "longmind" / "console"
SOURCES = sorted([*ROOT.rglob("*.py"), ROOT.parents[1] / "taat" / "trading_page.py"])
INTERPRETING = {
    "html",
    "markdown",
    "restructured_text",
    "mermaid",
    "code",
    "editor",
    "chat_message",
    "log",
    "interactive_image",
    "add_css",
    "add_body_html",
    "add_head_html",
    "image",
    "leaflet",
}
"""Elements and functions of NiceGUI that read their text as something else, or load what it names."""
CONSTANT_ONLY = {"props", "style", "run_javascript", "add_slot"}
"""Methods whose argument NiceGUI or the browser reads as instructions."""


def faults(tree: ast.AST, module: str) -> Iterator[str]:
    """Yield what a page must not do."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ("_props", "_style", "_text"):
            yield f"{node.lineno}: uses {node.attr}"
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and module != "elements":
            owner = node.value
            if isinstance(owner, ast.Attribute) and owner.attr in ("props", "style"):
                yield f"{node.lineno}: sets {owner.attr} past parts.elements"
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name, owner = node.func.attr, node.func.value
        if isinstance(owner, ast.Name) and owner.id == "ui" and name in INTERPRETING and module != "mounting":
            yield f"{node.lineno}: uses ui.{name}"
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        constants = [isinstance(value, ast.Constant) and isinstance(value.value, str) for value in arguments]
        if name in CONSTANT_ONLY and not all(constants):
            yield f"{node.lineno}: {name} with an argument that is not a constant"
        if name == "add_slot" and any("v-html" in str(getattr(value, "value", "")) for value in arguments):
            yield f"{node.lineno}: a slot with v-html"
        for keyword in node.keywords:
            if keyword.arg == "js_handler" and not isinstance(keyword.value, ast.Constant | ast.Name):
                yield f"{node.lineno}: js_handler that is not a constant"


@pytest.mark.parametrize("source", SOURCES, ids=[str(source.relative_to(ROOT.parents[1])) for source in SOURCES])
def test_text_is_never_read_as_anything_else(source: Path) -> None:
    assert list(faults(ast.parse(source.read_text(encoding="utf-8")), source.stem)) == []


@pytest.mark.parametrize(
    "code",
    [
        "ui.html(memory.content)",
        "ui.markdown(memory.content)",
        "ui.label('x').props(f'title={memory.content}')",
        "ui.label('x').style(memory.content)",
        "table.add_slot('body', '<td v-html=\"props.value\">')",
        "ui.run_javascript(f'show({text})')",
        "element._props[':x'] = memory.content",
        "element.props[':x'] = memory.content",
        "button.on('click', js_handler=f'() => {text}')",
    ],
)
def test_the_check_sees_what_must_not_be_done(code: str) -> None:
    assert list(faults(ast.parse(code), "page"))


def test_every_kind_has_a_colour_in_both_themes() -> None:
    styles = (ROOT / "static" / "console.css").read_text(encoding="utf-8")
    light, dark = styles.split("body.body--dark {", 1)
    for kind in KINDS:
        assert re.search(rf"--kind-{kind}: #[0-9a-f]{{6}};", light), kind
        assert re.search(rf"--kind-{kind}: #[0-9a-f]{{6}};", dark), kind


def test_nothing_is_loaded_from_elsewhere() -> None:
    for file in (ROOT / "static").iterdir():
        addresses = set(re.findall(r"https?://[^\s\"')]+", file.read_text(encoding="utf-8")))
        assert addresses <= {"http://www.w3.org/2000/svg"}, file.name
