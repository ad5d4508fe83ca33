"""Prices of Alpaca: stocks, options and crypto."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from taat.market.alpaca_api import (
    ATTEMPTS,
    TIMEOUT_SECONDS,
    Caller,
    Failure,
    Keys,
    Sleep,
    amount,
    import_alpaca,
    keys_from_environment,
    moment,
    prepare,
    refused,
    unreadable,
)
from taat.market.symbols import occ_symbol, pair
from taat.models import AssetClass, Instrument, Quote

_NOT_KNOWN = frozenset({400, 404, 422})
"""What Alpaca answers for a symbol that it does not know."""


class AlpacaMarket:
    """The present prices of Alpaca. A moment in the past has no other price: this is for trading now."""

    def __init__(
        self,
        *,
        keys: Keys | None = None,
        url: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        attempts: int = ATTEMPTS,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """The keys are those of the environment when none are passed; ``url`` is another server, for tests."""
        keys = keys or keys_from_environment()
        import_alpaca()
        from alpaca.data import historical

        options: dict[str, Any] = {"api_key": keys.key, "secret_key": keys.secret, "raw_data": True}
        options["url_override"] = url
        self._stocks = prepare(historical.StockHistoricalDataClient(**options), timeout)
        self._options = prepare(historical.OptionHistoricalDataClient(**options), timeout)
        self._crypto = prepare(historical.CryptoHistoricalDataClient(**options), timeout)
        self._caller = Caller(keys, attempts=attempts, sleep=sleep)

    async def quote(self, instrument: Instrument, at: datetime) -> Quote | None:
        """Return the latest quote, or the latest trade when a side is not quoted; ``None`` for what is unknown."""
        from alpaca.data import requests

        quote: tuple[Any, Any]
        trade: tuple[Any, Any]
        if instrument.asset is AssetClass.STOCK:
            symbol = instrument.symbol
            quote = self._stocks.get_stock_latest_quote, requests.StockLatestQuoteRequest
            trade = self._stocks.get_stock_latest_trade, requests.StockLatestTradeRequest
        elif instrument.asset is AssetClass.OPTION:
            if instrument.expiry is None:
                return None
            symbol = occ_symbol(instrument)
            quote = self._options.get_option_latest_quote, requests.OptionLatestQuoteRequest
            trade = self._options.get_option_latest_trade, requests.OptionLatestTradeRequest
        elif instrument.asset is AssetClass.CRYPTO:
            symbol = pair(instrument)
            quote = self._crypto.get_crypto_latest_quote, requests.CryptoLatestQuoteRequest
            trade = self._crypto.get_crypto_latest_trade, requests.CryptoLatestTradeRequest
        else:
            return None
        try:
            fields = await self._latest(symbol, *quote)
            if fields is not None and (bid := amount(fields["bp"])) > 0 and (ask := amount(fields["ap"])) > 0:
                return Quote(instrument=instrument, bid=bid, ask=ask, at=moment(fields["t"]))
            fields = await self._latest(symbol, *trade)
            if fields is None:
                return None
            price = amount(fields["p"])
            return Quote(instrument=instrument, bid=price, ask=price, at=moment(fields["t"]))
        except (KeyError, TypeError, ValueError):
            raise unreadable() from None

    async def close(self) -> None:
        """Close the connections."""
        for client in (self._stocks, self._options, self._crypto):
            client._session.close()

    async def _latest(self, symbol: str, function: Any, request: Any) -> Mapping[str, Any] | None:
        answer = await self._caller.attempt(function, request(symbol_or_symbols=symbol))
        if isinstance(answer, Failure):
            if answer.status in _NOT_KNOWN:
                return None
            raise refused(answer)
        fields: Mapping[str, Any] | None = answer.get(symbol)
        return fields
