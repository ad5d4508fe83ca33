"""Figures and texts as people read them. A figure that nothing says is a dash."""

from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal

NOTHING = "–"
_VISIBLE = {
    **{code: chr(0x2400 + code) for code in range(32)},
    127: "␡",
    **{code: f"\\x{code:02x}" for code in range(0x80, 0xA0)},
    **{
        code: f"\\u{code:04x}"
        for code in (0x200E, 0x200F, 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    },
}


def plain(text: str) -> str:
    """Return a text on one line, with its control characters made visible: it must not play tricks on a reader."""
    line = " ".join(text.split()).translate(_VISIBLE)
    # half of a surrogate pair, which JSON can name, cannot be written anywhere
    return line.encode("utf-8", "backslashreplace").decode("utf-8")


def money(value: Decimal | None, *, sign: bool = False) -> str:
    """Return money to the cent: ``1,234.50``."""
    if value is None:
        return NOTHING
    cents = value.quantize(Decimal("0.01"), ROUND_HALF_UP) + 0  # no minus before a zero
    return _minus(f"{cents:+,}" if sign and cents else f"{cents:,}")


def percent(value: Decimal | None, *, sign: bool = False, places: int = 1) -> str:
    """Return a percentage: ``12.5 %``."""
    if value is None:
        return NOTHING
    rounded = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP) + 0
    return _minus(f"{rounded:+,} %" if sign and rounded else f"{rounded:,} %")


def share(value: Decimal | None) -> str:
    """Return a share from 0 to 1 as a percentage."""
    return NOTHING if value is None else percent(value * 100, places=0)


def number(value: Decimal | float | None, places: int = 2) -> str:
    """Return a number with so many places."""
    return NOTHING if value is None else _minus(f"{value:,.{places}f}")


def quantity(value: Decimal) -> str:
    """Return a quantity without needless zeros."""
    return _minus(f"{value.normalize():,f}")


def price(value: Decimal | None) -> str:
    """Return a price: at least cents, and what is small with more places."""
    if value is None:
        return NOTHING
    places = 2 if abs(value) >= 1000 else 4 if abs(value) >= 1 else 6
    text = f"{value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):,f}".rstrip("0")
    whole, _, part = text.partition(".")
    return _minus(f"{whole}.{part.ljust(2, '0')}")


def duration(value: timedelta | float | None) -> str:
    """Return a time span as shortly as it is still told well: ``3 d 4 h``, ``22 h``, ``12 min``, ``40 s``."""
    if value is None:
        return NOTHING
    seconds = round(value.total_seconds() if isinstance(value, timedelta) else value)
    sign, seconds = ("−" if seconds < 0 else ""), abs(seconds)
    if seconds < 60:
        return f"{sign}{seconds} s"
    if seconds < 3600:
        return f"{sign}{seconds // 60} min"
    if seconds < 86_400:
        hours, minutes = divmod(seconds // 60, 60)
        return f"{sign}{hours} h" + (f" {minutes} min" if minutes and hours < 10 else "")
    days, hours = divmod(seconds // 3600, 24)
    return f"{sign}{days} d" + (f" {hours} h" if hours and days < 10 else "")


def _minus(text: str) -> str:
    return text.replace("-", "−")
