"""The labelled posts, invented in the styles of many announcers: half for development, half held out.

A post is one line (``\\n`` stands for a line break); under it, ``>`` has an announced signal and ``<`` a position that
its author holds. A post without ``>`` is chatter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from taat.models import Holding, Instrument, Level, Post, Price, Signal
from taat.signals.numbers import price as read_price
from taat.signals.symbols import instrument_of

FOLDER = Path(__file__).parent / "posts"
POSTED = datetime(2023, 6, 14, 15, 0, tzinfo=UTC)
FIELDS = ("instrument", "action", "side", "price", "entry_price", "quantity", "stop", "targets", "time_frame")
_OPTION = re.compile(r"(\d+(?:\.\d+)?)([CP])$")


@dataclass
class LabelledPost:
    """A post with what it announces and what its author holds."""

    post: Post
    style: str
    signals: list[dict[str, Any]] = field(default_factory=list)
    holdings: list[Holding] = field(default_factory=list)


def load(name: str) -> list[LabelledPost]:
    """Read the posts of one file."""
    posts: list[LabelledPost] = []
    style = ""
    for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            style = line.removeprefix("## style: ")
        elif line.startswith("> "):
            posts[-1].signals.append(_signal(line[2:]))
        elif line.startswith("< "):
            posts[-1].holdings.append(_holding(line[2:]))
        elif line:
            post = Post(id=f"{name}-{len(posts)}", author=style, text=line.replace("\\n", "\n"), created_at=POSTED)
            posts.append(LabelledPost(post, style))
    return posts


def _instrument(words: list[str]) -> Instrument:
    if len(words) == 1:
        return instrument_of(words[0])
    match = _OPTION.match(words[1])
    assert match is not None, words
    expiry = None if words[2] == "-" else date.fromisoformat(words[2])
    right = "call" if match[2] == "C" else "put"
    return Instrument(symbol=words[0], asset="option", strike=Decimal(match[1]), right=right, expiry=expiry)


def _level(text: str) -> Level:
    if text.endswith("%"):
        return Level(value=Decimal(text[:-1]), unit="percent")
    if text.endswith("pt"):
        return Level(value=Decimal(text[:-2]), unit="points")
    return Level(value=Decimal(text))


def _signal(line: str) -> dict[str, Any]:
    head, *fields = [part.strip() for part in line.split("|")]
    action, side, *instrument = head.split()
    label: dict[str, Any] = dict.fromkeys(FIELDS)
    label |= {"action": action, "side": None if side == "-" else side, "targets": ()}
    label["instrument"] = _instrument(instrument)
    for text in fields:
        name, _, value = text.partition("=")
        if name in ("p", "e"):
            low, _, high = value.partition("-")
            label["price" if name == "p" else "entry_price"] = read_price(low, high or None)
        elif name == "q":
            unit = "fraction" if value.endswith("f") else "units"
            label["quantity"] = (Decimal(value.rstrip("f")), unit)
        elif name == "sl":
            label["stop"] = _level(value)
        elif name == "t":
            label["targets"] = tuple(_level(item) for item in value.split(","))
        elif name == "tf":
            label["time_frame"] = value
        else:
            raise ValueError(text)
    return label


def _holding(line: str) -> Holding:
    *instrument, side, entry = line.split()
    return Holding(instrument=_instrument(instrument), side=side, entry=Decimal(entry))


def read_fields(signal: Signal) -> dict[str, Any]:
    """Return the fields of a signal that labels have."""
    fields: dict[str, Any] = {name: getattr(signal, name) for name in FIELDS}
    if signal.quantity is not None:
        fields["quantity"] = (signal.quantity.value, signal.quantity.unit)
    return fields


def wrong_fields(label: dict[str, Any], signal: Signal) -> list[str]:
    """Return the names of the fields in which a signal differs from its label.

    A time frame is compared only where the label has one: many posts leave it open.
    """
    read = read_fields(signal)
    wrong = [name for name in FIELDS if read[name] != label[name] and name != "time_frame"]
    if label["time_frame"] is not None and read["time_frame"] != label["time_frame"]:
        wrong.append("time_frame")
    if label["entry_price"] is not None and signal.exit_price != signal.price:
        wrong.append("exit_price")
    return wrong


def paired(labels: list[dict[str, Any]], signals: list[Signal]) -> tuple[list[tuple[dict[str, Any], Signal]], int, int]:
    """Pair labels with the signals that fit best; return the pairs, the missed labels and the false signals."""
    left, pairs = list(signals), []
    for label in labels:
        same = [signal for signal in left if signal.instrument.symbol == label["instrument"].symbol]
        if not same:
            continue
        best = min(same, key=lambda signal: (signal.action != label["action"], len(wrong_fields(label, signal))))
        pairs.append((label, best))
        left.remove(best)
    return pairs, len(labels) - len(pairs), len(left)


def is_price(value: object) -> bool:
    """Whether a value is a price."""
    return isinstance(value, Price)
