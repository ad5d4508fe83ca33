"""Invented posts of invented announcers: chatter, and trades opened, changed and closed at prices that walk."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

_CHATTER = (
    "Good morning all. Coffee first, charts second.",
    "Volume is thin today, nothing to do.",
    "What does everybody think of {symbol} after earnings?",
    "{symbol} looks tired up here, watching from the side.",
    "Thanks for 5,000 followers! Grateful for every one of you.",
    "Fed minutes at 2 pm, expect noise.",
    "Reminder: size is the only thing you control.",
    "If {symbol} breaks {price} I might get interested next week.",
    "New video is out, link in bio.",
    "Reading the annual report of {symbol} tonight.",
    "That was a strange close.",
    "Never argue with the tape.",
)
_SYMBOLS = {"NVDA": 180.0, "AMD": 150.0, "AAPL": 260.0, "TSLA": 410.0, "MSFT": 480.0, "DKNG": 34.0, "PLTR": 130.0}


@dataclass
class _Author:
    name: str
    positions: dict[str, str] = field(default_factory=dict)
    """Symbol to side."""


def posts(number: int, *, seed: int = 1, share: float = 0.1, authors: int = 20) -> Iterator[dict[str, str]]:
    """Yield posts of which about ``share`` announce something; 2 % come again, some of them edited."""
    chance = random.Random(seed)
    people = [_Author(f"announcer{n:02}") for n in range(authors)]
    prices = dict(_SYMBOLS)
    at = datetime(2026, 3, 2, 14, 35, tzinfo=UTC)
    latest: list[dict[str, str]] = []
    for id in range(1, number + 1):
        at = _later(at, chance)
        for symbol in prices:
            prices[symbol] = max(1.0, prices[symbol] * (1 + chance.gauss(0, 0.0008)))
        if latest and chance.random() < 0.02:
            again = dict(chance.choice(latest))
            if chance.random() < 0.3:
                again["text"] += " (edited)"
            yield again
            continue
        author = chance.choice(people)
        if chance.random() < share:
            text = _announcement(author, prices, chance)
        else:
            symbol = chance.choice(list(prices))
            text = chance.choice(_CHATTER).format(symbol=f"${symbol}", price=f"{prices[symbol]:.0f}")
        post = {"id": str(id), "author": author.name, "text": text, "created_at": at.isoformat()}
        latest = [*latest[-20:], post]
        yield post


def _later(at: datetime, chance: random.Random) -> datetime:
    """Return a moment some seconds later, on a weekday while the exchanges are open."""
    at += timedelta(seconds=chance.randint(5, 60))
    if at.hour >= 20 and at.minute >= 50:
        at = (at + timedelta(days=1)).replace(hour=14, minute=35)
    while at.weekday() > 4:
        at += timedelta(days=1)
    return at


def _announcement(author: _Author, prices: dict[str, float], chance: random.Random) -> str:
    if author.positions and chance.random() < 0.6:
        symbol = chance.choice(list(author.positions))
        side, price = author.positions[symbol], prices[symbol]
        roll = chance.random()
        if roll < 0.35:
            return f"took half off my ${symbol} here at {price:.2f}"
        if roll < 0.5:
            away = price * (0.98 if side == "long" else 1.02)
            return f"Stop on ${symbol} moved to {away:.2f}"
        del author.positions[symbol]
        return f"Closed the rest of my ${symbol} at {price:.2f}"
    symbol = chance.choice([name for name in prices if name not in author.positions] or list(prices))
    side, price = chance.choice(["long", "long", "short"]), prices[symbol]
    author.positions[symbol] = side
    stop = price * (0.97 if side == "long" else 1.03)
    verb = "Bought" if side == "long" else "Shorted"
    tail = f", stop at {stop:.2f}" if chance.random() < 0.7 else ""
    return f"{verb} ${symbol} at {price:.2f}{tail}"


def write_posts(path: Path, number: int, *, seed: int = 1, share: float = 0.1, authors: int = 20) -> Path:
    """Write such posts as a feed."""
    with path.open("w") as file:
        for post in posts(number, seed=seed, share=share, authors=authors):
            file.write(json.dumps(post) + "\n")
    return path
