"""How instruments are written outside TAAT: option symbols of the OCC, and pairs of coins."""

import re
from datetime import date
from decimal import Decimal

from longmind import InvalidInput
from taat.models import AssetClass, Instrument

_OCC = re.compile(r"([A-Z0-9.]{1,6}) *(\d{2})(\d{2})(\d{2})([CP])(\d{8})")
_THOUSANDTHS = Decimal(1000)


def occ_symbol(option: Instrument) -> str:
    """Return an option's symbol: underlying, expiry, right and strike, such as ``AAPL260320C00265000``."""
    if option.expiry is None or option.strike is None or option.right is None:
        raise InvalidInput(f"{option} has no expiry, strike or right.", hint="Name the contract in full.")
    thousandths = option.strike * _THOUSANDTHS
    if thousandths != int(thousandths) or not 0 < thousandths < 10**8:
        raise InvalidInput(f"{option} has a strike that no listed option has.")
    return f"{option.symbol}{option.expiry:%y%m%d}{option.right[0].upper()}{int(thousandths):08d}"


def option_of(symbol: str) -> Instrument | None:
    """Return the option that an OCC symbol names, or ``None`` when it is no such symbol."""
    match = _OCC.fullmatch(symbol)
    if match is None:
        return None
    underlying, year, month, day, right, strike = match.groups()
    try:
        expiry = date(2000 + int(year), int(month), int(day))
    except ValueError:
        return None
    return Instrument(
        symbol=underlying,
        asset=AssetClass.OPTION,
        expiry=expiry,
        strike=(Decimal(strike) / _THOUSANDTHS).normalize(),
        right="call" if right == "C" else "put",
    )


def pair(coin: Instrument) -> str:
    """Return a coin as a pair with the dollar, such as ``BTC/USD``; what is a pair stays one."""
    return coin.symbol if "/" in coin.symbol else f"{coin.symbol}/USD"


def coin_of(symbol: str) -> Instrument:
    """Return the coin of a pair with the dollar, with or without a slash; another pair is kept whole."""
    name = symbol.removesuffix("/USD")
    if "/" not in symbol:
        name = symbol.removesuffix("USD") or symbol
    return Instrument(symbol=name, asset=AssetClass.CRYPTO)


def instrument_key(instrument: Instrument) -> str:
    """Return a text that is the same for the same instrument, however its strike is written."""
    if instrument.asset is not AssetClass.OPTION:
        return f"{instrument.asset}:{instrument.symbol}"
    strike = "" if instrument.strike is None else f"{instrument.strike.normalize():f}"
    return f"option:{instrument.symbol}:{instrument.expiry or ''}:{strike}:{instrument.right or ''}"


def instrument_of(key: str) -> Instrument:
    """Return the instrument of a key that ``instrument_key`` wrote."""
    asset, symbol, *contract = key.split(":")
    if not contract:
        return Instrument(symbol=symbol, asset=AssetClass(asset))
    expiry, strike, right = contract
    return Instrument(
        symbol=symbol,
        asset=AssetClass.OPTION,
        expiry=date.fromisoformat(expiry) if expiry else None,
        strike=Decimal(strike) if strike else None,
        right="call" if right == "call" else "put" if right == "put" else None,
    )
