"""Charts as SVG, without further packages: bars, lines with a band, reliability curves, and points against a cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

COLOURS = ("#2f6f9f", "#d98b2b", "#5b9f5b", "#9b5fa5")
_WIDTH, _LEFT, _TOP, _BAR, _GAP = 760, 190, 56, 16, 12


def bars(title: str, groups: Sequence[str], series: Mapping[str, Sequence[float | None]], unit: str = "%") -> str:
    """Draw horizontal bars from 0 to 100, or to the largest value if that is more; None leaves a bar out."""
    values = [value for line in series.values() for value in line if value is not None]
    most = max([100.0, *values]) if unit == "%" else max([1e-9, *values])
    height = _TOP + len(groups) * (len(series) * _BAR + _GAP) + 12
    scale = (_WIDTH - _LEFT - 70) / most
    out = _header(title, height)
    at = _LEFT
    for number, name in enumerate(series):
        out.append(f'<rect x="{at}" y="32" width="11" height="11" fill="{COLOURS[number % len(COLOURS)]}"/>')
        out.append(f'<text x="{at + 16}" y="42" fill="#222222">{escape(name)}</text>')
        at += 40 + 7 * len(name)
    for place, group in enumerate(groups):
        top = _TOP + place * (len(series) * _BAR + _GAP)
        middle = top + len(series) * _BAR / 2 + 4
        out.append(f'<text x="{_LEFT - 10}" y="{middle:g}" text-anchor="end" fill="#222222">{escape(group)}</text>')
        for number, line in enumerate(series.values()):
            value = line[place]
            if value is not None:
                out += _bar(top + number * _BAR, value, value * scale, COLOURS[number % len(COLOURS)], unit)
    return "\n".join([*out, "</svg>"]) + "\n"


def _header(title: str, height: int) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="12" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="12" y="22" font-size="15" font-weight="bold" fill="#222222">{escape(title)}</text>',
    ]


def _bar(top: float, value: float, width: float, colour: str, unit: str) -> list[str]:
    caption = f"{value:.1f}" if unit == "%" else f"{value:g} {unit}"
    return [
        f'<rect x="{_LEFT}" y="{top:g}" width="{width:.1f}" height="{_BAR - 3}" fill="{colour}"/>',
        f'<text x="{_LEFT + width + 5:.1f}" y="{top + 11:g}" fill="#444444">{caption}</text>',
    ]


Point = tuple[float, float, float]
"""A value, and the lower and upper end of its interval."""


def lines(title: str, steps: Sequence[str], series: Mapping[str, Sequence[Point]], top: float, unit: str = "%") -> str:
    """Draw a line with a band for each series, over the same steps and from 0 to ``top``."""
    width, height, left, above, below = _WIDTH, 360, 56, 62, 40
    across = (width - left - 24) / max(1, len(steps) - 1)
    down = (height - above - below) / top

    def at(place: int, value: float) -> str:
        return f"{left + place * across:.1f},{height - below - min(max(value, 0.0), top) * down:.1f}"

    out = _header(title, height)
    for part in range(5):
        value = top * part / 4
        y = height - below - value * down
        out.append(f'<line x1="{left}" y1="{y:.1f}" x2="{width - 24}" y2="{y:.1f}" stroke="#dddddd"/>')
        out.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#444444">{value:g}{unit}</text>')
    for place, step in enumerate(steps):
        x = left + place * across
        out.append(
            f'<text x="{x:.1f}" y="{height - below + 18}" text-anchor="middle" fill="#444444">{escape(step)}</text>'
        )
    legend = left
    for number, (name, points) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        band = [at(n, high) for n, (_, _, high) in enumerate(points)]
        band += [at(n, low) for n, (_, low, _) in reversed(list(enumerate(points)))]
        out.append(f'<polygon points="{" ".join(band)}" fill="{colour}" fill-opacity="0.18"/>')
        line = " ".join(at(n, mean) for n, (mean, _, _) in enumerate(points))
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        out.append(f'<rect x="{legend}" y="34" width="11" height="11" fill="{colour}"/>')
        out.append(f'<text x="{legend + 16}" y="44" fill="#222222">{escape(name)}</text>')
        legend += 40 + 7 * len(name)
    return "\n".join([*out, "</svg>"]) + "\n"


def reliability(title: str, series: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Draw the share that is right over the stated chance, both from 0 to 1; the diagonal is what is wanted.

    Series come in pairs of one colour, the first of them dashed.
    """
    side, left, above = 400, 64, 86
    out = _header(title, above + side + 52)

    def at(stated: float, right: float) -> str:
        return f"{left + side * stated:.1f},{above + side * (1 - right):.1f}"

    for part in range(6):
        value = part / 5
        x, y = left + side * value, above + side * (1 - value)
        out.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + side}" y2="{y:.1f}" stroke="#dddddd"/>')
        out.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#444444">{value:g}</text>')
        out.append(f'<text x="{x:.1f}" y="{above + side + 18}" text-anchor="middle" fill="#444444">{value:g}</text>')
    out.append(f'<text x="{left}" y="{above - 12}" fill="#444444">share of hits that are right</text>')
    out.append(f'<text x="{left + side}" y="{above + side + 38}" text-anchor="end" fill="#444444">score</text>')
    out.append(f'<polyline points="{at(0, 0)} {at(1, 1)}" fill="none" stroke="#888888" stroke-dasharray="5 4"/>')
    for number, (name, points) in enumerate(series.items()):
        colour, y = COLOURS[number // 2 % len(COLOURS)], above + 10 + 22 * number
        dashes = "" if number % 2 else ' stroke-dasharray="7 3"'
        line = " ".join(at(*point) for point in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2.5"{dashes}/>')
        for point in points:
            across, down = at(*point).split(",")
            out.append(f'<circle cx="{across}" cy="{down}" r="3.5" fill="{colour}"/>')
        key = f'x1="{left + side + 24}" y1="{y - 4}" x2="{left + side + 52}" y2="{y - 4}"'
        out.append(f'<line {key} stroke="{colour}" stroke-width="2.5"{dashes}/>')
        out.append(f'<text x="{left + side + 60}" y="{y}" fill="#222222">{escape(name)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def against_cost(title: str, series: Mapping[str, Sequence[tuple[float, float, str]]], cost: str) -> str:
    """Draw values in percent over what they cost; each point has its name beside it."""
    width, height, left, above, below = _WIDTH, 380, 56, 62, 48
    points = [point for line in series.values() for point in line]
    most = max(x for x, _, _ in points) * 1.12
    low = 5 * (int(min(y for _, y, _ in points)) // 5)
    high = low + max(10, 5 * (int(max(y for _, y, _ in points) - low) // 5 + 1))

    def at(x: float, y: float) -> tuple[float, float]:
        return (
            left + (width - left - 24) * x / most,
            height - below - (height - above - below) * (y - low) / (high - low),
        )

    out = _header(title, height)
    for value in range(low, high + 1, 5):
        y = at(0, value)[1]
        out.append(f'<line x1="{left}" y1="{y:.1f}" x2="{width - 24}" y2="{y:.1f}" stroke="#dddddd"/>')
        out.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#444444">{value}%</text>')
    for part in range(5):
        x = at(most * part / 4, low)[0]
        label = f"{most * part / 4:.1f}"
        out.append(f'<text x="{x:.1f}" y="{height - below + 18}" text-anchor="middle" fill="#444444">{label}</text>')
    out.append(f'<text x="{width - 24}" y="{height - 12}" text-anchor="end" fill="#444444">{escape(cost)}</text>')
    legend = left
    for number, (name, line) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [at(x, y) for x, y, _ in line]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out.append(f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for (x, y), (_, _, label) in zip(places, line, strict=True):
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
            out.append(f'<text x="{x:.1f}" y="{y - 8:.1f}" text-anchor="middle" fill="#444444">{escape(label)}</text>')
        out.append(f'<rect x="{legend}" y="34" width="11" height="11" fill="{colour}"/>')
        out.append(f'<text x="{legend + 16}" y="44" fill="#222222">{escape(name)}</text>')
        legend += 40 + 7 * len(name)
    return "\n".join([*out, "</svg>"]) + "\n"
