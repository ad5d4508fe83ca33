"""Figures: by hand, at the edges, and against a second way to compute them."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from statistics import mean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.taat.performance.fills import CALL, NVDA, START, filled

from taat.performance import (
    EquityPoint,
    Figures,
    Realised,
    buy_and_hold,
    daily_amounts,
    drawdown,
    equity_curve,
    figures_of,
    grouped,
    match_fills,
    sharpe,
    split,
    underwater,
)

D = Decimal
CAPITAL = D(10_000)
TRADES = [
    filled(10, 100, 0, announced=99, delay=30, fee=1),
    filled(-10, 110, 60, announced=111, delay=90, fee=1),
    filled(10, 100, 1440, time_frame="swing"),
    filled(-10, 95, 1500),
    filled(1, 3, 10, instrument=CALL, announcer="ann"),
]


def test_without_trades_nothing_is_claimed() -> None:
    assert figures_of("all", match_fills([]), capital=CAPITAL) == Figures(
        name="all", return_percent=D(0), maximum_drawdown_percent=D(0), unrealised=D(0)
    )
    assert grouped(match_fills([]), "symbol") == []


def test_by_hand() -> None:
    figures = figures_of("all", match_fills(TRADES), capital=CAPITAL, marks={CALL: D(4)})
    assert (figures.trades, figures.wins, figures.losses, figures.open_positions) == (2, 1, 1, 1)
    assert (figures.profit, figures.fees, figures.unrealised) == (48, 2, 100)
    assert (figures.return_percent, figures.win_rate) == (D("0.48"), D("0.5"))
    assert (figures.expectancy, figures.expectancy_percent) == (24, D("2.4"))
    assert (figures.average_win, figures.average_loss, figures.best, figures.worst) == (98, -50, 98, -50)
    assert figures.profit_factor == D(98) / 50
    assert figures.maximum_drawdown == 50
    assert figures.maximum_drawdown_percent is not None
    assert figures.maximum_drawdown_percent.quantize(D("0.0001")) == D("0.4951")
    assert figures.time_in_trade == timedelta(hours=1)
    assert (figures.slippage, figures.slippage_percent) == (20, D("0.95238095"))
    assert figures.delay_seconds == 60


def test_one_trade_and_a_missing_price() -> None:
    figures = figures_of("all", match_fills(TRADES[:2]))
    assert (figures.trades, figures.win_rate, figures.expectancy) == (1, 1, 98)
    assert figures.return_percent is figures.sharpe is figures.profit_factor is figures.average_loss is None
    assert figures.maximum_drawdown_percent is None
    assert figures_of("all", match_fills(TRADES)).unrealised is None


def test_a_trade_that_earns_nothing_is_neither_won_nor_lost() -> None:
    figures = figures_of("all", match_fills([filled(1, 100), filled(-1, 100, 1)]), capital=CAPITAL)
    assert (figures.wins, figures.losses, figures.win_rate, figures.profit_factor) == (0, 0, 0, None)


def test_groups() -> None:
    matched = match_fills([*TRADES, filled(-1, 5, 20, instrument=CALL, announcer="ann")])
    assert [(f.name, f.profit) for f in grouped(matched, "announcer")] == [("ann", 200), ("pat", 48)]
    assert [(f.name, f.profit) for f in grouped(matched, "symbol")] == [("AAPL", 200), ("NVDA", 48)]
    assert [(f.name, f.profit) for f in grouped(matched, "strategy")] == [
        ("option long", 200),
        ("stock long", 98),
        ("stock swing long", -50),
    ]


@given(st.lists(st.tuples(st.integers(-5, 5).filter(bool), st.integers(1, 99), st.sampled_from("abc")), max_size=20))
def test_the_groups_add_up(drawn: list[tuple[int, int, str]]) -> None:
    fills = [
        filled(quantity, price, 700 * number, announcer=who, fee="0.07", announced=price + 1, time_frame=who)
        for number, (quantity, price, who) in enumerate(drawn)
    ]
    matched = match_fills(fills)
    whole = figures_of("all", matched, capital=CAPITAL)
    for by in ("announcer", "symbol", "strategy"):
        parts = [figures_of(name, part, capital=CAPITAL) for name, part in split(matched, by).items()]
        for name in ("trades", "wins", "losses", "open_positions", "profit", "fees"):
            assert sum(getattr(part, name) for part in parts) == getattr(whole, name)
        assert sum(part.slippage or 0 for part in parts) == (whole.slippage or 0)


# -- curve, drawdown and Sharpe ratio ----------------------------------------------------------------------------------


def earned(*amounts: object, hours: float = 24) -> list[Realised]:
    return [
        Realised(at=START + timedelta(hours=hours * number), quantity=D(1), amount=D(str(amount)))
        for number, amount in enumerate(amounts)
    ]


def test_a_curve_has_one_point_for_each_moment() -> None:
    curve = equity_curve(earned(5, -3, 4, hours=0), CAPITAL, START - timedelta(days=1))
    assert [(point.at, point.equity) for point in curve] == [(START - timedelta(days=1), 10_000), (START, 10_006)]
    assert [point.equity for point in equity_curve(earned(5, -3), CAPITAL)] == [10_000, 10_005, 10_002]
    assert equity_curve([], CAPITAL) == []


amounts = st.lists(st.decimals(-500, 500, places=2), max_size=30)


@given(amounts)
def test_the_drawdown_is_the_deepest_of_all_falls(values: list[Decimal]) -> None:
    curve = equity_curve(earned(*values), CAPITAL, START - timedelta(hours=1))
    falls = [a.equity - b.equity for number, a in enumerate(curve) for b in curve[number:]]
    deepest = drawdown(curve)
    assert deepest.amount == max([D(0), *falls])
    shares = [
        (a.equity - b.equity) / a.equity * 100 for number, a in enumerate(curve) for b in curve[number:] if a.equity > 0
    ]
    assert deepest.percent == (max(shares) if shares else None)
    if deepest.amount:
        equity = {point.at: point.equity for point in curve}
        assert deepest.peak_at is not None
        assert deepest.trough_at is not None
        assert equity[deepest.peak_at] - equity[deepest.trough_at] == deepest.amount
    below = underwater(curve)
    assert len(below) == len(curve)
    assert all(percent <= 0 for _, percent in below)


def test_a_fall_below_zero_has_no_percentage_when_the_peak_was_not_above_zero() -> None:
    points = [EquityPoint(at=START, equity=D(0)), EquityPoint(at=START, equity=D(-5))]
    assert (drawdown(points).amount, drawdown(points).percent) == (5, None)
    assert drawdown([]).amount == 0


@given(amounts)
def test_the_sharpe_ratio_against_the_statistics_module(values: list[Decimal]) -> None:
    realised = earned(*values)
    days, equity, returns = daily_amounts(realised), float(CAPITAL), []
    for amount in days.values():
        returns.append(float(amount) / equity)
        equity += float(amount)
    ratio = sharpe(realised, CAPITAL)
    if len(returns) < 5 or stdev(returns) < 1e-11:
        assert ratio is None
    else:
        assert ratio == pytest.approx(mean(returns) / stdev(returns) * 252**0.5, rel=1e-6, abs=1e-9)


def test_no_variation_too_few_days_and_lost_capital_give_no_ratio() -> None:
    assert sharpe([], CAPITAL) is None
    assert sharpe(earned(5), CAPITAL) is None
    assert sharpe(earned(5, 6, 7, 8), CAPITAL) is None
    assert sharpe(earned(5, 6, 7, 8, 9), CAPITAL) is not None
    assert sharpe(earned(0, 0, 0, 0, 0), CAPITAL) is None
    assert sharpe(earned(-10_000, 5, 5, 5, 5), CAPITAL) is None


def test_days_on_which_nothing_was_earned_count_if_they_are_weekdays() -> None:
    friday = datetime(2026, 3, 6, 20, tzinfo=UTC)
    parts = [Realised(at=friday + timedelta(days=day), quantity=D(1), amount=D(1)) for day in (0, 1, 4, 4)]
    assert daily_amounts(parts) == {
        date(2026, 3, 6): 1,
        date(2026, 3, 7): 1,
        date(2026, 3, 9): 0,
        date(2026, 3, 10): 2,
    }
    assert min(daily_amounts(parts, date(2026, 3, 4))) == date(2026, 3, 4)
    assert daily_amounts([]) == {}


# -- benchmark ---------------------------------------------------------------------------------------------------------


def days(*prices: object) -> list[tuple[datetime, Decimal]]:
    return [(START + timedelta(days=number), D(str(price))) for number, price in enumerate(prices)]


def test_buying_and_holding() -> None:
    prices, start, end = days(400, 500, 450, 550), START + timedelta(hours=30), START + timedelta(days=5)
    held = buy_and_hold("SPY", reversed(prices), CAPITAL, start, end)
    assert held is not None
    assert [(point.at, point.equity) for point in held.points] == [
        (start, 10_000),
        (START + timedelta(days=2), 9_000),
        (START + timedelta(days=3), 11_000),
        (end, 11_000),
    ]
    assert (held.return_percent, held.drawdown.percent) == (10, 10)


def test_prices_that_say_nothing() -> None:
    end = START + timedelta(days=1)
    assert buy_and_hold("SPY", [], CAPITAL, START, end) is None
    assert buy_and_hold("SPY", days(0, 0), CAPITAL, START, end) is None
    assert buy_and_hold("SPY", [(end + timedelta(days=1), D(5))], CAPITAL, START, end) is None
    late = buy_and_hold("SPY", [(end, D(5))], CAPITAL, START, end)
    assert late is not None
    assert [point.at for point in late.points] == [end]
    assert late.return_percent == 0


def test_the_instruments_of_one_symbol_are_one_group() -> None:
    matched = match_fills([filled(1, 1, instrument=CALL), filled(1, 1), filled(-1, 2, 1)])
    assert list(split(matched, "symbol")) == ["AAPL", "NVDA"]
    assert NVDA in {trip.instrument for trip in matched.trips}
