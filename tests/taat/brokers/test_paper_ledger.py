"""The paper ledger against a simple model in whole cents; the same order twice, at once, and after a kill."""

import asyncio
import json
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from taat.brokers import PaperBroker, PaperSettings
from taat.market import AnnouncedPrices
from taat.models import AssetClass, Instrument, Order

# a kill loses nothing that was written to a file system in memory either, and it is much faster
IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
T = datetime(2026, 3, 2, 15, tzinfo=UTC)
SYMBOLS = ("AAPL", "NVDA", "BTC")
INSTRUMENTS = {
    "AAPL": Instrument(symbol="AAPL"),
    "NVDA": Instrument(symbol="NVDA", asset=AssetClass.OPTION, strike=Decimal(180), right="call"),
    "BTC": Instrument(symbol="BTC", asset=AssetClass.CRYPTO),
}
UNITS = {"AAPL": 1, "NVDA": 100, "BTC": 1}
TERMS = PaperSettings(
    starting_cash=Decimal(10**12), fee_per_unit=Decimal("0.03"), fee_percent=Decimal(1), fee_minimum=Decimal(1)
)


@dataclass(frozen=True)
class Step:
    """A price, and perhaps an order at that moment. Prices are in cents."""

    symbol: str
    price: int
    order: tuple[str, str, int, int] | None  # side, kind, quantity, price of the order
    advance: bool


prices = st.integers(min_value=1, max_value=50_000)
orders = st.tuples(
    st.sampled_from(["buy", "sell"]),
    st.sampled_from(["market", "limit", "stop"]),
    st.integers(min_value=1, max_value=1000),
    prices,
)
steps = st.lists(
    st.builds(Step, st.sampled_from(SYMBOLS), prices, st.none() | orders, st.booleans()), min_size=1, max_size=25
)


