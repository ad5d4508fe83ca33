"""Steps in the calendar: the beginning of a day, week, month or year, and so many of them back or forward."""

from __future__ import annotations

from datetime import datetime, timedelta


def midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def start_of(moment: datetime, unit: str) -> datetime:
    """Return the beginning of the day, week, month or year that a moment lies in."""
    day = midnight(moment)
    if unit == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if unit == "month" else day.replace(month=1, day=1) if unit == "year" else day


def subtract(moment: datetime, count: int, unit: str) -> datetime:
    from dateutil.relativedelta import relativedelta

    steps = {"days": 0, "weeks": 0, "months": 0, "years": 0} | {unit + "s": count}
    return moment - relativedelta(
        days=steps["days"], weeks=steps["weeks"], months=steps["months"], years=steps["years"]
    )


def add_months(day: datetime, months: int) -> datetime:
    """Move the first day of a month by some months, forward or back."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return day.replace(year=year, month=month + 1)
