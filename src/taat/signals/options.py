"""Finding options in their common notations, and joining what a post says of one option in several places."""

import re
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Literal

from taat.models import AssetClass, Instrument
from taat.signals.expiries import EXPIRY, expiry
from taat.signals.symbols import Mention, instrument_of
from taat.signals.text import IGNORED, INSTRUMENT, lower, masked
from taat.signals.tickers import LOWER_NEEDS_SIGN, NOT_SYMBOLS, STOCKS

Right = Literal["call", "put"]

_SYMBOL = r"(?<![\w])(?<!\w\.)(?P<sign>[$#]?)(?P<symbol>[A-Za-z]{1,5}(?:\.[A-Za-z])?)"
_GAP = r"[\s:|-]{1,4}"
_STRIKE = r"\$?(?P<strike>\d{1,5}(?:\.\d{1,3})?)"
_RIGHT = r"(?P<right>calls?|puts?|[cp]s?)(?![\w])"
_BY = r"(?:\s*(?:,|\||exp(?:iry|iring|ires|iration|\.)?:?|for|on|-|@(?=\s?\d{1,2}/\d)))?\s*\(?"

_CODES = (
    re.compile(r"(?<![\w])[.$]?(?P<symbol>[A-Z]{1,6})_(?P<mdy>\d{6})(?P<right>[CP])(?P<strike>\d+(?:\.\d+)?)(?!\w)"),
    re.compile(r"(?<![\w])[.$]?(?P<symbol>[A-Z]{1,6})\s?(?P<ymd>\d{6})(?P<right>[CP])(?P<thousandths>\d{8})(?!\w)"),
    re.compile(r"(?<![\w])[.$]?(?P<symbol>[A-Z]{1,6})(?P<ymd>\d{6})(?P<right>[CP])(?P<strike>\d+(?:\.\d+)?)(?!\w)"),
)
_NOTATIONS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        # TSLA 282.5C 07/14, NVDA May 12 282.5 put, BABA 5/19 88c, $SPX 4135c 0dte
        rf"{_SYMBOL}{_GAP}(?:(?P<before>{EXPIRY}){_GAP})?{_STRIKE}\s?{_RIGHT}(?:{_BY}(?P<after>{EXPIRY})\)?)?",
        # SPY 100 (Weeklys) 16 JUN 23 437 CALL, as a broker's window shows it
        rf"{_SYMBOL}{_GAP}100{_GAP}(?:\(weeklys?\){_GAP})?(?P<before>{EXPIRY}){_GAP}{_STRIKE}\s?{_RIGHT}(?P<after>)",
        # AAPL 190 7/21 call
        rf"{_SYMBOL}{_GAP}{_STRIKE}{_GAP}(?P<before>{EXPIRY}){_GAP}{_RIGHT}(?P<after>)",
        # AAPL C190 7/21, AAPL 7/21 P180
        rf"{_SYMBOL}{_GAP}(?:(?P<before>{EXPIRY}){_GAP})?(?P<right>[cp]){_STRIKE}(?![\w.]*\w)"
        rf"(?:{_BY}(?P<after>{EXPIRY})\)?)?",
        # AAPL calls 190 7/21
        rf"{_SYMBOL}{_GAP}(?:(?P<before>{EXPIRY}){_GAP})?(?P<right>calls?"
        rf"|puts?){_GAP}{_STRIKE}(?!\d)(?:{_BY}(?P<after>{EXPIRY})\)?)",
    )
)
_NO_SYMBOL = re.compile(
    rf"(?<![\w.$/])(?:(?P<before>{EXPIRY}){_GAP})?{_STRIKE}(?:\s?(?=call|put)"
    rf"|(?=[cp]))(?P<right>calls?|puts?|[cp]s?)(?!\w)"
    rf"(?:{_BY}(?P<after>{EXPIRY})\)?)?",
    re.I,
)
_RIGHT_ONLY = re.compile(
    rf"(?<=[{INSTRUMENT}])\s+(?:(?P<before>{EXPIRY})\s+)?(?P<right>calls?|puts?)\b(?:{_BY}(?P<after>{EXPIRY})\)?)?",
    re.I,
)
_CARD_STRIKE = re.compile(
    r"\bstrike(?: price)?\s*[:=-]?\s*\$?(?P<strike>\d{1,5}(?:\.\d+)?)\s*(?P<right>calls?|puts?|[cp])?\b", re.I
)
_CARD_RIGHT = re.compile(r"\b(?:type|option|contract|right|side|direction)\s*[:=-]?\s*(?P<right>calls?|puts?)\b", re.I)
_CARD_EXPIRY = re.compile(
    rf"\b(?:exp(?:iry|iration|ires|iring)?\.?(?: date)?|date|expires)\s*[:=-]?\s*(?P<after>{EXPIRY})", re.I
)
_LOOSE_EXPIRY = re.compile(
    r"(?P<after>\d{1,2}\s?dte\b|\d{1,2}/\d{1,2}(?:/(?:20)?\d\d)?(?=\s*exp\w*)|(?<=exp )\d{1,2}/\d{1,2})",
    re.I,
)
_MAYBE = re.compile(r"\d\s?(?:[cp]s?|calls?|puts?)\b|\b[cp]\d|\bcalls?\b|\bputs?\b|\d{6}[cp]\d|\bstrike\b", re.I)


