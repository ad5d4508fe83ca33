"""Kinds of memory: one colour and one name for each, the same on every page."""

from __future__ import annotations

from nicegui.element import Element

from longmind.console.parts.elements import box, sized, text
from longmind.kinds import KINDS
from longmind.types import Memory


def kind_colour(kind: str) -> str:
    """Return the colour of a kind; it follows the theme."""
    return f"var(--kind-{kind})" if kind in KINDS else "var(--kind-other)"


def kind_name(kind: str) -> str:
    """Return a kind as it is written on a page."""
    return kind.replace("_", " ")


def kind_badge(kind: str) -> Element:
    """Show the kind of a memory: its colour and its name."""
    with box("span", "lm-kind") as badge:
        sized(box("span", "lm-dot"), background=kind_colour(kind))
        text(kind_name(kind), "")
    return badge


def headline(memory: Memory, longest: int = 400) -> str:
    """Return the beginning of what a memory says; of one without text, its key or its kind.

    Procedures and goals say all their words, for search. For people it is the name and the purpose, or the first line.
    """
    if memory.kind == "goal":
        return memory.content.strip().split("\n", 1)[0][:longest]
    if memory.kind == "procedure" and "purpose" in memory.body:
        return f"{memory.body.get('name', '')}: {memory.body['purpose']}"[:longest]
    return memory.content.strip()[:longest] or memory.key or f"a {kind_name(memory.kind)} without text"


def tag(label: str, meaning: str = "") -> Element:
    """Show a short word about something; ``meaning`` is ``good``, ``warn``, ``bad`` or nothing."""
    looks = {"": "lm-tag", "good": "lm-tag lm-good", "warn": "lm-tag lm-warn", "bad": "lm-tag lm-bad"}
    return text(label, looks[meaning])
