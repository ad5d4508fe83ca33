"""Moments as people say them, and the slider that chooses one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from nicegui.element import Element
from nicegui.events import GenericEventArguments

from longmind.console.parts.elements import attributes, box, text

_SEND_VALUE = "(event) => emit(Number(event.target.value))"
_UNITS = ((365 * 86400, "year"), (30 * 86400, "month"), (86400, "day"), (3600, "hour"), (60, "minute"))


def exact(moment: datetime) -> str:
    """Return a moment in full, in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def day(moment: datetime) -> str:
    """Return the day of a moment."""
    return moment.astimezone(UTC).strftime("%-d %b %Y")


def ago(moment: datetime, now: datetime | None = None) -> str:
    """Return how long ago a moment was, or in how long it is."""
    seconds = ((now or datetime.now(UTC)) - moment).total_seconds()
    for size, unit in _UNITS:
        count = int(abs(seconds) // size)
        if count:
            said = f"{count} {unit}{'' if count == 1 else 's'}"
            return f"{said} ago" if seconds > 0 else f"in {said}"
    return "just now" if seconds >= 0 else "in a moment"


def time_ago(moment: datetime) -> Element:
    """Show how long ago a moment was; the tooltip says exactly when."""
    label = text(ago(moment), "lm-time", "time")
    return attributes(label, datetime=moment.isoformat(), title=exact(moment))


def date_of(moment: datetime) -> Element:
    """Show the day of a moment; the tooltip says exactly when."""
    return attributes(text(day(moment), "lm-time", "time"), datetime=moment.isoformat(), title=exact(moment))


def moment_of(moment: datetime) -> Element:
    """Show a moment to the minute; the tooltip says exactly when."""
    label = text(moment.astimezone(UTC).strftime("%-d %b %Y, %H:%M"), "lm-time", "time")
    return attributes(label, datetime=moment.isoformat(), title=exact(moment))


class TimeSlider:
    """Chooses a moment between two; at the right end it is now, and ``moment`` is None.

    It is the browser's own slider: while it is dragged its place is the browser's, and nothing sent back moves it.
    """

    def __init__(
        self, label: str, start: datetime, end: datetime, on_change: Callable[[], Awaitable[None] | None]
    ) -> None:
        self._start = start
        self._steps = max(1, -(-int((end - start).total_seconds()) // 86400))
        self._value = self._steps
        self._on_change = on_change
        with box("label", "lm-slider"):
            with box("span", "lm-slider-head"):
                text(label, "")
                self._chosen = text("now", "lm-num")
            slider = attributes(box("input"), type="range", min=0, max=self._steps, step=1, defaultValue=self._steps)
            attributes(slider, aria_label=label)
            slider.on("input", self._moved, throttle=0.1, js_handler=_SEND_VALUE)
            slider.on("change", self._released, throttle=0.3, leading_events=False, js_handler=_SEND_VALUE)

    @property
    def moment(self) -> datetime | None:
        """The moment that is chosen: the end of a day; None for now."""
        return None if self._value >= self._steps else self._start + timedelta(days=self._value)

    def _moved(self, event: GenericEventArguments) -> None:
        self._value = min(max(int(event.args), 0), self._steps)
        self._chosen.set_text("now" if self.moment is None else day(self.moment))

    async def _released(self, event: GenericEventArguments) -> None:
        self._moved(event)
        result = self._on_change()
        if result is not None:
            await result