@dataclass
class Model:
    """The account as one would write it on paper: whole cents, no library."""

    cash: int = 10**14
    fees: int = 0
    held: Counter[str] = field(default_factory=Counter)
    waiting: list[tuple[str, str, str, str, int, int]] = field(default_factory=list)
    filled: list[tuple[str, int]] = field(default_factory=list)

    def run(self, number: int, step: Step) -> None:
        self.waiting = [order for order in self.waiting if not self.try_to_fill(order, step)]
        if step.order is not None:
            side, kind, quantity, price = step.order
            order = (f"o{number}", step.symbol, side, kind, quantity, price)
            if not self.try_to_fill(order, step):
                self.waiting.append(order)

    def try_to_fill(self, order: tuple[str, str, str, str, int, int], step: Step) -> bool:
        name, symbol, side, kind, quantity, price = order
        if symbol != step.symbol:
            return False
        sign = 1 if side == "buy" else -1
        if kind == "limit" and sign * step.price > sign * price:
            return False
        if kind == "stop" and sign * step.price < sign * price:
            return False
        value = quantity * step.price * UNITS[symbol]
        # 3 cents a unit and one percent, rounded half up, at least a dollar
        fee = max((300 * quantity + value + 50) // 100, 100)
        self.cash -= sign * value + fee
        self.fees += fee
        self.held[symbol] += sign * quantity
        self.filled.append((name, step.price))
        return True


def order_of(number: int, step: Step) -> Order:
    assert step.order is not None
    side, kind, quantity, price = step.order
    amount = Decimal(price) / 100
    return Order(
        client_id=f"o{number}",
        instrument=INSTRUMENTS[step.symbol],
        side=side,  # type: ignore[arg-type]
        kind=kind,  # type: ignore[arg-type]
        quantity=Decimal(quantity),
        limit_price=amount if kind == "limit" else None,
        stop_price=amount if kind == "stop" else None,
        good_till="cancelled",
    )


def moment(number: int) -> datetime:
    # prices of one symbol at one moment would be one price, so every step has its own
    return T + timedelta(minutes=number)


async def run(path: Path, every: list[Step], terms: PaperSettings = TERMS, *, disturbed: bool = False) -> None:
    """Play the steps; ``disturbed`` opens the ledger anew, repeats every order, and moves time more often."""
    market = AnnouncedPrices()
    broker = PaperBroker(market, path, terms)
    for number, step in enumerate(every):
        at = moment(number)
        market.tell(INSTRUMENTS[step.symbol], Decimal(step.price) / 100, at)
        if disturbed and step.advance:
            await broker.close()
            broker = PaperBroker(market, path, terms)
        if step.advance or disturbed:
            await broker.advance(at)
        for _ in range(2 if disturbed else 1):
            if step.order is not None:
                await broker.place(order_of(number, step), at)
        if disturbed:
            await broker.advance(at)
    await broker.advance(moment(len(every)))
    await broker.close()


def content(path: Path) -> dict[str, Any]:
    """Return all that counts in a ledger: not how often it was asked."""
    database = sqlite3.connect(path)
    try:
        (account,) = database.execute("SELECT cash, realised, fees, day, day_start_equity FROM account")
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return {
            "account": account,
            "orders": database.execute(
                "SELECT client_id, status, reason, triggered, submitted_at FROM orders ORDER BY number"
            ).fetchall(),
            "fills": database.execute("SELECT * FROM fills ORDER BY number").fetchall(),
            "positions": database.execute("SELECT * FROM positions ORDER BY instrument").fetchall(),
        }
    finally:
        database.close()


@settings(max_examples=60, deadline=None)
@given(steps)
def test_the_money_is_that_of_a_model_in_whole_cents(every: list[Step]) -> None:
    model = Model()
    for number, step in enumerate(every):
        model.run(number, step)
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as directory:
        path = Path(directory) / "paper.db"
        asyncio.run(run(path, every))
        ledger = content(path)
    cash, realised, fees = (Decimal(text) for text in ledger["account"][:3])
    assert cash * 100 == model.cash
    assert fees * 100 == model.fees
    assert [(fill[2], Decimal(fill[6]) * 100) for fill in ledger["fills"]] == model.filled
    held = {key.split(":")[1]: Decimal(quantity) for key, quantity, _ in ledger["positions"]}
    assert held == {symbol: quantity for symbol, quantity in model.held.items() if quantity}
    cost = sum((Decimal(text) for *_, text in ledger["positions"]), Decimal(0))
    assert cash == TERMS.starting_cash + realised - cost - fees


@settings(max_examples=30, deadline=None)
@given(steps, st.sampled_from([None, Decimal(300)]), st.sampled_from([Decimal(10**12), Decimal(50_000)]))
def test_repeats_restarts_and_more_calls_change_nothing(
    every: list[Step], liquidity: Decimal | None, cash: Decimal
) -> None:
    terms = TERMS.model_copy(update={"liquidity": liquidity, "starting_cash": cash, "slippage_percent": Decimal("0.3")})
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as directory:
        plain, disturbed = Path(directory) / "plain.db", Path(directory) / "disturbed.db"
        asyncio.run(run(plain, every, terms))
        asyncio.run(run(disturbed, every, terms, disturbed=True))
        assert content(disturbed) == content(plain)


async def test_the_same_order_from_many_at_once_is_one_order(tmp_path: Path) -> None:
    market = AnnouncedPrices()
    market.tell(INSTRUMENTS["AAPL"], Decimal(100), T)
    brokers = [PaperBroker(market, tmp_path / "paper.db") for _ in range(8)]
    asked = [
        Order(client_id=f"o{number % 5}", instrument=INSTRUMENTS["AAPL"], side="buy", quantity=Decimal(1))
        for number in range(40)
    ]
    reports = await asyncio.gather(*(brokers[n % 8].place(order, T) for n, order in enumerate(asked)))
    assert {report.status for report in reports} == {"filled"}
    assert len({report.fills for report in reports}) == 5
    assert (await brokers[0].account()).cash == 100_000 - 500
    for broker in brokers:
        await broker.close()


_KILLED = """
import asyncio, json, os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_paper_ledger import Step, run
import taat.brokers.paper.ledger as ledger

every = [Step(s, p, tuple(o) if o else None, a) for s, p, o, a in json.loads(sys.argv[3])]
terms = __import__("test_paper_ledger").TERMS.model_copy(update={"liquidity": __import__("decimal").Decimal(30)})
statements = 0
kill_at = 0

def count(_):
    global statements
    statements += 1
    if statements == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)

prepare = ledger.Ledger._prepare
def traced(self):
    self._database.set_trace_callback(count)
    prepare(self)
ledger.Ledger._prepare = traced

directory = Path(sys.argv[2])
asyncio.run(run(directory / "plain.db", every, terms))
total = statements
points = sorted(set(range(1, total, max(1, total // 200))))
killed = 0
for point in points:
    path = directory / f"{point}.db"
    for attempt in range(2):
        pid = os.fork()
        if pid == 0:
            statements, kill_at = 0, point if attempt == 0 else -1
            asyncio.run(run(path, every, terms))
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        killed += os.WIFSIGNALED(status)
        assert attempt == 0 or status == 0
print(json.dumps({"points": points, "killed": killed}))
"""


def test_a_kill_at_any_statement_and_a_second_run_give_the_ledger_of_an_undisturbed_run() -> None:
    every = [
        Step("AAPL", 10_000, ("buy", "market", 100, 1), False),
        Step("AAPL", 10_100, ("sell", "limit", 50, 10_500), True),
        Step("BTC", 5_000, ("sell", "market", 10, 1), False),
        Step("AAPL", 10_600, ("sell", "stop", 20, 10_300), True),
        Step("BTC", 4_900, ("buy", "limit", 25, 4_950), False),
        Step("AAPL", 10_200, None, True),
        Step("AAPL", 10_150, None, True),
    ]
    listed = json.dumps([[step.symbol, step.price, step.order, step.advance] for step in every])
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as directory:
        check_kills(Path(directory), listed)


def check_kills(directory: Path, listed: str) -> None:
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, here, str(directory), listed], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert outcome["killed"] == len(outcome["points"]) >= 200
    plain = content(directory / "plain.db")
    assert len(plain["fills"]) > 5
    for point in outcome["points"]:
        assert content(directory / f"{point}.db") == plain, point
