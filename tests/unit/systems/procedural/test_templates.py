"""Templates: what they become, and what is refused."""

from __future__ import annotations

import pytest

from longmind.errors import InvalidInput
from longmind.systems.procedural.templates import (
    ValuePath,
    escape_template,
    parse_template,
    render_template,
    template_references,
)

CONTEXT = {
    "params": {"city": "Lisbon", "n": 3, "on": True, "none": None, "list": [1, 2], "nested": {"a b": [{"id": 7}]}},
    "steps": {"find": {"items": [{"id": "x1"}, {"id": "x2"}]}},
}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("plain", "plain"),
        ("", ""),
        ("{{ params.city }}", "Lisbon"),
        ("{{params.n}}", 3),
        ("{{ params.on }}", True),
        ("{{ params.none }}", None),
        ("{{ params.list }}", [1, 2]),
        ("{{ steps.find.items[0].id }}", "x1"),
        ("{{ steps.find.items[-1].id }}", "x2"),
        ('{{ params.nested["a b"][0].id }}', 7),
        ("to {{ params.city }} ({{ params.n }})", "to Lisbon (3)"),
        ("{{ params.on }}/{{ params.none }}/{{ params.list }}", "true/null/[1, 2]"),
        (r"\{{ params.city }}", "{{ params.city }}"),
        ({"a": ["{{ params.n }}", {"b": "{{ params.city }}"}], "c": 1.5}, {"a": [3, {"b": "Lisbon"}], "c": 1.5}),
    ],
)
def test_what_a_template_becomes(template: object, expected: object) -> None:
    assert render_template(template, CONTEXT) == expected


@pytest.mark.parametrize(
    "template",
    [
        "{{ params.city",
        "{{ }}",
        "{{ 1 + 1 }}",
        "{{ params.city.upper() }}",
        "{{ params.__class__ ; }}",
        "{{ params['city'] }}",
        "{{ params.city | upper }}",
        "{{ params..city }}",
    ],
)
def test_what_is_not_a_path_is_refused_when_it_is_read(template: str) -> None:
    with pytest.raises(InvalidInput):
        parse_template(template)


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("{{ params.town }}", "params has no 'town'"),
        ("{{ steps.find.items[2] }}", "steps.find.items has 2 items"),
        ("{{ params.city.name }}", "params.city is a text"),
        ("{{ params.none.x }}", "params.none is null"),
        ("{{ params.__class__ }}", "params has no '__class__'"),
        ("{{ secrets.key }}", "no secrets"),
    ],
)
def test_a_path_that_leads_nowhere_says_how_far_it_got(template: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told.replace("[", r"\[").replace("]", r"\]")):
        render_template(template, CONTEXT)


def test_what_a_placeholder_becomes_is_not_a_template() -> None:
    assert render_template("{{ params.evil }}", {"params": {"evil": "{{ params.secret }}"}}) == "{{ params.secret }}"
    assert render_template("say {{ params.evil }}", {"params": {"evil": "{{ x }}"}}) == "say {{ x }}"


def test_references_are_found_wherever_they_are() -> None:
    found = list(template_references({"a": "{{ params.x }} {{ steps.y[1] }}", "b": ["{{ item }}"]}))
    assert found == [ValuePath("params", ("x",)), ValuePath("steps", ("y", 1)), ValuePath("item", ())]


@pytest.mark.parametrize("text", ["{{", "}}", "{{{", "{{{{ x }}", r"\{{", "plain", "{{ params.city }}"])
def test_an_escaped_text_renders_to_itself(text: str) -> None:
    assert render_template(escape_template(text), CONTEXT) == text


def test_a_path_is_told_as_it_is_written() -> None:
    path = ValuePath("steps", ("find", "items", 0, "a key", 'quo"te'))
    assert parse_template(f"{{{{ {path} }}}}") == (path,)
