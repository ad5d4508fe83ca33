"""Each rule refuses what it is for, with a reason, and lets the rest pass."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.taat.validation.cases import (
    AT,
    BTC,
    CALL,
    NVDA,
    SPX,
    account,
    holding,
    price,
    quote,
    signal,
    situation,
)

from taat.models import AssetClass, Instrument, Level, Quantity
from taat.validation import AnnouncerRecord, Verdict, fingerprint, validate

D = Decimal


def judged(
    signal_changes: dict[str, Any] | None = None, rules: dict[str, Any] | None = None, **changes: Any
) -> Verdict:
    return validate(signal(**(signal_changes or {})), situation(rules, **changes))


def test_all_is_fine() -> None:
    verdict = judged()
    assert (verdict.outcome, verdict.reasons) == ("accepted", ())
    assert verdict.size == 49  # 5 % of 100,000 at the ask of 100.1
    assert verdict.price == D("100.1")
    names = [check.rule for check in verdict.checks]
    assert len(names) == len(set(names)) == 23
    assert all(check.reason.endswith(".") for check in verdict.checks)


OLD_CALL = CALL.model_copy(update={"expiry": AT.date() - timedelta(days=1)})
NO_STRIKE = Instrument(symbol="AAPL", asset=AssetClass.OPTION, expiry=AT.date())


@pytest.mark.parametrize(
    ("rule", "signal_changes", "rules", "changes", "words"),
    [
        ("allowed_symbols", {}, {"allowed_symbols": ("AAPL", "msft")}, {}, "NVDA is not among the allowed symbols."),
        ("blocked_symbols", {}, {"blocked_symbols": ("$nvda",)}, {}, "NVDA is blocked."),
        ("asset_classes", {}, {"asset_classes": ("crypto",)}, {}, "NVDA is of the kind stock, which is not traded."),
        ("instrument", {"instrument": OLD_CALL}, {}, {"quote": quote(OLD_CALL)}, "AAPL 265C 03/01/26 has expired."),
        ("instrument", {"instrument": NO_STRIKE}, {}, {}, "The option has no strike and no right."),
        ("side", {"side": None}, {}, {}, "The announcement does not tell whether it is long or short."),
        ("side", {"side": "short"}, {"allow_short": False}, {}, "Short positions are not allowed."),
        ("confidence", {"confidence": 0.55}, {}, {}, "The reading is too unsure: 0.55 of 0.60."),
        ("announcer_suspended", {}, {"announcer_suspended": True}, {}, "pat is suspended."),
        (
            "announcer_record",
            {},
            {},
            {"record": AnnouncerRecord(trades=20, expectancy_percent=D("-0.514"))},
            "pat has an expectancy of -0.51 % in 20 closed trades; 0 % are asked for.",
        ),
        (
            "age",
            {},
            {},
            {"posted_at": AT - timedelta(seconds=301)},
            "The announcement is 5 minutes old; the limit is 5 minutes.",
        ),
        ("age", {}, {}, {"posted_at": AT + timedelta(hours=3)}, "The announcement is dated 3 hours in the future."),
        (
            "market_hours",
            {},
            {},
            {"market_open": False, "next_opening": datetime(2026, 3, 3, 14, 30, tzinfo=UTC)},
            "The market for NVDA is closed. It opens on 2026-03-03 at 14:30 UTC.",
        ),
        (
            "price_sanity",
            {"price": price(103)},
            {},
            {},
            "The announced price 103 is 3 % above the market's 100; 2 % are allowed.",
        ),
        ("price_sanity", {}, {}, {"quote": None}, "The market's price of NVDA is not known."),
        ("price_sanity", {"price": None}, {"without_quote": "accept"}, {"quote": None}, "No price of NVDA is known."),
        (
            "daily_loss",
            {},
            {},
            {"account": account(97_000, start=100_000)},
            "Today's loss is 3,000.00, and nothing is opened from 3,000.00 on.",
        ),
        (
            "daily_loss",
            {},
            {"maximum_daily_loss_money": 500},
            {"account": account(99_400, start=100_000)},
            "Today's loss is 600.00, and nothing is opened from 500.00 on.",
        ),
        (
            "open_positions",
            {},
            {"maximum_open_positions": 1},
            {"positions": (holding(1, BTC),)},
            "1 positions are open; the limit is 1.",
        ),
        (
            "one_side",
            {},
            {},
            {"positions": (holding(-5),)},
            "NVDA is held or ordered short, and an account has one side of an instrument.",
        ),
        (
            "one_side",
            {"side": "short"},
            {},
            {"opposed": "ann"},
            "NVDA is held or ordered long on the word of ann, and an account has one side of an instrument.",
        ),
        (
            "maximum_position_money",
            {},
            {},
            {"positions": (holding(99),)},
            "A position may be worth 10,000.00, and 99 are held; one more of NVDA costs 100.10.",
        ),
        (
            "maximum_position_percent",
            {},
            {"maximum_position_percent": "0.05"},
            {},
            "A position of 0.05 % of the equity may be worth 50.00; one more of NVDA costs 100.10.",
        ),
        (
            "buying_power",
            {},
            {},
            {"account": account(cash=50)},
            "49.50 may be spent; one more of NVDA costs 100.10.",
        ),
    ],
)
def test_refused(
    rule: str, signal_changes: dict[str, Any], rules: dict[str, Any], changes: dict[str, Any], words: str
) -> None:
    verdict = judged(signal_changes, rules, **changes)
    assert verdict.outcome == "refused"
    assert rule in verdict.refused_by
    assert verdict.check(rule).reason == words
    assert words in verdict.reasons
    assert words in str(verdict)
    assert verdict.size == 0


@pytest.mark.parametrize(
    ("rule", "signal_changes", "rules", "changes"),
    [
        ("confidence", {"confidence": 0.7}, {"confirm_below_confidence": 0.8}, {}),
        ("announcer_record", {}, {"announcer_minimum_trades": 3}, {"record": AnnouncerRecord(trades=2)}),
        ("edited", {}, {}, {"edited": True}),
        ("price_sanity", {}, {"without_quote": "confirm"}, {"quote": None}),
        ("levels", {"stop": Level(value=D(110))}, {}, {}),
        ("levels", {"side": "short", "stop": Level(value=D(90))}, {}, {}),
        ("levels", {"targets": (Level(value=D(90)),)}, {}, {}),
        ("confirm_above", {}, {"confirm_above_money": 1000}, {}),
    ],
)
def test_a_person_is_asked(
    rule: str, signal_changes: dict[str, Any], rules: dict[str, Any], changes: dict[str, Any]
) -> None:
    verdict = judged(signal_changes, rules, **changes)
    assert verdict.outcome == "needs_confirmation"
    assert [check.rule for check in verdict.checks if check.outcome == "needs_confirmation"] == [rule]
    assert verdict.size > 0


def test_a_refusal_counts_more_than_a_question() -> None:
    assert judged({"confidence": 0.1}, edited=True).outcome == "refused"


@pytest.mark.parametrize(
    ("signal_changes", "rules", "changes"),
    [
        ({}, {"allowed_symbols": ("nvda",)}, {}),
        ({"price": None}, {}, {}),
        ({"price": price(97, 99)}, {}, {}),
        ({"price": price(102)}, {}, {}),
        ({"instrument": CALL, "price": price("3.5")}, {}, {"quote": quote(CALL, "2.9", "3.1")}),
        ({"action": "limit", "price": price(80)}, {}, {}),
        ({"action": "limit", "side": "short", "price": price(120)}, {}, {}),
        ({}, {"market_hours_only": False}, {"market_open": False}),
        ({}, {}, {"record": AnnouncerRecord(trades=19, expectancy_percent=D(-5))}),
        (
            {},
            {"announcer_minimum_expectancy_percent": None},
            {"record": AnnouncerRecord(trades=99, expectancy_percent=D(-5))},
        ),
        ({}, {}, {"posted_at": AT - timedelta(seconds=300)}),
        ({}, {"maximum_age_seconds": None}, {"posted_at": AT - timedelta(days=3)}),
        ({}, {"maximum_open_positions": 1}, {"positions": (holding(1),)}),
        ({}, {"maximum_daily_loss_percent": None}, {"account": account(50_000, start=100_000)}),
        ({}, {}, {"account": account(99_000, start=90_000)}),
        ({"stop": Level(value=D(40), unit="percent"), "targets": (Level(value=D(80), unit="percent"),)}, {}, {}),
    ],
)
def test_accepted(signal_changes: dict[str, Any], rules: dict[str, Any], changes: dict[str, Any]) -> None:
    verdict = judged(signal_changes, rules, **changes)
    assert verdict.outcome == "accepted", str(verdict)
    assert verdict.size > 0


def test_a_limit_on_the_wrong_side_of_the_market_is_refused() -> None:
    assert judged({"action": "limit", "price": price(110)}).refused_by == ("price_sanity",)
    assert judged({"action": "limit", "side": "short", "price": price(90)}).refused_by == ("price_sanity",)


def test_the_same_announcement_again() -> None:
    earlier = {fingerprint("pat", signal()): AT - timedelta(minutes=30)}
    assert judged(earlier=earlier).refused_by == ("duplicate",)
    assert judged(earlier=earlier, announcer="ann").outcome == "accepted"
    assert judged({"price": price(101)}, earlier=earlier).outcome == "accepted"
    assert judged(rules={"duplicate_minutes": 20}, earlier=earlier).outcome == "accepted"
    assert judged({"price": price("100.00")}, earlier=earlier, announcer="PAT").refused_by == ("duplicate",)


# -- leaving a position is never refused by what protects from opening ------------------------------------------------

FORBIDDING = {
    "allowed_symbols": ("AAPL",),
    "blocked_symbols": ("NVDA",),
    "asset_classes": (),
    "allow_short": False,
    "maximum_position_money": 0,
    "maximum_position_percent": 0,
    "maximum_open_positions": 0,
    "maximum_daily_loss_money": 0,
    "maximum_age_seconds": 0,
    "minimum_confidence": 1.0,
    "announcer_suspended": True,
    "announcer_minimum_trades": 99,
    "confirm_above_money": 0,
    "price_deviation_percent_stock": 0,
}


@pytest.mark.parametrize("action", ["reduce", "close", "stopped_out", "stop_moved"])
@pytest.mark.parametrize("quantity", [-40, 40])
def test_a_position_can_always_be_left(action: str, quantity: int) -> None:
    worst = {
        "positions": (holding(quantity),),
        "market_open": False,
        "quote": None,
        "posted_at": AT - timedelta(days=9),
        "account": account(1, cash=0, start=100_000),
        "record": AnnouncerRecord(trades=99, expectancy_percent=D(-50)),
    }
    side = "long" if quantity > 0 else "short"
    verdict = judged({"action": action, "confidence": 0.41, "side": side, "price": price(5)}, FORBIDDING, **worst)
    assert verdict.outcome == "accepted", str(verdict)
    assert verdict.size == (20 if action == "reduce" else 40)
    opening = judged({"action": "add", "confidence": 0.41, "side": side, "price": price(5)}, FORBIDDING, **worst)
    assert len(opening.refused_by) >= 12


def test_what_is_not_held_cannot_be_left() -> None:
    assert judged({"action": "close"}).reasons == ("Nothing of NVDA is held on the word of pat.",)
    other = judged({"action": "close"}, positions=(holding(5),), held=D(0))
    assert other.refused_by == ("held",)
    assert judged({"action": "close", "side": "short"}, positions=(holding(5),)).refused_by == ("held",)
    assert judged({"action": "close", "side": None}, positions=(holding(-5),)).size == 5


def test_a_close_again_is_no_duplicate_but_a_reduction_again_is() -> None:
    for action, outcome in (("close", "accepted"), ("stopped_out", "accepted"), ("reduce", "refused")):
        again = {fingerprint("pat", signal(action=action)): AT - timedelta(minutes=1)}
        assert judged({"action": action}, positions=(holding(5),), earlier=again).outcome == outcome


def test_an_edited_post_closes_nothing_by_itself() -> None:
    assert judged({"action": "close"}, positions=(holding(5),), edited=True).outcome == "needs_confirmation"


# -- sizes -------------------------------------------------------------------------------------------------------------


def quantity(value: object, unit: Any = "units") -> dict[str, Any]:
    return {"quantity": Quantity(value=D(str(value)), unit=unit)}


@pytest.mark.parametrize(
    ("signal_changes", "rules", "changes", "size"),
    [
        (quantity("0.5", "fraction"), {}, {}, "24"),
        (quantity(7), {}, {}, "49"),
        (quantity(7), {"use_announced_quantity": True}, {}, "7"),
        (quantity(700), {"use_announced_quantity": True}, {}, "99"),
        (quantity(700), {"use_announced_quantity": True, "maximum_position_money": 5005}, {}, "50"),
        (quantity(700), {"use_announced_quantity": True, "maximum_position_percent": 2}, {}, "19"),
        (quantity(700), {"use_announced_quantity": True}, {"account": account(cash=1_011)}, "9"),
        ({}, {}, {"positions": (holding(60),)}, "39"),
        ({}, {}, {"account": account().model_copy(update={"buying_power": D(505)})}, "4"),
        ({"side": "short"}, {}, {}, "50"),
        ({}, {}, {"buying_power": D(505)}, "4"),
        ({"side": "short"}, {}, {"positions": (holding(-495, BTC),), "account": account(cash=100_000)}, "9"),
        ({"instrument": CALL, "price": price(3)}, {}, {"quote": quote(CALL, "2.9", "3.1")}, "16"),
        ({"instrument": CALL, "price": price(60)}, {}, {"quote": quote(CALL, 60, 60)}, "1"),
        ({"instrument": BTC, "price": price(88_400)}, {}, {"quote": quote(BTC, 88_400, 88_400)}, "0.056561"),
        ({"instrument": SPX, "side": "short", "price": price(6913)}, {}, {"quote": quote(SPX, 6913, 6914)}, "0.72"),
    ],
)
def test_the_size_of_an_opening(
    signal_changes: dict[str, Any], rules: dict[str, Any], changes: dict[str, Any], size: str
) -> None:
    verdict = judged(signal_changes, rules, **changes)
    assert (verdict.outcome, verdict.size) == ("accepted", D(size)), str(verdict)


@pytest.mark.parametrize(
    ("signal_changes", "held", "size"),
    [
        (quantity("0.5", "fraction"), 7, "3"),
        (quantity("0.01", "fraction"), 7, "1"),
        (quantity(2), 7, "2"),
        (quantity(20), 7, "7"),
        ({}, 7, "3"),
        ({}, 1, "1"),
        (quantity("0.25", "fraction"), -8, "2"),
    ],
)
def test_the_size_of_a_reduction(signal_changes: dict[str, Any], held: int, size: str) -> None:
    side = "long" if held > 0 else "short"
    verdict = judged({"action": "reduce", "side": side, **signal_changes}, positions=(holding(held),))
    assert (verdict.outcome, verdict.size) == ("accepted", D(size))


def test_a_cut_size_is_told() -> None:
    verdict = judged(positions=(holding(60),))
    assert verdict.check("maximum_position_money").reason == "A position may be worth 10,000.00: 39 instead of 49."
    assert NVDA.symbol in verdict.check("position_size").reason
