"""When: market hours, the age of an announcement, and whether it was there before."""

from datetime import timedelta

from taat.validation.checks.case import Case
from taat.validation.situation import fingerprint
from taat.validation.verdict import Check


def market_hours(case: Case) -> Check:
    situation = case.situation
    opening = f" It opens on {situation.next_opening:%Y-%m-%d at %H:%M %Z}." if situation.next_opening else ""
    state = "open" if situation.market_open else "closed"
    if not case.opens:
        waits = "" if situation.market_open else f" The market is closed; the order waits.{opening}"
        return case.exempt("market_hours", f"A position may always be left or protected.{waits}")
    if situation.market_open:
        return case.passed("market_hours", "The market is open.", state)
    if not case.rules.market_hours_only:
        return case.passed("market_hours", f"The market is closed; the order waits.{opening}", state)
    return case.refused("market_hours", f"The market for {case.name} is closed.{opening}", state, "open")


def age(case: Case) -> Check:
    """An old announcement has had its effect on the price. One from the future comes from a wrong clock."""
    limit, seconds = case.rules.maximum_age_seconds, int(case.situation.age.total_seconds())
    if not case.opens:
        return case.exempt("age")
    if limit is None:
        return case.passed("age", "Announcements of any age are followed.", seconds, "none")
    if case.situation.age < -timedelta(seconds=limit):
        reason = f"The announcement is dated {_duration(-seconds)} in the future."
        return case.refused("age", reason, seconds, limit)
    if case.situation.age > timedelta(seconds=limit):
        reason = f"The announcement is {_duration(seconds)} old; the limit is {_duration(limit)}."
        return case.refused("age", reason, seconds, limit)
    return case.passed("age", f"The announcement is {_duration(max(0, seconds))} old.", seconds, limit)


def duplicate(case: Case) -> Check:
    """The same again is not followed twice. Ending a position that is still held is never a duplicate."""
    if case.signal.action in ("close", "stopped_out"):
        return case.exempt("duplicate", "What is still held may be closed, however often that was announced.")
    earlier = case.situation.earlier.get(fingerprint(case.situation.announcer, case.signal))
    minutes = case.rules.duplicate_minutes
    if earlier is None:
        return case.passed("duplicate", "It was not announced before.", None, minutes)
    apart = case.situation.posted_at - earlier
    if abs(apart) < timedelta(minutes=minutes):
        reason = f"The same was announced {_duration(abs(int(apart.total_seconds())))} before."
        return case.refused("duplicate", reason, f"{earlier:%Y-%m-%d %H:%M:%S}", minutes)
    return case.passed("duplicate", "The same was announced, but long ago.", f"{earlier:%Y-%m-%d %H:%M:%S}", minutes)


def edited(case: Case) -> Check:
    """An edited post never places an order by itself."""
    if case.situation.edited:
        return case.asks("edited", "The post was edited after it was first seen.", "edited", "unchanged")
    return case.passed("edited", "The post is as it was first seen.", "unchanged", "unchanged")


def _duration(seconds: int) -> str:
    if seconds < 120:
        return f"{seconds} seconds"
    if seconds < 7200:
        return f"{seconds // 60} minutes"
    return f"{seconds // 3600} hours" if seconds < 172_800 else f"{seconds // 86_400} days"
