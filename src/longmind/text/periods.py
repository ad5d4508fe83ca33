"""Parts of a period, such as "the last week of October 2023", "late 2022" or "Q2 2021", and days in digits.

The patterns are parts of larger ones: of those that read a question (``time_spans``) and a statement (``dates``). Both
are written for ``re.VERBOSE``. Of a day in digits it is known which number is the month if the other is above 12. Else
the day comes first, as in 3.4.2024 and 3-4-2024, but with slashes the month does, as in 4/3/2024.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from longmind.text.calendar import add_months, midnight, start_of
from longmind.text.vocabulary import MONTH_NAMES, MONTHS, NUMBER_WORDS, SEASON_STARTS

ANY_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?"
)
SEASON = "spring|summer|autumn|fall|winter"
_YEAR = r"(?:19|20)\d{2}"
_ORDER = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": -1, "final": -1,
}  # fmt: skip
_SHARES = {"half": 2, "third": 3, "quarter": 4}
_PARTS = {
    "early": (0, 1 / 3),
    "mid": (1 / 3, 2 / 3),
    "middle": (1 / 3, 2 / 3),
    "late": (2 / 3, 1),
    "beginning": (0, 1 / 4),
    "start": (0, 1 / 4),
    "end": (3 / 4, 1),
}
"""Which part of a period a word names, as shares of it."""
_LONG = timedelta(days=360)
"""The length from which a period is divided by months, not by days."""

PART_OF_PERIOD = rf"""
    (?:(?:
        (?:the\ )?(?P<nth>{"|".join(_ORDER)})\ (?:(?P<pieces>\d|{"|".join(NUMBER_WORDS)})\ )?
            (?P<piece>day|weekend|week|month|half|third|quarter)s?\ of\ (?:the\ (?!year|month|week))?
      | (?:the\ )?(?:very\ )?(?P<edge>beginning|start|middle|end)\ of\ (?:the\ (?!year|month|week))?
      | (?P<rough>early|mid|late)(?:-|\ in\ |\ )(?:the\ (?!year|month|week))?(?!(?:this|last|next|the)\ week)
      )
      (?: (?P<part_month>{ANY_MONTH})\b\.?(?:(?:,|\ of)?\ (?P<part_month_year>{_YEAR}))?
        | (?P<part_season>{SEASON})(?:(?:,|\ of)?\ (?P<part_season_year>{_YEAR}))?
        | (?P<part_which>last|this|next|previous|the)\ (?P<part_unit>week|month|year|{SEASON}|{ANY_MONTH})
        | (?P<part_decade>(?:19|20)\d0)s
        | (?P<part_year>{_YEAR})
      )
    | (?:the\ )?(?P<decade>(?:19|20)\d0)s
    | q(?P<quarter>[1-4])(?:\ of)?(?:,|\ )\ ?(?P<quarter_year>{_YEAR})
    )\b"""
"""A part of a period that is named or relative to today; a decade; a quarter of a year."""
DAY_IN_DIGITS = r"""
    (?<![\d./-])(?:
      (?P<iso_year>\d{4})(?P<iso_point>[-/.])(?P<iso_month>\d{1,2})(?P=iso_point)(?P<iso_day>\d{1,2})
    | (?P<left>\d{1,2})(?P<point>[-/]|\.\ ?)(?P<right>\d{1,2})(?P=point)(?P<digits_year>(?:19|20)\d{2})
    )(?![\d/-]|\.\d)"""
"""A day in digits with its year."""


class Period(NamedTuple):
    """A stretch of time."""

    since: datetime
    until: datetime
    name: str
    """It in words that need no context."""


def read_part(groups: Mapping[str, str | None], now: datetime) -> Period:
    """Return the part of a period that a match of ``PART_OF_PERIOD`` names; ``ValueError`` if there is no such part."""
    parts, today = {name: value.lower() for name, value in groups.items() if value}, midnight(now)
    if "quarter" in parts:
        year, number = int(parts["quarter_year"]), int(parts["quarter"])
        begin = datetime(year, 3 * number - 2, 1, tzinfo=UTC)
        return Period(begin, add_months(begin, 3), f"Q{number} {year}")
    if "decade" in parts:
        return _decade(int(parts["decade"]))
    whole = _whole(parts, today)
    if "nth" in parts:
        return _piece(whole, parts["nth"], parts.get("pieces"), parts["piece"])
    word = parts.get("rough") or parts["edge"]
    begin, end = (_at(whole, share, later=later) for share, later in zip(_PARTS[word], (False, True), strict=True))
    return Period(begin, end, f"{word} {whole.name}" if "rough" in parts else f"the {word} of {whole.name}")


def read_day(groups: Mapping[str, str | None]) -> datetime:
    """Return the day that a match of ``DAY_IN_DIGITS`` names; ``ValueError`` if there is no such day."""
    if groups.get("iso_year"):
        year, month, day = (int(groups[name] or 0) for name in ("iso_year", "iso_month", "iso_day"))
        return datetime(year, month, day, tzinfo=UTC)
    left, right, year = (int(groups[name] or 0) for name in ("left", "right", "digits_year"))
    month_first = right > 12 or (groups["point"] == "/" and left <= 12)
    month, day = (left, right) if month_first else (right, left)
    return datetime(year, month, day, tzinfo=UTC)


def month_number(name: str) -> int:
    """Return the number of a month, from 1, by its name or its first three letters."""
    return next(number for number, month in enumerate(MONTHS, start=1) if month.startswith(name[:3].lower()))


def _whole(parts: Mapping[str, str], today: datetime) -> Period:
    """Return the period of which a part is named."""
    if "part_decade" in parts:
        return _decade(int(parts["part_decade"]))
    if "part_year" in parts:
        return _year(int(parts["part_year"]))
    if "part_which" in parts:
        step = {"last": -1, "previous": -1, "next": 1}.get(parts["part_which"], 0)
        return _relative(parts["part_unit"], step, parts["part_which"] == "this", today)
    name = parts.get("part_month") or parts["part_season"]
    year = parts.get("part_month_year") or parts.get("part_season_year")
    period = _named(name, int(year) if year else today.year)
    return period if year or period.since <= today else _named(name, today.year - 1)


def _relative(unit: str, step: int, this: bool, today: datetime) -> Period:
    if unit == "week":
        monday = start_of(today, "week") + timedelta(weeks=step)
        return Period(monday, monday + timedelta(weeks=1), f"the week of {monday.day} {_month_name(monday)}")
    if unit == "month":
        begin = add_months(start_of(today, "month"), step)
        return Period(begin, add_months(begin, 1), _month_name(begin))
    if unit == "year":
        return _year(today.year + step)
    period = _named(unit, today.year)
    if step > 0:
        return period if period.since > today else _named(unit, today.year + 1)
    if this or (step < 0 and period.until <= today) or (not step and period.since <= today):
        return period
    return _named(unit, today.year - 1)


def _named(name: str, year: int) -> Period:
    """Return a month or a season of a year."""
    if name in SEASON_STARTS:
        begin = datetime(year, SEASON_STARTS[name], 1, tzinfo=UTC)
        return Period(begin, add_months(begin, 3), f"{name} {year}")
    begin = datetime(year, month_number(name), 1, tzinfo=UTC)
    return Period(begin, add_months(begin, 1), _month_name(begin))


def _year(year: int) -> Period:
    return Period(datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC), str(year))


def _decade(year: int) -> Period:
    return Period(datetime(year, 1, 1, tzinfo=UTC), datetime(year + 10, 1, 1, tzinfo=UTC), f"the {year}s")


def _month_name(day: datetime) -> str:
    return f"{MONTH_NAMES[day.month - 1]} {day.year}"


def _piece(whole: Period, nth: str, pieces: str | None, piece: str) -> Period:
    """Return such a piece of a period as "the first two weeks" or "the second half"."""
    order, count = _ORDER[nth], 1 if pieces is None else int(pieces) if pieces.isdigit() else NUMBER_WORDS[pieces]
    name = f"the {nth} {f'{pieces} {piece}s' if pieces else piece} of {whole.name}"
    if count < 1 or (count > 1 and (order not in (1, -1) or piece in _SHARES)):
        raise ValueError(f"There is no {name}.")
    if piece in _SHARES:
        shares = _SHARES[piece]
        place = shares if order < 0 else order
        begin, end = _at(whole, (place - 1) / shares, later=False), _at(whole, place / shares, later=True)
    elif piece == "month":
        begin = add_months(start_of(whole.until - timedelta(days=1), "month"), 1 - count) if order < 0 else whole.since
        begin = add_months(begin, max(order - 1, 0))
        end = add_months(begin, count)
    elif order < 0:
        length = timedelta(days=count * (1 if piece == "day" else 7))
        begin, end = whole.until - length, whole.until
        if piece == "weekend":
            begin = _saturday_from(whole.until - length)
            end = whole.until if count > 1 else begin + timedelta(days=2)
    else:
        length = timedelta(days=1 if piece == "day" else 7)
        begin = (_saturday_from(whole.since) if piece == "weekend" else whole.since) + (order - 1) * length
        end = begin + (count - 1) * length + (timedelta(days=2) if piece == "weekend" else length)
    if not whole.since <= begin < whole.until:
        raise ValueError(f"There is no {name}.")
    return Period(begin, end, name)


def _saturday_from(day: datetime) -> datetime:
    return day + timedelta(days=(5 - day.weekday()) % 7)


def _at(period: Period, share: float, *, later: bool) -> datetime:
    """Return the day, or in a long period the month, at a share of a period; the later of two if it is between them."""
    rounded = math.ceil if later else math.floor
    if period.until - period.since >= _LONG:
        months = 12 * (period.until.year - period.since.year)
        return add_months(period.since, rounded(round(months * share, 6)))
    return period.since + timedelta(days=rounded(round((period.until - period.since).days * share, 6)))
