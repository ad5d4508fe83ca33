"""``taat report``, ``positions``, ``announcers`` and ``rules`` on memories as a run leaves them."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from tests.taat.cli.memories import TRADES, execution, make_memory
from typer.testing import CliRunner

from taat.cli import app
from taat.cli.announcers import standing
from taat.performance import Figures
from taat.reports import announced_fills
from taat.validation import NAMES, Rules

PRICES = "symbol,at,price,expiry,strike,right\nSPY,2026-03-01T15:00,500,,,\nSPY,2026-03-03T15:00,510,,,\n"
OPTION = "AAPL,2026-03-03T20:00,3.60,2026-03-20,265,call\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_memory(tmp_path / "taat")
    (tmp_path / "prices.csv").write_text(PRICES + OPTION)
    return tmp_path / "taat"


def taat(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def told(*words: object) -> str:
    done = taat(*words)
    assert (done.exit_code, done.stderr) == (0, ""), done.output
    return done.stdout


def data(*words: object) -> Any:
    (line,) = told(*words, "--json").splitlines()
    return json.loads(line)


# -- empty states ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["report", "positions", "announcers"])
def test_without_a_memory_it_is_said_how_to_get_one(command: str, tmp_path: Path) -> None:
    done = taat(command, "--store", tmp_path / "none")
    assert done.exit_code == 3
    assert "There is no memory" in done.stderr
    assert "taat run" in done.stderr
    assert not (tmp_path / "none").exists()


def test_a_memory_without_trades(tmp_path: Path) -> None:
    make_memory(tmp_path, ())
    assert told("report", "--store", tmp_path) == "Nothing has been traded yet.\n"
    assert told("positions", "--store", tmp_path) == "Nothing is held.\n"
    assert told("announcers", "--store", tmp_path) == "No announcer has posted yet.\n"
    assert data("report", "--store", tmp_path)["trades"] == []
    assert data("positions", "--store", tmp_path) == {"positions": [], "account": None}
    assert data("announcers", "--store", tmp_path) == {"announcers": []}
    page = tmp_path / "page.html"
    assert "Nothing has been traded" in told("report", "--store", tmp_path, "--html", page)
    assert "Nothing has been traded yet." in page.read_text()


# -- report ------------------------------------------------------------------------------------------------------------


def test_a_report_in_the_terminal(folder: Path) -> None:
    text = told("report", "--store", folder, "--benchmark", f"{folder.parent / 'prices.csv'}:SPY")
    assert "+99.00" in text
    assert "−21.00" in text
    assert "2 closed trades, 1 open. Capital 100,000.00, realised +78.00 (+0.08 %)" in text
    assert "SPY, bought and held: +2.00 %" in text


def test_a_report_as_json(folder: Path) -> None:
    result = data(
        "report", "--store", folder, "--capital", "10,000", "--market", f"file:{folder.parent / 'prices.csv'}"
    )
    assert (result["capital"], result["by"], result["benchmark"]) == (10_000, "announcer", None)
    total = result["total"]
    assert (total["trades"], total["profit"], total["return_percent"], total["fees"]) == (2, 78, 0.78, 2.5)
    assert (total["unrealised"], total["open_positions"]) == (99.5, 1)
    assert total["slippage"] == 5  # 10 bought at 100 instead of 99.5; the stop was announced at no price
    assert total["delay_seconds"] == 40
    delayed = [executed.delay_seconds for executed in announced_fills(TRADES)]
    assert delayed == [40, 40, 40, None, 40]  # a stop waits for its price, which is no delay
    assert {group["name"]: group["profit"] for group in result["groups"]} == {"pat": 99, "ann": -21}
    assert [trade["announcer"] for trade in result["trades"]] == ["pat", "ann"]


@pytest.mark.parametrize(
    ("by", "names"),
    [("symbol", ["NVDA", "AAPL"]), ("strategy", ["stock long", "option long", "stock swing short"])],
)
def test_a_report_by_something_else(folder: Path, by: str, names: list[str]) -> None:
    assert [group["name"] for group in data("report", "--store", folder, "--by", by)["groups"]] == names


def test_a_page(folder: Path) -> None:
    page = folder.parent / "report.html"
    assert f"The page is {page}." in told("report", "--store", folder, "--html", page).replace("\n", "")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "+78.00" in text


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--benchmark", "SPY"], 2, "names no benchmark"),
        (["--benchmark", "{prices}:QQQ"], 3, "has no prices of QQQ"),
        (["--benchmark", "none.csv:SPY"], 3, "There is no file none.csv"),
        (["--capital", "much"], 2, "is no sum of money"),
        (["--capital", "-5"], 2, "is no sum of money"),
        (["--html", "/nowhere/at/all.html"], 2, "cannot be written"),
        (["--market", "moon"], 2, "There is no market"),
    ],
)
def test_what_cannot_be_reported(folder: Path, words: list[str], code: int, message: str) -> None:
    done = taat("report", "--store", folder, *(word.format(prices=folder.parent / "prices.csv") for word in words))
    assert done.exit_code == code
    assert message in done.stderr


# -- positions ---------------------------------------------------------------------------------------------------------


def test_positions(folder: Path) -> None:
    text = told("positions", "--store", folder)
    assert "AAPL 265C 03/20/26" in text
    assert "No price is known for 1 of them" in text
    priced = told("positions", "--store", folder, "--market", f"file:{folder.parent / 'prices.csv'}")
    assert "1 position, unrealised +99.50." in priced
    (position,) = data("positions", "--store", folder)["positions"]
    assert (position["announcer"], position["quantity"], position["average_price"]) == ("pat", 2, 3.1)
    assert position["unrealised"] is None


@pytest.mark.parametrize("columns", ["30", "80", "200"])
def test_a_narrow_terminal_cuts_no_figure(folder: Path, columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    (row,) = (line for line in told("positions", "--store", folder).splitlines() if line.startswith("pat "))
    assert row.split() == [
        "pat",
        "AAPL",
        "265C",
        "03/20/26",
        "long",
        "2",
        "3.10",
        *"–––",
        "0.00",
        "2026-03-03",
        "17:40",
    ]
    assert "2 closed trades, 1 open. Capital 100,000.00" in told("report", "--store", folder)
    assert "price_deviation_percent_option" in told("rules", "--store", folder)


def test_the_announced_prices_of_the_last_runs_are_the_present_ones(folder: Path) -> None:
    line = {"symbol": "AAPL", "expiry": "2026-03-20", "strike": "265", "right": "call", "price": "3.20"}
    announced = folder / "announced_prices.jsonl"
    announced.write_text(json.dumps({**line, "asset": "option", "at": "2026-03-03T20:00:00Z"}) + "\n")
    (position,) = data("positions", "--store", folder)["positions"]
    assert (position["price"], position["unrealised"]) == (3.2, 19.5)


# -- announcers --------------------------------------------------------------------------------------------------------


def test_announcers(folder: Path) -> None:
    rows = {row["name"]: row for row in data("announcers", "--store", folder)["announcers"]}
    assert (rows["pat"]["standing"], rows["pat"]["posts"], rows["pat"]["figures"]["trades"]) == ("followed", 7, 1)
    assert (rows["ann"]["figures"]["win_rate"], rows["ann"]["figures"]["profit"]) == (0, -21)
    assert rows["ann"]["figures"]["delay_seconds"] == 40
    told("rules", "set", "announcer-suspended", "yes", "--announcer", "@Pat", "--store", folder)
    table = told("announcers", "--store", folder)
    (pat,) = (line for line in table.splitlines() if line.startswith("pat"))
    assert "suspended" in pat
    assert "+9.90 %" in pat


def test_an_announcer_who_loses_is_told(tmp_path: Path) -> None:
    lost = [execution(2 * n + k, 5 if k else -5, 100 + k, 10 * n + k) for n in range(20) for k in (0, 1)]
    make_memory(tmp_path, lost)
    (row,) = data("announcers", "--store", tmp_path)["announcers"]
    assert (row["standing"], row["figures"]["trades"]) == ("loses", 20)


def test_standing() -> None:
    assert standing(Figures(name="a"), Rules()) == "new"
    assert standing(Figures(name="a", trades=3), Rules()) == "followed"
    assert standing(Figures(name="a", trades=3), Rules(announcer_minimum_trades=4)) == "new"
    assert standing(Figures(name="a"), Rules(announcer_suspended=True)) == "suspended"


# -- rules -------------------------------------------------------------------------------------------------------------


def values(*words: object) -> dict[str, str]:
    return {row["name"]: row["value"] for row in data("rules", "list", *words)["rules"]}


def test_before_the_first_run_all_rules_have_their_defaults(tmp_path: Path) -> None:
    assert values("--store", tmp_path / "none") == {name: Rules().text(name) for name in NAMES}
    assert not (tmp_path / "none").exists()
    assert told("rules", "--store", tmp_path / "none") == told("rules", "list", "--store", tmp_path / "none")


def test_a_rule_holds_from_its_day_on(tmp_path: Path) -> None:
    store = ("--store", tmp_path / "new")
    first = told("rules", "set", "maximum-position-money", "5,000", "--from", "2026-03-02", *store)
    assert first == "maximum_position_money is 5000 from 2026-03-02 00:00 UTC on; before it was 10000.\n"
    second = data("rules", "set", "maximum position money", "2500", "--from", "2026-03-09T12:00+02:00", *store)
    assert (second["before"], second["from"]) == ("5000", "2026-03-09T10:00:00+00:00")
    days = {"2026-03-01": "10000", "2026-03-05": "5000", "2026-03-10": "2500"}
    for day, value in days.items():
        assert values("--at", day, *store)["maximum_position_money"] == value
    listed = told("rules", "list", "--at", "2026-03-05", *store)
    assert "From 2026-03-09 10:00 UTC: maximum_position_money is 2500." in listed


def test_a_rule_set_without_a_day_holds_from_now_on(tmp_path: Path) -> None:
    text = told("rules", "set", "blocked-symbols", "gme, $AMC", "--store", tmp_path)
    assert text == "blocked_symbols is AMC, GME from now on; before it was none.\n"
    assert values("--store", tmp_path)["blocked_symbols"] == "AMC, GME"
    assert values("--store", tmp_path, "--at", "2020-01-01")["blocked_symbols"] == "none"
    (row,) = (r for r in data("rules", "list", "--store", tmp_path)["rules"] if r["name"] == "blocked_symbols")
    assert datetime.fromisoformat(row["since"]) <= datetime.now(UTC)


def test_a_rule_for_one_announcer(tmp_path: Path) -> None:
    store = ("--store", tmp_path)
    told("rules", "set", "position-percent", "2", "--announcer", "@Pat", *store)
    assert values(*store)["position_percent"] == "5"
    assert values("--announcer", "pat", *store)["position_percent"] == "2"
    assert values("--announcer", "ann", *store)["position_percent"] == "5"
    assert "(announcer)" in told("rules", "list", "--announcer", "PAT", *store)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["maximum-luck", "7"], "There is no rule 'maximum-luck'."),
        (["maximum-position-money", "much"], "The rule maximum_position_money cannot be 'much'"),
        (["allow-short", "no", "--from", "tomorrow"], "--from 'tomorrow' is not a date."),
    ],
)
def test_a_rule_that_cannot_be_set(words: list[str], message: str, tmp_path: Path) -> None:
    done = taat("rules", "set", *words, "--store", tmp_path / "new")
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (tmp_path / "new").exists()


# -- after a run of the posts that come with it ------------------------------------------------------------------------


def test_memory_and_account_agree_to_the_cent_after_a_run(tmp_path: Path) -> None:
    told("run", "--store", tmp_path)
    report, held = data("report", "--store", tmp_path), data("positions", "--store", tmp_path)
    total, account = report["total"], held["account"]
    assert report["capital"] == 100_000
    assert total["trades"] >= 5
    assert round(report["capital"] + total["profit"] + total["unrealised"], 2) == round(account["equity"], 2)
    assert {row["name"] for row in data("announcers", "--store", tmp_path)["announcers"]} >= {
        "coinjuniper",
        "optionsorchid",
    }
    # orders at the market are executed at once; stops and limits wait for their price, which is no delay
    assert total["delay_seconds"] == 0


def test_a_rule_that_is_set_counts_in_the_next_run(tmp_path: Path) -> None:
    told("rules", "set", "asset-classes", "crypto", "--from", "2026-01-01", "--store", tmp_path)
    told(
        "rules",
        "set",
        "announcer-suspended",
        "yes",
        "--announcer",
        "coinjuniper",
        "--from",
        "2026-03-03",
        "--store",
        tmp_path,
    )
    told("run", "--store", tmp_path)
    report = data("report", "--store", tmp_path, "--by", "symbol")
    assert [group["name"] for group in report["groups"]] == ["BTC"]  # SOL was announced when they were suspended
