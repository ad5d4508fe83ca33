"""Rules as text and as facts that hold for a time."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmind import InvalidInput
from taat.models import AssetClass
from taat.validation import (
    NAMES,
    RULES_SUBJECT,
    RuleFact,
    Rules,
    describe,
    from_facts,
    predicate_of,
    rule_fact,
    rule_name,
    rules_subject,
    to_facts,
)

DAYS = [datetime(2026, 3, day, tzinfo=UTC) for day in range(1, 8)]

amounts = st.none() | st.decimals(0, 10**9, places=4)
shares = st.decimals(0, 100, places=2)
symbols = st.lists(st.from_regex(r"[A-Z]{1,5}", fullmatch=True).filter(lambda s: s not in ("ALL", "NONE")))
some_rules = st.builds(
    Rules,
    allowed_symbols=symbols.map(tuple),
    blocked_symbols=symbols.map(tuple),
    asset_classes=st.lists(st.sampled_from(AssetClass)).map(tuple),
    allow_short=st.booleans(),
    position_percent=st.decimals("0.01", 100, places=2),
    maximum_position_money=amounts,
    maximum_position_percent=amounts,
    maximum_open_positions=st.none() | st.integers(0, 10**6),
    price_deviation_percent_option=shares,
    without_quote=st.sampled_from(["accept", "confirm", "refuse"]),
    minimum_confidence=st.floats(0, 1),
    announcer_suspended=st.booleans(),
    announcer_minimum_expectancy_percent=st.none() | st.decimals(-100, 100, places=3),
)


@given(some_rules)
def test_facts_and_back(rules: Rules) -> None:
    facts = to_facts(rules, valid_from=DAYS[0])
    assert [fact.name for fact in facts] == list(NAMES)
    assert from_facts(facts, DAYS[1]) == rules
    assert from_facts(facts, datetime(2026, 2, 1, tzinfo=UTC)) == Rules()
    changed = to_facts(rules, base=Rules())
    assert all(getattr(rules, fact.name) != getattr(Rules(), fact.name) for fact in changed)
    assert from_facts(changed, DAYS[0]) == rules


@given(st.lists(st.tuples(st.integers(0, 5), st.none() | st.integers(0, 6), st.integers(0, 999)), max_size=8))
def test_the_fact_that_began_last_counts(spans: list[tuple[int, int | None, int]]) -> None:
    facts = [
        RuleFact(
            predicate="maximum open positions",
            object=str(value),
            valid_from=DAYS[begin],
            valid_to=DAYS[end] if end is not None else None,
        )
        for begin, end, value in spans
    ]
    for number, day in enumerate(DAYS):
        expected, begun = Rules().maximum_open_positions, -1
        for begin, end, value in spans:
            if begin <= number and (end is None or number < end) and begin >= begun:
                expected, begun = value, begin
        assert from_facts(facts, day).maximum_open_positions == expected


def test_an_announcers_own_rules_count_more_even_when_they_are_older() -> None:
    facts = [
        rule_fact("maximum position money", "500", valid_from=DAYS[0], announcer="pat"),
        rule_fact("maximum position money", "9,000", valid_from=DAYS[1]),
        rule_fact("announcer suspended", "yes", valid_from=DAYS[1], announcer="ann"),
    ]
    assert from_facts(facts, DAYS[2], announcer="Pat").maximum_position_money == 500
    assert from_facts(facts, DAYS[2]).maximum_position_money == 9000
    assert [from_facts(facts, DAYS[2], announcer=who).announcer_suspended for who in ("pat", "ann")] == [False, True]


def test_the_form_of_a_fact() -> None:
    fact = rule_fact("Maximum-Position_percent", " 12.50 % ", valid_from=DAYS[0])
    assert (fact.subject, fact.predicate, fact.object) == (RULES_SUBJECT, "maximum position percent", "12.5")
    assert rules_subject("pat") == "trading rules for pat"
    assert predicate_of("allow_short") == "allow short"
    assert rule_fact("allowed symbols", "$nvda aapl,NVDA").object == "AAPL, NVDA"
    assert rule_fact("allowed symbols", "all").object == "all"
    assert rule_fact("blocked symbols", "none").object == "none"
    assert rule_fact("asset classes", "Stock, OPTION").object == "option, stock"
    assert rule_fact("maximum daily loss percent", "none").object == "none"
    assert rule_fact("allow short", "No").object == "no"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("maximum position money", "-1"),
        ("maximum position money", "much"),
        ("maximum position money", "NaN"),
        ("maximum position money", "inf"),
        ("position percent", "0"),
        ("position percent", "none"),
        ("minimum confidence", "1.2"),
        ("asset classes", "stocks"),
        ("allowed symbols", "none"),
        ("blocked symbols", "all"),
        ("allow short", "perhaps"),
        ("without quote", "maybe"),
        ("cash reserve percent", "101"),
        ("maximum open positions", "2.5"),
    ],
)
def test_a_wrong_value_is_refused_with_what_the_rule_says(name: str, text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        rule_fact(name, text)
    assert f"The rule {rule_name(name)} cannot be {text!r}" in caught.value.message
    assert describe(name) in (caught.value.hint or "")


def test_a_rule_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidInput, match="There is no rule 'maximum luck'"):
        rule_fact("maximum luck", "7")
    unread = RuleFact(predicate="maximum luck", object="7")
    with pytest.raises(InvalidInput, match="maximum luck"):
        from_facts([unread], DAYS[0])


def test_every_rule_is_described_and_every_asset_class_has_a_deviation() -> None:
    assert all(describe(name) for name in NAMES)
    assert all(Rules().price_deviation_percent(asset) > 0 for asset in AssetClass)
    assert Rules().price_deviation_percent(AssetClass.OPTION) == Decimal(20)
