"""The forms that must be right in every field, the labelled posts, and what posts mean in context."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from tests.taat.signals.labelled_posts import load, paired, wrong_fields

from taat.models import AssetClass, Holding, Instrument, Level, Post, Price, Quantity
from taat.signals import holdings_after, read_post, signal_json


def post(text: str, at: datetime = datetime(2023, 6, 14, 15, tzinfo=UTC)) -> Post:
    return Post(id="1", author="announcer", text=text, created_at=at)


def at(value: str) -> Price:
    return Price(low=Decimal(value), high=Decimal(value))


AAPL = Instrument(symbol="AAPL", asset=AssetClass.OPTION, expiry=date(2023, 7, 21), strike=Decimal(190), right="call")
NVDA = Holding(
    instrument=Instrument(symbol="NVDA"), side="long", entry=Decimal(120), opened_at=datetime(2023, 6, 1, tzinfo=UTC)
)
TSLA = Holding(
    instrument=Instrument(symbol="TSLA"), side="short", entry=Decimal(260), opened_at=datetime(2023, 6, 2, tzinfo=UTC)
)


def test_a_brokerage_code_is_right_in_every_field() -> None:
    text = "BTO 1 AAPL 190C 07/21 @ 3 PT: 85% SL: 50%"
    (signal,) = read_post(post(text))
    assert signal.instrument == AAPL
    assert (signal.action, signal.side, signal.price) == ("open", "long", at("3"))
    assert signal.quantity == Quantity(value=Decimal(1))
    assert signal.stop == Level(value=Decimal(50), unit="percent")
    assert signal.targets == (Level(value=Decimal(85), unit="percent"),)
    assert text[signal.span.start : signal.span.end] == text
    assert signal.confidence > 0.9


def test_an_index_alert_has_two_signals() -> None:
    text = "ALERT: flat stopped $SPX, re-entry short IN 4313 - 10 pt stop"
    stopped, opened = read_post(post(text))
    assert (stopped.action, stopped.side, stopped.instrument.symbol) == ("stopped_out", "short", "SPX")
    assert text[stopped.span.start : stopped.span.end] == "flat stopped $SPX"
    assert (opened.action, opened.side, opened.price) == ("open", "short", at("4313"))
    assert opened.stop == Level(value=Decimal(10), unit="points")
    assert opened.instrument == stopped.instrument == Instrument(symbol="SPX", asset=AssetClass.INDEX)
    assert text[opened.span.start : opened.span.end] == "re-entry short IN 4313 - 10 pt stop"


def test_a_scale_is_closed_in_profit_so_entry_and_exit_tell_the_side() -> None:
    (signal,) = read_post(post("Closed 2nd scale $NDX IN 13720 OUT 12484"))
    assert (signal.action, signal.side) == ("reduce", "short")
    assert (signal.entry_price, signal.exit_price, signal.price) == (at("13720"), at("12484"), at("12484"))


def test_what_is_held_goes_before_entry_and_exit() -> None:
    held = Holding(instrument=Instrument(symbol="NDX", asset=AssetClass.INDEX), side="long")
    (signal,) = read_post(post("Closed 2nd scale $NDX IN 13720 OUT 12484"), [held])
    assert signal.side == "long"


def test_without_profit_or_loss_entry_and_exit_tell_no_side() -> None:
    (signal,) = read_post(post("$SPX closed my trade IN 4388 OUT 4361"))
    assert signal.side is None
    assert signal.price == at("4361")


def test_prose_is_right_in_every_field() -> None:
    text = "took half off my $NVDA here at 131"
    (signal,) = read_post(post(text))
    assert (signal.action, signal.side, signal.price) == ("reduce", "long", at("131"))
    assert signal.quantity == Quantity(value=Decimal("0.5"), unit="fraction")
    assert signal.instrument == Instrument(symbol="NVDA")
    assert text[signal.span.start : signal.span.end] == text


DEVELOPMENT = [labelled for name in ("development", "fresh", "second", "announcers") for labelled in load(name)]


@pytest.mark.parametrize("labelled", DEVELOPMENT, ids=lambda labelled: labelled.post.id)
def test_every_post_of_the_development_half_is_read_rightly(labelled: object) -> None:
    signals = list(read_post(labelled.post, labelled.holdings))  # type: ignore[attr-defined]
    pairs, missed, extra = paired(labelled.signals, signals)  # type: ignore[attr-defined]
    assert (missed, extra) == (0, 0)
    assert [wrong_fields(label, signal) for label, signal in pairs] == [[] for _ in pairs]


@pytest.mark.parametrize("name", ["heldout", "unseen"])
def test_held_out_posts_stay_above_their_floor(name: str) -> None:
    labels = exact = false_alarms = chatter = 0
    for labelled in load(name):
        signals = list(read_post(labelled.post, labelled.holdings))
        pairs, _, _ = paired(labelled.signals, signals)
        labels += len(labelled.signals)
        exact += sum(not wrong_fields(label, signal) for label, signal in pairs)
        chatter += not labelled.signals
        false_alarms += bool(signals) and not labelled.signals
    assert exact / labels >= FLOOR
    assert false_alarms / chatter <= CEILING


FLOOR, CEILING = 0.93, 0.03
"""What is asked of posts that no rule was written for: some are read wrongly, and stay to be mended at the root."""


def test_an_unclear_reference_among_several_positions_has_a_low_confidence() -> None:
    signals = read_post(post("closed the rest"), [NVDA, TSLA])
    assert all(signal.confidence < 0.5 for signal in signals)
    undated = [holding.model_copy(update={"opened_at": None}) for holding in (NVDA, TSLA)]
    assert read_post(post("closed the rest"), undated) == ()


def test_a_side_tells_which_position_is_meant() -> None:
    (signal,) = read_post(post("covered the rest 241"), [NVDA, TSLA])
    assert (signal.instrument.symbol, signal.side, signal.action) == ("TSLA", "short", "close")


def test_all_out_closes_everything() -> None:
    undated = [holding.model_copy(update={"opened_at": None}) for holding in (NVDA, TSLA)]
    signals = read_post(post("all out"), undated)
    assert {signal.instrument.symbol for signal in signals} == {"NVDA", "TSLA"}
    assert {signal.action for signal in signals} == {"close"}


def test_without_a_position_a_reference_announces_nothing() -> None:
    for text in ("closed the rest", "stop to flat", "out here", "trimmed more"):
        assert read_post(post(text)) == ()


def test_fewer_contracts_than_are_held_is_a_part() -> None:
    holdings = holdings_after((), read_post(post("BTO 3 AAPL 190C 07/21 @ 3")))
    (signal,) = read_post(post("STC 1 AAPL 190C 07/21 @ 4"), holdings)
    assert signal.action == "reduce"
    holdings = holdings_after(holdings, [signal])
    assert holdings[0].units == 2
    (signal,) = read_post(post("STC 2 AAPL 190C @ 5"), holdings)
    assert (signal.action, signal.instrument) == ("close", AAPL)
    assert holdings_after(holdings, [signal]) == ()


def test_a_thread_of_posts_is_followed() -> None:
    holdings: tuple[Holding, ...] = ()
    actions = []
    for text in (
        "ALERT: short $SPX IN 4388 - 10 pt stop",
        "1st scale 4376",
        "stop to flat",
        "flat stopped",
    ):
        signals = read_post(post(text), holdings)
        holdings = holdings_after(holdings, signals)
        actions += [(signal.action, signal.side, signal.instrument.symbol) for signal in signals]
    assert actions == [(action, "short", "SPX") for action in ("open", "reduce", "stop_moved", "stopped_out")]
    assert holdings == ()


@pytest.mark.parametrize(
    ("day", "expiry"),
    [
        (datetime(2023, 12, 20, 15, tzinfo=UTC), date(2024, 1, 5)),
        (datetime(2024, 1, 4, 15, tzinfo=UTC), date(2024, 1, 5)),
        (datetime(2024, 1, 6, 1, tzinfo=UTC), date(2024, 1, 5)),
    ],
)
def test_the_year_of_an_expiry_comes_from_the_day_of_the_post(day: datetime, expiry: date) -> None:
    (signal,) = read_post(post("BTO 1 AAPL 190C 01/05 @ 3", day))
    assert signal.instrument.expiry == expiry


def test_reading_is_the_same_each_time() -> None:
    text = "Sold $AAPL at 184, bought $MSFT at 335, moved stop on $NKE to 107"
    assert len({read_post(post(text)) for _ in range(3)}) == 1


def test_a_signal_as_json() -> None:
    text = "BTO 2 QQQ 366C 06/16 @ 1.20-1.30 SL .80 PT 1.8/2.4"
    (signal,) = read_post(post(text))
    form = signal_json(signal, text)
    assert (form["symbol"], form["action"], form["side"]) == ("QQQ", "open", "long")
    assert form["price"] == 1.25
    assert form["price_range"] == [1.2, 1.3]
    assert (form["quantity"], form["quantity_unit"]) == (2, "units")
    assert (form["stop"], form["stop_unit"]) == (0.8, "price")
    assert (form["targets"], form["target_units"]) == ([1.8, 2.4], ["price", "price"])
    assert (form["expiry"], form["strike"], form["right"], form["asset"]) == ("2023-06-16", 366, "call", "option")
    assert form["span"] == text


@pytest.mark.parametrize(
    "text", ["", " ", "$", "@", "BTO", "BTO @ 3", "sold 1/0 $AAPL", "stop 0", "$AAPL " * 60, "🚨" * 50, "BTO " * 400]
)
def test_odd_texts_are_no_error(text: str) -> None:
    read_post(post(text))
