"""Charts as SVG: lines over time, areas and bars. Colours come from the page's style, so they follow light and dark."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import escape
from math import ceil, floor, log10

Point = tuple[datetime, float]
WIDTH = 920
_LEFT, _RIGHT, _TOP, _BOTTOM = 72, 16, 14, 28
_MOST_POINTS = 600


@dataclass(frozen=True)
class Line:
    """A series of a chart: its name, the class that gives it its colour, and its points."""

    name: str
    style: str
    points: Sequence[Point]
    steps: bool = False
    """Whether a value holds until the next point, as with money that is earned at once."""


@dataclass(frozen=True)
class _Frame:
    """How values become places on the picture."""

    first: datetime
    last: datetime
    low: float
    high: float
    height: int

    def x(self, at: datetime) -> float:
        whole = (self.last - self.first).total_seconds() or 1.0
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * (at - self.first).total_seconds() / whole

    def y(self, value: float) -> float:
        return _TOP + (self.height - _TOP - _BOTTOM) * (self.high - value) / ((self.high - self.low) or 1.0)


def line_chart(
    lines: Sequence[Line], label: Callable[[float], str], title: str, *, height: int = 300, area: bool = False
) -> str:
    """Return lines over time; with ``area``, what is between the first line and zero is filled."""
    lines = [line for line in lines if line.points]
    moments = [at for line in lines for at, _ in line.points]
    if not moments:
        return ""
    values = [value for line in lines for _, value in line.points]
    ticks = nice_ticks(min([*values, 0.0] if area else values), max([*values, 0.0] if area else values), height // 60)
    last = max(moments)
    frame = _Frame(min(moments), last, ticks[0], ticks[-1], height)
    parts = [_grid(frame, ticks, label), _dates(frame)]
    for number, line in enumerate(lines):
        points = thinned(line.points, _MOST_POINTS)
        if line.points[-1][0] < last and line.steps:
            points = [*points, (last, line.points[-1][1])]
        path = _path(frame, points, steps=line.steps)
        if area and number == 0:
            end, begin, zero = frame.x(points[-1][0]), frame.x(points[0][0]), frame.y(0.0)
            parts.append(f'<path class="area {line.style}" d="{path}L{end:.1f} {zero:.1f}L{begin:.1f} {zero:.1f}Z"/>')
        parts.append(f'<path class="line {line.style}" d="{path}"/>')
        parts.append(_end(frame, points[-1], line, label))
    return _picture("".join(parts), height, title)


def bar_chart(bars: Sequence[tuple[str, float, str]], title: str) -> str:
    """Return one bar for each name, to the right for what is above zero and to the left for what is below."""
    if not bars:
        return ""
    row, left, right = 30, 190, 96
    low, high = min(0.0, *(value for _, value, _ in bars)), max(0.0, *(value for _, value, _ in bars))
    left += 96 if low < 0 else 0
    width = (WIDTH - left - right) / ((high - low) or 1.0)
    zero = left - low * width
    parts = []
    for number, (name, value, shown) in enumerate(bars):
        top, end = number * row + 6, zero + value * width
        begin, length = min(zero, end), max(abs(end - zero), 1.0)
        style, anchor, place = ("gain", "start", end + 8) if value >= 0 else ("loss", "end", end - 8)
        short = name if len(name) <= 24 else name[:23] + "…"
        parts.append(
            f'<g><title>{escape(name)}: {escape(shown)}</title><text class="name" x="0" y="{top + 14}">{escape(short)}'
            f'</text><rect class="bar {style}" x="{begin:.1f}" y="{top}" width="{length:.1f}" height="18" rx="2"/>'
            f'<text class="value" x="{place:.1f}" y="{top + 14}" text-anchor="{anchor}">{escape(shown)}</text></g>'
        )
    height = len(bars) * row + 4
    parts.append(f'<line class="zero" x1="{zero:.1f}" x2="{zero:.1f}" y1="0" y2="{height}"/>')
    return _picture("".join(parts), height, title)


def nice_ticks(low: float, high: float, count: int) -> list[float]:
    """Return round values that begin at or below ``low`` and end at or above ``high``."""
    if high - low <= abs(high) * 1e-9:
        spread = abs(high) * 0.01 or 1.0
        low, high = low - spread, high + spread
    rough = (high - low) / max(count, 1)
    size = 10.0 ** floor(log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    return [step * number for number in range(floor(low / step + 1e-9), ceil(high / step - 1e-9) + 1)]


def thinned(points: Sequence[Point], most: int) -> list[Point]:
    """Return at most so many points that look the same: of each stretch the lowest and the highest stay."""
    if len(points) <= most:
        return list(points)
    stretch = (len(points) - 2) / (most // 2 - 1)
    kept = [points[0]]
    for number in range(most // 2 - 1):
        part = points[1 + int(number * stretch) : 1 + int((number + 1) * stretch)]
        pair = {min(part, key=lambda point: point[1]), max(part, key=lambda point: point[1])}
        kept.extend(sorted(pair))
    return [*kept, points[-1]]


def _path(frame: _Frame, points: Sequence[Point], *, steps: bool) -> str:
    words = [f"M{frame.x(points[0][0]):.1f} {frame.y(points[0][1]):.1f}"]
    for at, value in points[1:]:
        x, y = f"{frame.x(at):.1f}", f"{frame.y(value):.1f}"
        words.append(f"H{x}V{y}" if steps else f"L{x} {y}")
    return "".join(words)


def _end(frame: _Frame, point: Point, line: Line, label: Callable[[float], str]) -> str:
    at, value = point
    tip = f"{line.name}: {label(value)} on {at:%Y-%m-%d}"
    place = f'cx="{frame.x(at):.1f}" cy="{frame.y(value):.1f}"'
    return f'<circle class="end {line.style}" {place} r="4"><title>{escape(tip)}</title></circle>'


def _grid(frame: _Frame, ticks: Sequence[float], label: Callable[[float], str]) -> str:
    parts = []
    for tick in ticks:
        y = frame.y(tick)
        style = "zero" if tick == 0 else "grid"
        parts.append(f'<line class="{style}" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 10}" y="{y + 4:.1f}" text-anchor="end">{escape(label(tick))}</text>')
    return "".join(parts)


def _dates(frame: _Frame) -> str:
    whole = frame.last - frame.first
    form = "%H:%M" if whole < timedelta(days=1) else "%d %b" if whole < timedelta(days=300) else "%b %Y"
    parts = []
    for at, anchor in _date_ticks(frame.first, frame.last):
        x = frame.x(at)
        parts.append(f'<text x="{x:.1f}" y="{frame.height - 8}" text-anchor="{anchor}">{at:{form}}</text>')
    return "".join(parts)


def _date_ticks(first: datetime, last: datetime) -> list[tuple[datetime, str]]:
    """Return the moments to name below a chart: whole hours, days or months, about six of them."""
    whole = last - first
    if whole < timedelta(hours=2):
        return [(first, "start"), (last, "end")] if whole else [(first, "start")]
    first, last = first.astimezone(UTC), last.astimezone(UTC)
    if whole < timedelta(days=2):
        step = timedelta(hours=next(hours for hours in (1, 2, 3, 6, 8) if whole / timedelta(hours=hours) <= 8))
        at = first.replace(minute=0, second=0, microsecond=0)
    elif whole < timedelta(days=120):
        step = timedelta(days=next(days for days in (1, 2, 3, 7, 14, 21) if whole / timedelta(days=days) <= 8))
        at = first.replace(hour=0, minute=0, second=0, microsecond=0)
    else:
        return [(at, "middle") for at in _months(first, last)]
    ticks = []
    while at <= last:
        if at >= first:
            ticks.append((at, "middle"))
        at += step
    return ticks


def _months(first: datetime, last: datetime) -> list[datetime]:
    months = (last.year - first.year) * 12 + last.month - first.month
    step = max(1, ceil(months / 7))
    begun = first.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    numbers = range(begun.year * 12 + begun.month, last.year * 12 + last.month, step)
    return [at for number in numbers if (at := begun.replace(year=number // 12, month=number % 12 + 1)) <= last]


def _picture(content: str, height: int, title: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title, quote=True)}">{content}</svg>'
