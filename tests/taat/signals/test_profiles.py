"""What is learnt of an announcer from confirmed examples, and how it changes reading."""

from datetime import UTC, datetime
from decimal import Decimal

from taat.models import AssetClass, Instrument, Post, Price, Quantity, Signal, Span
from taat.signals import AnnouncerProfile, Phrase, learn_profile, read_post


def post(text: str) -> Post:
    return Post(id=text, author="a", text=text, created_at=datetime(2023, 6, 14, 15, tzinfo=UTC))


def signal(
    text: str, symbol: str, action: str, side: str = "long", price: str = "10", part: str | None = None
) -> Signal:
    quantity = Quantity(value=Decimal(part), unit="fraction") if part else None
    span = Span(start=0, end=len(text))
    at = Price(low=Decimal(price), high=Decimal(price))
    return Signal(
        instrument=Instrument(symbol=symbol),
        action=action,
        side=side,
        price=at,
        quantity=quantity,
        confidence=1,
        span=span,
    )


def examples(template: str, action: str) -> list[tuple[Post, list[Signal]]]:
    texts = [(template.format(symbol), symbol) for symbol in ("AMD", "TSLA", "COIN", "META")]
    return [(post(text), [signal(text, symbol, action)]) for text, symbol in texts]


def test_an_own_phrase_is_learnt_and_then_read() -> None:
    text = "pulled the trigger $SHOP 62.40"
    assert read_post(post(text)) == ()
    profile = learn_profile(examples("pulled the trigger ${} 10", "open"))
    (read,) = read_post(post(text), (), profile)
    assert (read.action, read.side, read.instrument.symbol) == ("open", "long", "SHOP")
    assert read.price == Price(low=Decimal("62.40"), high=Decimal("62.40"))
    assert profile.examples == 4


def test_a_phrase_that_means_different_things_is_not_learnt() -> None:
    mixed = examples("ringing the register ${} 10", "reduce")[:2] + examples("ringing the register ${} 10", "close")[2:]
    assert learn_profile(mixed).phrases == ()


def test_what_the_rules_read_already_is_not_learnt() -> None:
    assert learn_profile(examples("Bought ${} at 10", "open")).phrases == ()


def test_a_phrase_of_chatter_is_learnt() -> None:
    texts = [f"model portfolio: bought ${symbol} at 10" for symbol in ("AMD", "TSLA", "COIN")]
    profile = learn_profile([(post(text), []) for text in texts])
    assert read_post(post("model portfolio: bought $UBER at 10")) != ()
    assert read_post(post("model portfolio: bought $UBER at 10"), (), profile) == ()


def test_habits_fill_what_a_post_leaves_out() -> None:
    texts = [f"Trimmed 1/3 $SPX at 43{n}0" for n in range(4)]
    index = Instrument(symbol="SPX", asset=AssetClass.INDEX)
    confirmed = [
        (post(text), [signal(text, "SPX", "reduce", "short", part="0.3333").model_copy(update={"instrument": index})])
        for text in texts
    ]
    profile = learn_profile(confirmed)
    assert (profile.default_symbol, profile.default_side) == ("SPX", "short")
    assert (profile.default_asset, profile.scale) == (AssetClass.INDEX, Decimal("0.3333"))
    (read,) = read_post(post("trimmed $SPX 4320"), (), profile)
    assert (read.side, read.quantity) == ("short", Quantity(value=Decimal("0.3333"), unit="fraction"))


def test_the_usual_symbol_is_meant_when_none_is_named() -> None:
    profile = AnnouncerProfile(default_symbol="ES", default_asset=AssetClass.FUTURE)
    (read,) = read_post(post("long 4366.50, stop 4360"), (), profile)
    assert read.instrument == Instrument(symbol="ES", asset=AssetClass.FUTURE)
    assert read_post(post("long 4366.50, stop 4360")) == ()


def test_what_was_known_stays() -> None:
    known = AnnouncerProfile(phrases=(Phrase(text="yeet", action="open", side="long"),), examples=7)
    profile = learn_profile(examples("Bought ${} at 10", "open"), known)
    assert profile.phrases == known.phrases
    assert profile.examples == 11
