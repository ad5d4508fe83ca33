"""``taat signals``: what the posts of a feed announce."""

import asyncio
import sys
from contextlib import aclosing
from decimal import Decimal
from typing import Annotated

import typer

from taat.cli import screen
from taat.feeds import Feed, open_feed, sample_feed
from taat.models import Level, Post, Price, Quantity, Signal
from taat.signals import PostReader, signal_json

_UNITS = {"price": "", "points": " pts", "percent": "%"}
_COLUMNS = (16, 14, 11, 5, 22, 14, 8, 9, 18, 4)
_HEAD = ("posted (UTC)", "author", "action", "side", "instrument", "price", "size", "stop", "targets", "conf")
_QUOTED = 80


def signals(
    feed: Annotated[
        str | None,
        typer.Option(
            metavar="FEED",
            help="file:PATH (JSON lines or CSV with id, author, text, created_at), - for the standard input, "
            "x:ACCOUNT,ACCOUNT or x-poll:ACCOUNT,ACCOUNT for accounts on X, webhook:PORT for what is sent there. "
            "By default the invented posts that come with the package.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line for each post, with an empty list for chatter.")
    ] = False,
) -> None:
    """Tell which trades the posts of a feed announce.

    Posts are read in the order of the feed, each with what its author is known to hold from the posts before. A post
    that comes again, also edited, is read again but changes nothing that is held.
    """
    with screen.problems_told(as_json=as_json):
        source = open_feed(feed) if feed is not None else sample_feed()
        asyncio.run(_told(source, as_json=as_json))


async def _told(feed: Feed, *, as_json: bool) -> None:
    """Write what each post of a feed announces to the standard output."""
    reader, posts, announced = PostReader(), 0, 0
    out = sys.stdout
    if not as_json:
        out.write(_row(_HEAD) + "  from\n")
    async with aclosing(feed.deliveries()) as deliveries:
        async for post, _ in deliveries:
            found = reader.read(post)
            posts, announced = posts + 1, announced + len(found)
            if as_json:
                line = {"id": post.id, "signals": [signal_json(signal, post.text) for signal in found]}
                out.write(screen.json_line(line))
            else:
                out.write("".join(_shown(post, signal) for signal in found))
            if feed.live:
                out.flush()  # whoever feeds us live wants to see it now
    if not as_json:
        out.write(f"{announced:,} signal{'s' * (announced != 1)} in {posts:,} post{'s' * (posts != 1)}.\n")


def _row(cells: tuple[str, ...]) -> str:
    return "  ".join(_fitted(cell, width) for cell, width in zip(cells, _COLUMNS, strict=True))


def _fitted(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else text[: width - 1] + "…"


def _shown(post: Post, signal: Signal) -> str:
    cells = (
        f"{post.created_at:%Y-%m-%d %H:%M}",
        screen.plain(post.author),
        signal.action,
        signal.side or "",
        str(signal.instrument),
        _price(signal.price),
        _quantity(signal.quantity),
        _level(signal.stop) if signal.stop else "",
        ", ".join(_level(target) for target in signal.targets),
        f"{signal.confidence:.2f}",
    )
    quoted = screen.plain(post.text[signal.span.start : signal.span.end])
    return f"{_row(cells)}  {quoted if len(quoted) <= _QUOTED else quoted[: _QUOTED - 1] + '…'}\n"


def _number(value: Decimal) -> str:
    return f"{value.normalize():f}"


def _price(price: Price | None) -> str:
    if price is None:
        return ""
    return _number(price.low) if price.low == price.high else f"{_number(price.low)}-{_number(price.high)}"


def _quantity(quantity: Quantity | None) -> str:
    if quantity is None:
        return ""
    return _number(quantity.value) if quantity.unit == "units" else f"{_number(round(100 * quantity.value, 1))}%"


def _level(level: Level) -> str:
    return f"{_number(level.value)}{_UNITS[level.unit]}"
