"""A folder as ``taat run`` leaves it: a memory with announcers and executions."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

from tests.taat.performance.fills import CALL, NVDA, START

from taat.cli.place import Place
from taat.memory import Announcer, Execution, open_memory
from taat.memory.events import execution_event
from taat.memory.store import announcer_entry, day_entries
from taat.models import Fill, Instrument, Order


def execution(
    number: int,
    quantity: int,
    price: object,
    minutes: float,
    *,
    announcer: str = "pat",
    instrument: Instrument = NVDA,
    announced: object = None,
    purpose: str = "entry",
    strategy: str | None = None,
) -> Execution:
    at = START + timedelta(minutes=minutes)
    id, side = f"f{number}", "buy" if quantity > 0 else "sell"
    order = Order(client_id=f"s{number}-{purpose}", instrument=instrument, side=side, quantity=abs(quantity))
    fill = Fill(
        id=id,
        client_id=order.client_id,
        instrument=instrument,
        side=side,
        quantity=abs(quantity),
        price=Decimal(str(price)),
        fee=Decimal("0.50"),
        filled_at=at,
    )
    return Execution(
        id=id,
        signal=f"s{number}",
        trade="s1",
        announcer=announcer,
        instrument=instrument,
        strategy=strategy or instrument.asset.value,
        purpose=purpose,
        order=order,
        status="filled",
        fills=(fill,),
        announced_price=Decimal(str(announced)) if announced is not None else None,
        announced_at=at - timedelta(seconds=40),
        at=at,
    )


TRADES = (
    execution(1, 10, "100", 0, announced="99.5"),
    execution(2, -10, "110", 60, purpose="exit", announced="110"),
    execution(3, -5, "100", 1440, announcer="ann", strategy="swing"),
    execution(4, 5, "104", 1500, announcer="ann", purpose="stop", announced="50"),
    execution(5, 2, "3.10", 1600, instrument=CALL),
)


def make_memory(folder: Path, executions: Sequence[Execution] = TRADES) -> None:
    """Write executions and their announcers into the memory of a folder."""
    place = Place(folder)
    place.prepare()
    asyncio.run(_write(place.memory, executions))


async def _write(path: Path, executions: Sequence[Execution]) -> None:
    announcers = sorted({execution.announcer for execution in executions})
    async with open_memory(path) as memory:
        entries = day_entries((execution.announcer, execution_event(execution)) for execution in executions)
        entries += [announcer_entry(_announcer(name, START)) for name in announcers]
        await memory.write(entries, "a test")


def _announcer(name: str, at: datetime) -> Announcer:
    return Announcer(name=name, first_post_at=at, latest_post_at=at + timedelta(days=2), posts=7, signals=3)
