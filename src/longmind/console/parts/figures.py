"""Numbers: cards with a trend, bars made of parts, and meters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nicegui.element import Element

from longmind.console.parts.elements import attributes, box, sized, text


def count(number: float) -> str:
    """Return a number as it is written on a card: exact where that is short."""
    if abs(number) >= 1_000_000:
        return f"{number / 1_000_000:.1f} M"
    if abs(number) >= 100_000:
        return f"{number / 1_000:.0f} k"
    return f"{number:,.0f}"


def plural(number: int, one: str, many: str | None = None) -> str:
    """Return a number with what is counted."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def figure(name: str, value: str, note: str = "", trend: Sequence[float] = (), classes: str = "lm-span-3") -> Element:
    """Show a card with a number, what it means, and how it came about."""
    with box("section", "lm-panel lm-figure").classes(classes) as card:
        text(name, "lm-figure-name", "h2")
        text(value, "lm-figure-value")
        if any(trend):
            _trend(trend)
        text(note, "lm-figure-note")
    return card


def _trend(values: Sequence[float]) -> None:
    highest = max(values)
    with box("div", "lm-trend") as bars:
        for value in values:
            bar = box("span", "" if value else "lm-zero")
            sized(bar, height=f"{100 * value / highest:.0f}%")
    attributes(bars, aria_hidden="true")


def stacked_bar(parts: Mapping[str, float], colours: Mapping[str, str], whole: float | None = None) -> Element:
    """Show a bar made of parts; ``whole`` is what the full width stands for, by default their sum."""
    positive = {name: value for name, value in parts.items() if value > 0}
    total = whole or sum(positive.values()) or 1.0
    said = ", ".join(f"{name} {value:.2f}" for name, value in positive.items()) or "nothing"
    with box("div", "lm-bar") as bar:
        for name, value in positive.items():
            piece = sized(box("span"), width=f"{100 * value / total:.2f}%", background=colours[name])
            attributes(piece, title=f"{name} {value:.2f}")
    return attributes(bar, role="img", aria_label=said)


def legend(colours: Mapping[str, str]) -> Element:
    """Show what the colours of bars mean."""
    with box("div", "lm-legend") as shown:
        for name, colour in colours.items():
            with box("span"):
                sized(box("span", "lm-dot"), background=colour)
                text(name, "")
    return shown


def meter(share: float, label: str) -> Element:
    """Show how much of something is used, from 0 to 1."""
    with box("div", "lm-meter") as shown:
        sized(box("span"), width=f"{100 * min(max(share, 0), 1):.1f}%")
    return attributes(shown, role="img", aria_label=label)


def interval(low: float, high: float, middle: float | None, label: str, colour: str = "var(--accent)") -> Element:
    """Show where a share from 0 to 1 may lie: a band, and a line at what was observed."""
    with box("div", "lm-interval") as shown:
        sized(box("span", "lm-band"), left=f"{100 * low:.1f}%", width=f"{100 * (high - low):.1f}%", background=colour)
        if middle is not None:
            sized(box("span", "lm-middle"), left=f"{100 * middle:.1f}%")
    return attributes(shown, role="img", aria_label=label)
