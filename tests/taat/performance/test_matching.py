"""Round trips: exact, first in first out, and the same as a slow model that moves unit by unit."""

from datetime import timedelta
from decimal import Decimal, localcontext
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.taat.performance.fills import CALL, NVDA, START, filled

from taat.models import AssetClass, Instrument
from taat.performance import AnnouncedFill, Matched, match_fills

D = Decimal


def test_nothing() -> None:
    assert match_fills([]) == Matched()


def test_one_trade_with_fees() -> None:
    matched = match_fills([filled(10, "100.50", fee="0.35"), filled(-10, "103.25", 90, fee="0.36")])
    (trip,) = matched.trips
    assert (trip.profit, trip.cost, trip.proceeds, trip.fees) == (D("26.79"), 1005, D("1032.50"), D("0.71"))
    assert (trip.entry_price, trip.exit_price, trip.quantity) == (D("100.5"), D("103.25"), 10)
    assert (trip.duration, trip.opened_at) == (timedelta(minutes=90), START)
    assert trip.return_percent == D("26.79") / 1005 * 100
    assert matched.positions == ()


def test_a_short_option_counts_a_hundred_times() -> None:
    (trip,) = match_fills([filled(-2, "3.10", instrument=CALL), filled(2, "1.05", 5, instrument=CALL)]).trips
    assert (trip.side, trip.profit, trip.entry_price) == ("short", 410, D("3.1"))
    assert trip.strategy == "option short"


def test_what_was_entered_first_is_left_first() -> None:
    matched = match_fills([filled(10, 100, fee=1), filled(10, 110, 1, fee=2), filled(-15, 120, 2, fee=3)])
    (position,) = matched.positions
    assert [part.amount for part in position.parts] == [10 * 20 + 5 * 10 - 1 - 1 - 3]
    assert [(lot.quantity, lot.price, lot.fee) for lot in position.lots] == [(5, 110, 1)]
    assert (position.quantity, position.average_price, position.cost, position.fees) == (5, 110, 550, 1)
    assert position.unrealised(D(112)) == 9
    assert matched.trips == ()


def test_scaling_in_and_out_is_one_trade() -> None:
    fills = [filled(10, 100), filled(5, 90, 1), filled(-5, 120, 2), filled(-5, 80, 3), filled(-5, 100, 4)]
    (trip,) = match_fills(fills).trips
    assert (trip.quantity, trip.cost, trip.profit) == (15, 1450, 50)
    assert [part.amount for part in trip.parts] == [100, -100, 50]


def test_selling_more_than_held_turns_the_position() -> None:
    fills = [filled(10, 100, fee=1), filled(-25, 110, 1, fee=5), filled(15, 100, 2)]
    long, short = match_fills(fills).trips
    assert (long.side, long.profit, long.fees) == ("long", 100 - 1 - 2, 3)
    assert (short.side, short.profit, short.fees, short.quantity) == ("short", 150 - 3, 3, 15)
    assert [len(trip.fills) for trip in (long, short)] == [2, 2]


def test_announcers_and_instruments_are_apart() -> None:
    ann = filled(-10, 105, 1, announcer="ann")
    crypto = Instrument(symbol="NVDA", asset=AssetClass.CRYPTO)
    matched = match_fills([filled(10, 100), ann, filled("0.5", 3, 2, instrument=crypto)])
    assert matched.trips == ()
    assert [(p.announcer, p.side, p.quantity) for p in matched.positions] == [
        ("pat", "long", 10),
        ("ann", "short", 10),
        ("pat", "long", D("0.5")),
    ]


def test_the_same_fill_again_changes_nothing_and_the_order_of_telling_neither() -> None:
    fills = [filled(10, 100, 0, id="a"), filled(-4, 101, 1, id="b"), filled(-6, 102, 2, id="c")]
    assert match_fills([*reversed(fills), *fills]) == match_fills(fills)


def test_a_fee_that_cannot_be_divided_evenly_is_counted_whole() -> None:
    fills = [filled(3, 100, fee=1), *(filled(-1, 100, minute) for minute in (1, 2, 3))]
    (trip,) = match_fills(fills).trips
    assert trip.realised == trip.profit == -1


# -- a slow model ------------------------------------------------------------------------------------------------------

events = st.lists(
    st.tuples(
        st.integers(-6, 6).filter(bool),
        st.decimals("0.01", "999.99", places=2),
        st.decimals(0, "9.99", places=2),
        st.sampled_from(["pat", "ann"]),
        st.sampled_from([NVDA, CALL]),
    ),
    max_size=25,
)


def unit_by_unit(fills: list[AnnouncedFill]) -> tuple[list[Fraction], dict[tuple[str, str], list[Fraction]]]:
    """Return the profits of round trips in their order, and the prices of what is open; each unit moves alone."""
    profits: list[Fraction] = []
    queues: dict[tuple[str, str], list[Fraction]] = {}
    signs: dict[tuple[str, str], int] = {}
    flows: dict[tuple[str, str], Fraction] = {}
    for executed in fills:
        key = (executed.announcer, str(executed.instrument))
        units = 100 if executed.instrument == CALL else 1
        price, sign = Fraction(executed.fill.price), 1 if executed.fill.side == "buy" else -1
        fee = Fraction(executed.fill.fee) / int(executed.fill.quantity)
        queue = queues.setdefault(key, [])
        for _ in range(int(executed.fill.quantity)):
            flows[key] = flows.get(key, Fraction(0)) - sign * price * units - fee
            if queue and signs[key] != sign:
                queue.pop(0)
                if not queue:
                    profits.append(flows.pop(key))
            else:
                queue.append(price)
                signs[key] = sign
    return profits, {key: queue for key, queue in queues.items() if queue}


@settings(max_examples=300)
@given(events)
def test_the_same_as_unit_by_unit(drawn: list[tuple[int, Decimal, Decimal, str, Instrument]]) -> None:
    fills = [
        filled(quantity, price, minute, fee=fee, announcer=announcer, instrument=instrument)
        for minute, (quantity, price, fee, announcer, instrument) in enumerate(drawn)
    ]
    matched = match_fills(fills)
    profits, queues = unit_by_unit(fills)
    with localcontext() as context:
        context.prec = 60
        # a fee divided by a turned position is rounded to 12 places on both sides of it
        assert len(matched.trips) == len(profits)
        for trip, profit in zip(matched.trips, profits, strict=True):
            assert abs(Fraction(trip.profit) - profit) < Fraction(1, 10**10)
            assert trip.realised == trip.profit
        open_lots = {
            (position.announcer, str(position.instrument)): [
                Fraction(lot.price) for lot in position.lots for _ in range(int(lot.quantity))
            ]
            for position in matched.positions
        }
        assert open_lots == queues
        # all money is accounted for, exactly: realised, and what is tied up in open lots
        cash = sum((-f.value if f.fill.side == "buy" else f.value) - f.fill.fee for f in fills)
        tied = sum((p.cost if p.side == "long" else -p.cost) + p.fees for p in matched.positions)
        assert sum(part.amount for part in matched.realised) == cash + tied
    assert len(matched.fills) >= len(fills)
    assert sum(f.fill.quantity for f in matched.fills) == sum(f.fill.quantity for f in fills)
