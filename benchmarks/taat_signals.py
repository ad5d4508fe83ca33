"""How well posts are read: false alarms on real chatter, fields of option alerts and of labelled posts, and speed.

Chatter and option alerts come from the evaluation data; the alerts are written in several common notations when the
benchmark runs. The true announcements among the chatter are labelled by id.
"""

from __future__ import annotations

import csv
import gzip
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

from taat.models import AssetClass, Instrument, Post, Price, Signal
from taat.signals import read_post

LABELS = Path(__file__).with_name("taat_signals_announcements.json")

Figure = tuple[str, float, str]


def chatter(data: Path) -> list[Post]:
    """Read the posts that are nearly all chatter; their ids are those of the data, or line numbers."""
    posts = []
    with gzip.open(data / "stocknet_sample.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            at = datetime.strptime(row["created_at"], "%a %b %d %H:%M:%S %z %Y")
            author = row["user"] or "unknown"
            posts.append(Post(id=row["id"], author=author, text=row["text"], created_at=at, feed="stocknet_sample"))
    with gzip.open(data / "fintweets.jsonl.gz", "rt", encoding="utf-8") as lines:
        for number, row in enumerate(map(json.loads, lines)):
            at = datetime(2020, 2, 3, 15, tzinfo=UTC)
            posts.append(Post(id=str(number), author="unknown", text=row["note"], created_at=at, feed="fintweets"))
    return posts


def announcements() -> set[tuple[str, str]]:
    """Return feed and id of the posts among the chatter that do announce a trade."""
    labels: dict[str, list[str]] = json.loads(LABELS.read_text(encoding="utf-8"))
    return {(feed, post_id) for feed, ids in labels.items() for post_id in ids}


@dataclass(frozen=True)
class Alert:
    """An option or stock alert of the data, and what its text must be read as."""

    instrument: Instrument
    price: Decimal
    quantity: int
    at: datetime


def alerts(data: Path) -> list[Alert]:
    """Read the alerts that open a position at a price."""
    found = []
    with gzip.open(data / "discord_option_alerts.csv.gz", "rt", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            if row["Type"] != "BTO" or not row["Price"] or not row["Qty"] or float(row["Price"]) <= 0:
                continue
            at = datetime.fromisoformat(row["Date"]).replace(tzinfo=UTC)
            # a price that was averaged later has more places than anybody writes
            price = Decimal(row["Price"]).quantize(Decimal("0.01"))
            if price > 0:
                found.append(Alert(_instrument(row["Symbol"]), price, int(float(row["Qty"])), at))
    return found


def _instrument(symbol: str) -> Instrument:
    root, _, rest = symbol.partition("_")
    if not rest:
        return Instrument(symbol=root)
    expiry = date(2000 + int(rest[4:6]), int(rest[:2]), int(rest[2:4]))
    right = "call" if rest[6] == "C" else "put"
    return Instrument(symbol=root, asset=AssetClass.OPTION, expiry=expiry, strike=Decimal(rest[7:]), right=right)


def notations(alert: Alert) -> Iterator[tuple[str, str, bool]]:
    """Yield an alert in common notations: the name, the text, and whether it says the quantity."""
    held, price, count = alert.instrument, f"{alert.price:f}", alert.quantity
    if held.expiry is None or held.strike is None or held.right is None:
        yield "code", f"BTO {count} {held.symbol} @ {price}", True
        yield "cashtag", f"BTO {count} ${held.symbol} @{price}", True
        yield "prose", f"Bought {count} shares of ${held.symbol} at {price}", True
        return
    strike, letter = f"{held.strike.normalize():f}", held.right[0].upper()
    short = f"{held.expiry.month}/{held.expiry.day}"
    root = held.symbol
    yield "code", f"BTO {count} {root} {strike}{letter} {held.expiry:%m/%d} @ {price}", True
    yield "date first", f"BTO {count} {root} {short} {strike}{letter.lower()} @{price}", True
    yield "small letters", f"bto ${root.lower()} {strike}{letter.lower()} {short} {price}", False
    yield "month", f"Bought {root} {held.expiry:%b} {held.expiry.day} {strike} {held.right} at ${price}", False
    yield "plural", f"Grabbed some ${root} {strike} {held.right}s {held.expiry:%m/%d/%y} @ {price}", False
    yield "underscore", f"BTO {root}_{held.expiry:%m%d%y}{letter}{strike} {price}", False
    yield "no verb", f"🚨 ${root} {strike}{letter} {short} @ {price} 🚨", False
    yield "in", f"In {root} ${strike}{letter} {short} avg {price}", False
    yield (
        "card",
        f"New alert\nTicker: {root}\nStrike: {strike}{letter}\nExp: {short}\nEntry: {price}\nSL: 40%\nPT: 80%",
        False,
    )


def _is_right(signals: Sequence[Signal], alert: Alert, counted: bool) -> bool:
    if len(signals) != 1:
        return False
    signal = signals[0]
    quantity = signal.quantity.value if signal.quantity else None
    return (
        signal.instrument == alert.instrument
        and (signal.action, signal.side) == ("open", "long")
        and signal.price == Price(low=alert.price, high=alert.price)
        and quantity == (alert.quantity if counted else None)
    )


def alert_figures(data: Path) -> list[Figure]:
    """Return the share of alerts read rightly in all fields, by notation."""
    right: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for alert in alerts(data):
        for name, text, counted in notations(alert):
            every[name] += 1
            right[name] += _is_right(
                read_post(Post(id="1", author="a", text=text, created_at=alert.at)), alert, counted
            )
    rows: list[Figure] = [(f"alerts, {name}", 100 * right[name] / every[name], "% right") for name in every]
    return [*rows, ("alerts, all notations", 100 * right.total() / every.total(), f"% of {every.total()} right")]


def chatter_figures(posts: Iterable[Post]) -> list[Figure]:
    """Return false alarms, what was found of the true announcements, and the speed on one core."""
    posts, known = list(posts), announcements()
    began = time.process_time()
    signalled = {(post.feed, post.id) for post in posts if read_post(post)}
    seconds = time.process_time() - began
    noise = len(posts) - len(known)
    return [
        ("chatter, false alarms", 100 * len(signalled - known) / noise, f"% of {noise}"),
        ("chatter, posts with any signal", 100 * len(signalled) / len(posts), f"% of {len(posts)}"),
        ("labelled announcements found", len(signalled & known), f"of {len(known)}"),
        ("speed on chatter", len(posts) / seconds, "posts/s of CPU"),
    ]


def speed_on_alerts(data: Path) -> Figure:
    """Return the speed on posts that all announce something."""
    posts = [
        Post(id="1", author="a", text=text, created_at=alert.at)
        for alert in alerts(data)
        for _, text, _ in notations(alert)
    ]
    began = time.process_time()
    for post in posts:
        read_post(post)
    return ("speed on alerts", len(posts) / (time.process_time() - began), "posts/s of CPU")


def figures(data: Path) -> list[Figure]:
    """Return all figures."""
    return [*chatter_figures(chatter(data)), *alert_figures(data), speed_on_alerts(data)]