def _right(text: str) -> Right:
    return "put" if text[0] in "pP" else "call"


def _option(symbol: str, strike: Decimal | None, right: Right, day: date | None) -> Instrument:
    return Instrument(symbol=symbol, asset=AssetClass.OPTION, expiry=day, strike=strike, right=right)


def _expiry(match: re.Match[str], today: date) -> date | None:
    text = match["before"] or match["after"] if "before" in match.re.groupindex else match["after"]
    return expiry(text, today) if text else None


def _is_symbol(match: re.Match[str]) -> bool:
    word = match["symbol"]
    if match["sign"]:
        return True
    if word.upper() in NOT_SYMBOLS and word.upper() not in STOCKS:
        return False
    if word.isupper():
        return word.upper() not in {"PUT", "CALL", "ON", "NOW", "LOW", "OPEN", "RUN"} and word not in NOT_SYMBOLS - {
            "AI",
            "TOP",
            "MA",
        }
    name = instrument_of(word)
    known = word.islower() and (word.upper() in STOCKS or name.asset is not AssetClass.STOCK)
    dated = bool(match["before"] or match["after"]) and len(word) > 2  # "coin 55p 6/30" is no coin
    return known and (dated or word not in LOWER_NEEDS_SIGN)


def options(text: str, today: date) -> tuple[str, list[Mention]]:
    """Find the options that are named with their symbol; return the text without them, and the mentions."""
    mentions: list[Mention] = []
    if not _MAYBE.search(text):
        return text, mentions
    for code in _CODES:
        for coded in code.finditer(text):
            mentions.append(Mention(*coded.span(), _coded(coded)))
            text = masked(text, *coded.span(), INSTRUMENT)
    for notation in _NOTATIONS:
        position = 0
        while match := notation.search(text, position):
            if not _is_symbol(match):
                position = match.end("symbol")
                continue
            end = match.end()
            symbol = instrument_of(match["symbol"]).symbol
            found = _option(symbol, Decimal(match["strike"]), _right(match["right"]), _expiry(match, today))
            mentions.append(Mention(match.start(), end, found))
            text = masked(text, match.start(), end, INSTRUMENT)
            position = end
    return text, mentions


def _coded(match: re.Match[str]) -> Instrument:
    groups = match.groupdict()
    if digits := groups.get("mdy"):
        day = expiry(f"{digits[:2]}/{digits[2:4]}/{digits[4:]}", date.min)
    else:
        digits = groups["ymd"] or ""
        day = expiry(f"20{digits[:2]}-{digits[2:4]}-{digits[4:]}", date.min)
    strike = Decimal(groups["strike"]) if groups.get("strike") else Decimal(groups["thousandths"] or 0) / 1000
    return _option(groups["symbol"] or "", strike, _right(match["right"]), day)


def mentions_option(mentions: list[Mention]) -> bool:
    """Whether one of the instruments is an option."""
    return any(mention.instrument.asset is AssetClass.OPTION for mention in mentions)


