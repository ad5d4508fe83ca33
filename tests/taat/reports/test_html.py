"""The page: whole, escaped, without anything from elsewhere; and charts that show what they are given."""

import re
from datetime import datetime, timedelta
from decimal import Decimal
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.taat.performance.fills import CALL, NVDA, START, filled

from taat.performance import AnnouncedFill, buy_and_hold
from taat.reports import build_report, html_report, report_json
from taat.reports.charts import Line, bar_chart, line_chart, nice_ticks, thinned
from taat.reports.html import MOST_TRADES

D = Decimal
CAPITAL = D(10_000)
EVIL = "<script>alert(1)</script>&\"'"


def fills(announcer: str = "pat") -> list[AnnouncedFill]:
    return [
        filled(10, 100, 0, announcer=announcer, announced=99, delay=30, fee=1),
        filled(-10, 110, 60, announcer=announcer, announced=111, delay=90, fee=1),
        filled(10, 100, 1440, announcer="ann"),
        filled(-10, 95, 1500, announcer="ann"),
        filled(1, 3, 2000, instrument=CALL),
    ]


def page(executed: list[AnnouncedFill], **changes: object) -> str:
    spy = [(START + timedelta(days=day), D(500 + day)) for day in range(-1, 3)]
    values: dict[str, object] = {
        "benchmark": buy_and_hold("SPY", spy, CAPITAL, START, START + timedelta(days=2)),
        "marks": {CALL: D(4)},
        **changes,
    }
    return html_report(build_report(executed, at=START + timedelta(days=2), capital=CAPITAL, **values))


class Reader(HTMLParser):
    """Reads a page: its elements, attributes and words, and whether each element is closed."""

    VOID = frozenset({"meta", "circle", "rect", "line", "path", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.opened: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.mark.parametrize("by", ["announcer", "symbol", "strategy"])
def test_a_page_is_whole_and_asks_for_nothing_from_elsewhere(by: str) -> None:
    text = page(fills(), by=by)
    reader = Reader(text)
    assert reader.opened == []
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(reader.tags)
    assert not {"src", "href", "srcset", "style"} & {name for name, _ in reader.attributes}
    assert not re.search(r"https?:|//[a-z]|@import|url\(", text)
    assert reader.tags.count("svg") == 3
    for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        ElementTree.fromstring(svg)


def test_what_it_tells() -> None:
    words = " ".join(Reader(page(fills())).words)
    for part in (
        "+48.00",
        "+0.5 %",
        "SPY +0.4 %",
        "1 of 2 trades",
        "SPY, bought and held",
        "AAPL 265C 03/20/26",
        "+100.00",
    ):
        assert part in words


def test_every_text_is_escaped() -> None:
    reader = Reader(page(fills(EVIL), benchmark=buy_and_hold(EVIL, [(START, D(1))], CAPITAL, START, START)))
    assert "script" not in reader.tags
    assert any("<script>" in part for part in reader.words)


def test_an_empty_report_says_so() -> None:
    text = page([], benchmark=None)
    assert "Nothing has been traded yet." in text
    assert "<svg" not in text
    assert Reader(text).opened == []


def test_one_open_position_without_a_price() -> None:
    text = page(fills()[4:], benchmark=None, marks={})
    assert "Open positions" in text
    assert "<h2>Trades</h2>" not in text


def test_many_trades_are_cut_and_that_is_told() -> None:
    many = [filled(10 * (-1) ** number, 100 + number % 7, number) for number in range(2 * MOST_TRADES + 20)]
    text = page(many)
    assert f"The latest {MOST_TRADES}; 10 earlier trades are not listed." in text
    assert len(text) < 600_000


def test_json_has_numbers_and_nulls() -> None:
    report = build_report(fills(), at=START, capital=CAPITAL, marks={CALL: D("3.5")})
    data = report_json(report)
    assert data["total"]["profit"] == 48
    assert data["total"]["time_in_trade"] == 3600
    assert data["benchmark"] is None
    assert [group["name"] for group in data["groups"]] == ["pat", "ann"]
    assert data["trades"][0]["return_percent"] == 9.8
    assert data["positions"] == [
        {
            "announcer": "pat",
            "instrument": "AAPL 265C 03/20/26",
            "symbol": "AAPL",
            "asset": "option",
            "side": "long",
            "strategy": "option long",
            "opened_at": (START + timedelta(minutes=2000)).isoformat(),
            "quantity": 1,
            "average_price": 3,
            "cost": 300,
            "realised": 0,
            "price": 3.5,
            "unrealised": 50,
        }
    ]
    assert NVDA.symbol in {trade["symbol"] for trade in data["trades"]}


# -- charts ------------------------------------------------------------------------------------------------------------

values = st.floats(-1e9, 1e9).map(lambda value: round(value, 2))


@given(values, values, st.integers(1, 9))
def test_ticks_hold_all_values_and_are_few(one: float, other: float, count: int) -> None:
    low, high = min(one, other), max(one, other)
    ticks = nice_ticks(low, high, count)
    slack = (ticks[-1] - ticks[0]) * 1e-6
    assert ticks[0] <= low + slack
    assert ticks[-1] >= high - slack
    assert 2 <= len(ticks) <= 2 * count + 4
    assert ticks == sorted(set(ticks))


@given(st.lists(values, max_size=300), st.integers(6, 50))
def test_thinning_keeps_ends_and_extremes(heights: list[float], most: int) -> None:
    points = [(START + timedelta(minutes=number), height) for number, height in enumerate(heights)]
    kept = thinned(points, most)
    assert len(kept) <= max(most, 2)
    assert kept == sorted(set(kept))
    if points:
        assert (kept[0], kept[-1]) == (points[0], points[-1])
        assert {min(heights), max(heights)} <= {value for _, value in kept}


@given(st.lists(st.tuples(st.integers(0, 10**8), values), max_size=40), st.booleans())
def test_any_line_becomes_a_picture(drawn: list[tuple[int, float]], area: bool) -> None:
    points: list[tuple[datetime, float]] = [(START + timedelta(seconds=s), value) for s, value in sorted(drawn)]
    chart = line_chart([Line("a<b", "account", points, steps=True)], str, "t", area=area)
    if not points:
        assert chart == ""
        return
    picture = ElementTree.fromstring(chart)
    for path in picture.iter("path"):
        numbers = [float(number) for number in re.findall(r"-?\d+\.?\d*", path.attrib["d"])]
        assert all(-1 <= number <= 921 for number in numbers)


@given(st.lists(st.tuples(st.text(), values), max_size=12))
def test_bars_stay_on_the_picture(drawn: list[tuple[str, float]]) -> None:
    from taat.reports.words import plain

    chart = bar_chart([(plain(name), value, f"{value:,.2f}") for name, value in drawn], "t")
    if not drawn:
        assert chart == ""
        return
    bars = list(ElementTree.fromstring(chart).iter("rect"))
    assert len(bars) == len(drawn)
    for bar in bars:
        assert float(bar.attrib["x"]) >= 0
        assert float(bar.attrib["x"]) + float(bar.attrib["width"]) <= 921
