"""Reading with a language model: what the post does not bear out is dropped."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from longmind import InvalidAnswer
from longmind.testing import ScriptedModel
from taat.models import Holding, Instrument, Level, Post, Price
from taat.signals import read_with_model

TEXT = "Ringing the register on $SHOP at 66.10, trailing the rest from 64"
POST = Post(id="1", author="a", text=TEXT, created_at=datetime(2023, 6, 14, tzinfo=UTC))
GOOD = {
    "quote": "Ringing the register on $SHOP at 66.10",
    "symbol": "SHOP",
    "action": "reduce",
    "side": "long",
    "price": 66.10,
    "stop": {"value": 64, "unit": "price"},
}


async def test_a_signal_that_the_post_bears_out_is_read() -> None:
    model = ScriptedModel({"signals": [GOOD]})
    (signal,) = await read_with_model(model.chat(), POST)
    assert (signal.action, signal.instrument.symbol) == ("reduce", "SHOP")
    assert signal.price == Price(low=Decimal("66.1"), high=Decimal("66.1"))
    assert signal.stop == Level(value=Decimal(64))
    assert TEXT[signal.span.start : signal.span.end] == GOOD["quote"]
    assert TEXT in model.requests[0].messages[-1].content
    assert TEXT not in model.requests[0].messages[0].content


@pytest.mark.parametrize(
    "change",
    [
        {"quote": "Ringing the registers on $SHOP"},
        {"symbol": "AMZN"},
        {"price": 66.2},
        {"stop": {"value": 63, "unit": "price"}},
        {"strike": 70, "right": "call", "asset": "option"},
    ],
)
async def test_what_is_not_in_the_post_is_dropped(change: dict[str, object]) -> None:
    assert await read_with_model(ScriptedModel({"signals": [GOOD | change]}).chat(), POST) == ()


async def test_an_answer_outside_the_schema_is_an_error() -> None:
    wrong = {"signals": [GOOD | {"action": "yolo"}]}
    with pytest.raises(InvalidAnswer):
        await read_with_model(ScriptedModel(*[wrong] * 6).chat(), POST)


async def test_an_open_position_may_be_meant() -> None:
    held = Holding(instrument=Instrument(symbol="SHOP"), side="long", entry=Decimal(60))
    post = POST.model_copy(update={"text": "ringing the register"})
    answer = {"signals": [{"quote": "ringing the register", "symbol": "SHOP", "action": "close"}]}
    (signal,) = await read_with_model(ScriptedModel(answer).chat(), post, [held])
    assert (signal.side, signal.instrument) == ("long", held.instrument)
