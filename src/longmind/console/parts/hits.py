"""Hits of a recall: the memory, the reason, and the part of every arm in its score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from longmind.console.parts.elements import attributes, box, text
from longmind.console.parts.figures import legend, stacked_bar
from longmind.console.parts.kinds import headline, kind_badge, tag
from longmind.console.parts.times import date_of
from longmind.types import Hit

_ARMS = {
    "words": "var(--arm-1)",
    "words around": "var(--arm-7)",
    "meaning": "var(--arm-4)",
    "session": "var(--arm-3)",
    "fullness": "var(--arm-2)",
    "time": "var(--arm-6)",
    "speaker": "var(--arm-5)",
    "kind of turn": "var(--arm-9)",
    "reply": "var(--arm-10)",
    "link": "var(--arm-11)",
    "heat": "var(--arm-12)",
    "reranker": "var(--arm-9)",
    "priors": "var(--arm-8)",
}
"""A colour for each arm of recall."""


def arm_colours(names: Iterable[str]) -> dict[str, str]:
    """Return the colours of arms, in the order in which they are always shown."""
    present = set(names)
    return {name: colour for name, colour in _ARMS.items() if name in present}


def arms_of(hit: Hit) -> dict[str, float]:
    """Return the parts of a hit's score, in the order of the arms."""
    parts = {name: value for name, value in hit.parts.items() if name in _ARMS}  # the rest are signs of its chance
    return {name: parts[name] for name in arm_colours(parts)}


def show_hits(hits: Sequence[Hit], on_open: Callable[[str], Any]) -> None:
    """Show hits, the best first, with a legend of the arms that had a part in any."""
    parts = [arms_of(hit) for hit in hits]
    colours = arm_colours(name for arms in parts for name, value in arms.items() if value > 0)
    if colours:
        legend(colours)
    with box("ol", "lm-hits"):
        for number, (hit, arms) in enumerate(zip(hits, parts, strict=True), 1):
            _show_hit(number, hit, arms, colours, on_open)


def _show_hit(
    number: int,
    hit: Hit,
    arms: Mapping[str, float],
    colours: Mapping[str, str],
    on_open: Callable[[str], Any],
) -> None:
    memory = hit.memory
    with box("li", "lm-hit"):
        text(number, "lm-hit-number")
        with box("div", "lm-stack"):
            opener = text(headline(memory, 1_000), "lm-clip-3 lm-opener", "button")
            attributes(opener, type="button")
            opener.on("click", lambda _, id=memory.id: on_open(id))
            with box("div", "lm-row"):
                kind_badge(memory.kind)
                if memory.state != "active":
                    tag(memory.state, "warn")
                if hit.shared:
                    tag("shared memory")
                date_of(memory.occurred_at)
                text(hit.why, "lm-note")
        with box("div", "lm-hit-score"):
            text(f"{hit.score:.2f}", "lm-num lm-strong")
            raised = {name: value for name, value in arms.items() if value > 0}
            stacked_bar(raised, colours, sum(raised.values()) / max(hit.score, 0.01))
            against = [f"{name} {value:.2f}" for name, value in arms.items() if value < 0]
            if against:
                text(f"against it: {', '.join(against)}", "lm-note")
