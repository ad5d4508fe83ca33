"""The rules' values: what may be traded, how much, when, and on whose word."""

from decimal import Decimal
from types import NoneType
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, ValidationError

from longmind import InvalidInput
from taat.models import AssetClass, Frozen

Money = Annotated[Decimal, Field(ge=0, allow_inf_nan=False)]
Percent = Annotated[Decimal, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
Symbols = Annotated[
    tuple[str, ...], AfterValidator(lambda names: tuple(sorted({name.strip().lstrip("$").upper() for name in names})))
]
Classes = Annotated[tuple[AssetClass, ...], AfterValidator(lambda classes: tuple(sorted(set(classes))))]


class Rules(Frozen):
    """The values of all rules at a moment. Each is stored as a fact of its own, so each changes on its own day."""

    allowed_symbols: Annotated[Symbols, Field(description="the only symbols that may be traded; 'all' for any")] = ()
    blocked_symbols: Annotated[Symbols, Field(description="symbols that are never traded")] = ()
    asset_classes: Annotated[Classes, Field(description="the kinds of instruments that may be traded")] = tuple(
        sorted(AssetClass)
    )
    allow_short: Annotated[bool, Field(description="whether something may be sold that is not held")] = True
    market_hours_only: Annotated[
        bool, Field(description="whether positions are opened only while the market is open")
    ] = True

    position_percent: Annotated[
        Percent, Field(gt=0, description="the size of a new position, in percent of the equity")
    ] = Decimal(5)
    use_announced_quantity: Annotated[
        bool, Field(description="whether an announced number of shares or contracts is taken as it is")
    ] = False
    maximum_position_money: Annotated[
        Money | None, Field(description="the most that a position in one instrument may be worth")
    ] = Decimal(10_000)
    maximum_position_percent: Annotated[
        Percent | None, Field(description="the most that a position may be worth, in percent of the equity")
    ] = Decimal(10)
    maximum_open_positions: Annotated[
        Count | None, Field(description="how many instruments may be held at the same time")
    ] = 20
    maximum_daily_loss_money: Annotated[
        Money | None, Field(description="the loss of a day after which nothing is opened")
    ] = None
    maximum_daily_loss_percent: Annotated[
        Percent | None, Field(description="the same in percent of the equity at the day's start")
    ] = Decimal(3)
    cash_reserve_percent: Annotated[
        Percent, Field(le=100, description="the part of the buying power that is kept for fees and price moves")
    ] = Decimal(1)

    price_deviation_percent_stock: Annotated[
        Percent, Field(description="how far an announced price of a stock may be from the market's")
    ] = Decimal(2)
    price_deviation_percent_index: Annotated[Percent, Field(description="the same for an index")] = Decimal(1)
    price_deviation_percent_future: Annotated[Percent, Field(description="the same for a future")] = Decimal(1)
    price_deviation_percent_option: Annotated[Percent, Field(description="the same for an option")] = Decimal(20)
    price_deviation_percent_crypto: Annotated[Percent, Field(description="the same for a coin")] = Decimal(3)
    price_deviation_percent_forex: Annotated[Percent, Field(description="the same for a currency pair")] = Decimal(
        "0.5"
    )
    without_quote: Annotated[
        Literal["accept", "confirm", "refuse"], Field(description="what happens when the market's price is not known")
    ] = "refuse"

    maximum_age_seconds: Annotated[
        Count | None, Field(description="how old an announcement may be when it is followed")
    ] = 300
    duplicate_minutes: Annotated[Count, Field(description="how long the same announcement again is a duplicate")] = 60

    minimum_confidence: Annotated[Share, Field(description="below this confidence nothing is opened")] = 0.6
    confirm_below_confidence: Annotated[Share, Field(description="below this confidence a person is asked")] = 0.6
    confirm_above_money: Annotated[
        Money | None, Field(description="a position that is worth more is confirmed by a person")
    ] = None
    announcer_suspended: Annotated[bool, Field(description="whether announcements open nothing for now")] = False
    announcer_minimum_trades: Annotated[
        Count, Field(description="with fewer closed trades of an announcer a person is asked")
    ] = 0
    announcer_judged_after_trades: Annotated[
        Count, Field(description="from this number of closed trades on the expectancy counts")
    ] = 20
    announcer_minimum_expectancy_percent: Annotated[
        Decimal | None,
        Field(allow_inf_nan=False, description="the least average return of a trade of an announcer, in percent"),
    ] = Decimal(0)

    def price_deviation_percent(self, asset: AssetClass) -> Decimal:
        """Return how far the price of a kind of instrument may be from the market's."""
        value: Decimal = getattr(self, f"price_deviation_percent_{asset.value}")
        return value

    def changed(self, name: str, text: str) -> "Rules":
        """Return the rules with one value read from text."""
        return self.with_texts({name: text})

    def with_texts(self, texts: dict[str, str]) -> "Rules":
        """Return the rules with values read from text, checked together."""
        texts = {rule_name(name): text for name, text in texts.items()}
        values = {name: _value_of(name, text) for name, text in texts.items()}
        try:
            return Rules.model_validate({**dict(self), **values})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            name = str(first["loc"][0]) if first["loc"] else ", ".join(texts)
            raise InvalidInput(
                f"The rule {name} cannot be {texts.get(name)!r}: {first['msg']}.", hint=f"It says {describe(name)}."
            ) from None

    def text(self, name: str) -> str:
        """Return a rule's value as text that ``changed`` reads again."""
        return _text_of(name, getattr(self, name))


NAMES: tuple[str, ...] = tuple(Rules.model_fields)
"""The names of all rules, in the order in which they are listed."""
_OFF = "none"
_ALL = "all"


def rule_name(text: str) -> str:
    """Return the name of a rule that is written with blanks, hyphens or underscores."""
    name = "_".join(text.lower().replace("-", " ").replace("_", " ").split())
    if name not in Rules.model_fields:
        raise InvalidInput(f"There is no rule {text!r}.", hint="`taat rules list` shows all of them.")
    return name


def describe(name: str) -> str:
    """Return what a rule says, in words."""
    return Rules.model_fields[rule_name(name)].description or ""


def _text_of(name: str, value: Any) -> str:
    """Return a rule's value as text: ``none`` is no limit, and lists are separated by commas."""
    if value is None:
        return _OFF
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(value) or (_ALL if name == "allowed_symbols" else _OFF)
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return str(value)


def _value_of(name: str, text: str) -> Any:
    """Return the value that a rule's text stands for, to be checked with the other rules."""
    text = text.strip()
    default = Rules.model_fields[name].default
    if isinstance(default, tuple):
        word = text.lower()
        if word == _ALL:
            return text if name == "blocked_symbols" else default
        if word == _OFF:  # no allowed symbols would be stored as every symbol
            return text if name == "allowed_symbols" else ()
        return tuple(word.replace(",", " ").split())
    if isinstance(default, bool):
        return {"yes": True, "no": False}.get(text.lower(), text)
    if text.lower() == _OFF and _may_be_none(name):
        return None
    return text.removesuffix("%").replace(",", "").strip() if not isinstance(default, str) else text.lower()


def _may_be_none(name: str) -> bool:
    return NoneType in get_args(Rules.model_fields[name].annotation)
