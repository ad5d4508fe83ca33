"""Finding what is traded in a post: cashtags, plain tickers, indices, futures, crypto and currency pairs."""

import re
from dataclasses import dataclass

from taat.models import AssetClass, Instrument
from taat.signals.text import ACTION, INSTRUMENT, QUANTITY, lower, masked
from taat.signals.tickers import (
    CRYPTO,
    CRYPTO_PLAIN,
    CURRENCIES,
    FUTURES,
    INDICES,
    LOWER_NEEDS_SIGN,
    METALS,
    NAMES,
    NOT_SYMBOLS,
    STOCKS,
)


@dataclass(frozen=True, slots=True)
class Mention:
    """An instrument at a place of a text, and how certain it is that it is one."""

    start: int
    end: int
    instrument: Instrument
    certainty: float = 1.0


_QUOTE_CURRENCY = r"(?:usdt|usdc|busd|usd|perp)"
_PAIR = re.compile(
    rf"(?<![\w])[$#]?(?P<base>[A-Za-z0-9]{{2,6}}?)(?:[/-]?{_QUOTE_CURRENCY})(?:\.p|perp|-perp)?(?![\w/])", re.I
)
_FOREX = re.compile(r"(?<!\w)[$#]?([A-Za-z]{3})[/]?([A-Za-z]{3})(?!\w)")
_CASHTAG = re.compile(r"(?<![\w$])\$\s?([A-Za-z][A-Za-z0-9]{0,6}(?:[._][A-Za-z])?)(?![\w$])")
_SLASH = re.compile(r"(?<![\w/])/(6[A-Z]|M2K|[A-Z]{2,4})(?:[FGHJKMNQUVXZ]\d{1,2})?(?!\w)", re.I)
_HASHTAG = re.compile(r"(?<!\w)#([A-Za-z]{1,6})(?!\w)")
_LABELLED = re.compile(
    r"(?i:\b(?:ticker|symbol|stock|coin|pair|asset|underlying)\s*[:=]\s*)([A-Z][A-Z0-9]{0,5}(?:\.[AB])?)(?![\w/])"
)
_CONTRACT = re.compile(r"([A-Z0-9]{2,3}?)[FGHJKMNQUVXZ]\d{1,2}$")
_WORD = re.compile(r"(?<![\w$#@&'./-])[A-Za-z][A-Za-z0-9]{0,5}(?:\.[AB])?(?:_F)?(?![\w'&$]|\.\w)")
_AFTER_ACTION = re.compile(
    rf"[{ACTION}{QUANTITY}]\s*(?:\d[\d,.]*k?x?\s+|x\d+\s+)?(?:(?:of|my|our|some|the|in|into|on"
    rf"|to|more|a|an|another|few|new|"
    r"position|long|short|shares|share|shrs|all|rest|half|remaining|last|entire|contracts|cons"
    r"|lots?|back|:|-|out)\s*)*$"
)
_DIRECTLY_AFTER = re.compile(rf"[{ACTION}{QUANTITY}]\s*(?:\d[\d,.]*k?\s+)?(?:(?:of|my|some|more|in|to)\s+)*$")
_BEFORE_PRICE = re.compile(rf"\s*(?:[:,-]\s*)?(?:@|at\s+\$?\.?\d|\$?\d|\.\d|[{ACTION}])")


def asset_of(symbol: str) -> AssetClass:
    """Return what kind of thing a symbol without further signs is."""
    if symbol in FUTURES:
        return AssetClass.FUTURE
    if symbol in INDICES:
        return AssetClass.INDEX
    if symbol in CRYPTO:
        return AssetClass.CRYPTO
    if len(symbol) == 6 and symbol[:3] in CURRENCIES and symbol[3:] in CURRENCIES:
        return AssetClass.FOREX
    return AssetClass.STOCK


def instrument_of(symbol: str) -> Instrument:
    """Return the instrument of a symbol as written: ``es_f``, ``ESU3`` and ``ES`` are the same future."""
    name = symbol.upper()
    if name.endswith("_F"):
        return Instrument(symbol=name[:-2], asset=AssetClass.FUTURE)
    if len(name) > 3 and (match := _CONTRACT.match(name)) and match[1] in FUTURES:
        return Instrument(symbol=match[1], asset=AssetClass.FUTURE)
    name = name.replace("_", ".")
    return Instrument(symbol="BTC" if name == "XBT" else name, asset=asset_of(name))