def join_options(text: str, mentions: list[Mention], today: date) -> tuple[str, list[Mention]]:
    """Make options of symbols whose strike, right or expiry stands elsewhere in the post.

    A strike without any symbol becomes an option with an empty symbol; the open positions may tell whose it is.
    """
    if not _MAYBE.search(text) and not mentions_option(mentions):
        return text, mentions
    mentions = sorted(mentions, key=lambda mention: mention.start)
    text, mentions = _with_right(text, mentions, today)
    text, mentions = _with_strike(text, mentions, today)
    text, mentions = _with_card(text, mentions, today)
    return _with_loose_expiry(text, mentions, today)


def _with_right(text: str, mentions: list[Mention], today: date) -> tuple[str, list[Mention]]:
    """Read ``TSLA calls``: an option whose strike is not said."""
    for match in list(_RIGHT_ONLY.finditer(text)):
        for index, mention in enumerate(mentions):
            if mention.end == match.start() and mention.instrument.asset in (AssetClass.STOCK, AssetClass.INDEX):
                found = _option(mention.instrument.symbol, None, _right(match["right"]), _expiry(match, today))
                mentions[index] = replace(mention, end=match.end(), instrument=found)
                text = masked(text, *match.span(), INSTRUMENT)
    return text, mentions


def _with_strike(text: str, mentions: list[Mention], today: date) -> tuple[str, list[Mention]]:
    """Read ``$TSLA - bought the 260 calls 6/16``: the strike belongs to the symbol before it."""
    for match in list(_NO_SYMBOL.finditer(text)):
        day, strike, right = _expiry(match, today), Decimal(match["strike"]), _right(match["right"])
        text = masked(text, *match.span(), INSTRUMENT)
        before = [index for index, mention in enumerate(mentions) if mention.start < match.start()]
        owner = before[-1] if before else None
        if owner is not None and (
            mentions[owner].instrument.asset in (AssetClass.STOCK, AssetClass.INDEX)
            or mentions[owner].instrument.strike is None
        ):
            found = _option(mentions[owner].instrument.symbol, strike, right, day)
            mentions[owner] = replace(mentions[owner], instrument=found)
        else:
            symbol = mentions[owner].instrument.symbol if owner is not None else ""
            mentions.append(Mention(*match.span(), _option(symbol, strike, right, day), 0.9))
            mentions.sort(key=lambda mention: mention.start)
    return text, mentions


def _with_card(text: str, mentions: list[Mention], today: date) -> tuple[str, list[Mention]]:
    """Read alert cards: ``Ticker: AAPL``, ``Strike: 190C`` and ``Exp: 7/21`` on lines of their own."""
    strike, day = _CARD_STRIKE.search(text), _CARD_EXPIRY.search(text)
    if (strike is None and day is None) or not mentions:
        return text, mentions
    first = mentions[0]
    right = _CARD_RIGHT.search(text)
    held = first.instrument
    kind = (strike and strike["right"]) or (right and right["right"]) or held.right
    value = Decimal(strike["strike"]) if strike else held.strike
    if kind is None or value is None:
        return text, mentions
    found = _option(held.symbol, value, _right(kind), _expiry(day, today) if day else held.expiry)
    for match in (strike, day, right):
        if match is not None:
            text = masked(text, *match.span(), IGNORED)
    return text, [replace(first, instrument=found), *mentions[1:]]


def _with_loose_expiry(text: str, mentions: list[Mention], today: date) -> tuple[str, list[Mention]]:
    """Read an expiry that stands apart: ``0dte lotto: SPX 4375c``."""
    unknown = [index for index, mention in enumerate(mentions) if _lacks_expiry(mention.instrument)]
    match = _LOOSE_EXPIRY.search(text) if unknown else None
    if match is not None:
        day = expiry(lower(match["after"]), today)
        for index in unknown:
            found = mentions[index].instrument.model_copy(update={"expiry": day})
            mentions[index] = replace(mentions[index], instrument=found)
        text = masked(text, *match.span(), IGNORED)
    return text, mentions


def _lacks_expiry(instrument: Instrument) -> bool:
    return instrument.asset is AssetClass.OPTION and instrument.expiry is None