def signed_symbols(text: str) -> tuple[str, list[Mention]]:
    """Find the symbols that a sign or a form marks; return the text without them, and the mentions."""
    mentions: list[Mention] = []

    def take(start: int, end: int, instrument: Instrument, certainty: float = 1.0) -> None:
        nonlocal text
        mentions.append(Mention(start, end, instrument, certainty))
        text = masked(text, start, end, INSTRUMENT)

    for match in _PAIR.finditer(text):
        base = match["base"].upper()
        if base in CRYPTO or (match[0].lower().endswith("usdt") and base not in CURRENCIES):
            take(*match.span(), Instrument(symbol="BTC" if base == "XBT" else base, asset=AssetClass.CRYPTO))
    for match in _FOREX.finditer(text):
        first, second = match[1].upper(), match[2].upper()
        if first in CURRENCIES and second in CURRENCIES and first != second:
            take(*match.span(), Instrument(symbol=first + second, asset=AssetClass.FOREX))
    if "$" in text:
        for match in _CASHTAG.finditer(text):
            take(*match.span(), instrument_of(match[1]))
    if "/" in text:
        for match in _SLASH.finditer(text):
            if match[1].upper() in FUTURES:
                take(*match.span(), Instrument(symbol=match[1].upper(), asset=AssetClass.FUTURE))
    if ":" in text or "=" in text:
        for match in _LABELLED.finditer(text):
            take(*match.span(1), instrument_of(match[1]))
    if "#" in text:
        for match in _HASHTAG.finditer(text):
            name = match[1].upper()
            if name in FUTURES or name in INDICES or name in CRYPTO or (name in STOCKS and name == match[1]):
                take(*match.span(), instrument_of(name), 0.95)
    return text, mentions


def plain_symbols(text: str) -> tuple[str, list[Mention]]:
    """Find symbols without a sign. Actions are already marked, so a word's place among them tells too."""
    mentions: list[Mention] = []
    letters = [char for char in text if char.isalpha()]
    shouting = sum(char.isupper() for char in letters) > 0.6 * len(letters)
    for match in _WORD.finditer(text):
        certainty = _certainty(match[0], text, match.start(), match.end(), shouting)
        if certainty:
            mentions.append(Mention(*match.span(), instrument_of(METALS.get(match[0], match[0])), certainty))
    for mention in mentions:
        text = masked(text, mention.start, mention.end, INSTRUMENT)
    return text, mentions


def _certainty(word: str, text: str, start: int, end: int, shouting: bool) -> float:
    name = word.upper()
    if len(name) > 6 or (word != name and word != lower(word)):
        return 0.0
    after_action = bool(_AFTER_ACTION.search(lower(text[max(0, start - 40) : start])))
    before_price = bool(_BEFORE_PRICE.match(text, end))
    known = name in STOCKS or name in FUTURES or name in INDICES or name in CRYPTO_PLAIN or name.endswith("_F")
    if not known and len(name) > 3 and (match := _CONTRACT.match(name)) and match[1] in FUTURES:
        known = True
    if word != name:
        return 0.85 if known and word not in LOWER_NEEDS_SIGN and (after_action or before_price) else 0.0
    if known and name not in NOT_SYMBOLS and len(name) > 1:
        return 0.95 if not shouting or after_action or before_price else 0.7
    if known and (after_action and before_price):
        return 0.8
    if name in NOT_SYMBOLS or len(name) < 2 or not name.replace(".", "").isalpha():
        return 0.0
    direct = bool(_DIRECTLY_AFTER.search(lower(text[max(0, start - 20) : start])))
    return 0.75 if (after_action and before_price) or (not shouting and (direct or before_price)) else 0.0


def named_companies(text: str) -> tuple[str, list[Mention]]:
    """Find what prose calls by name; only for a text without any symbol."""
    mentions = [
        Mention(*match.span(), instrument_of(NAMES[lower(match[0])]), 0.8)
        for match in re.finditer(r"\b[A-Za-z]{4,9}\b", text)
        if lower(match[0]) in NAMES and (match[0][0].isupper() or lower(match[0]) in ("bitcoin", "ethereum", "solana"))
    ]
    for mention in mentions:
        text = masked(text, mention.start, mention.end, INSTRUMENT)
    return text, mentions
