"""``taat positions``: what is held, and on whose word."""

import asyncio
import sys
from decimal import Decimal
from typing import Annotated

import typer

from taat.cli import screen
from taat.cli.place import StoreOption
from taat.cli.recorded import JsonOption, PricesOption, read_recorded
from taat.reports import draw, json_value, position_json, positions_table, words

BrokerOption = Annotated[
    str | None,
    typer.Option(
        "--broker",
        metavar="BROKER",
        help="Whose money is shown: alpaca for the account there. By default the paper account of the folder.",
        show_default=False,
    ),
]


def positions(
    store: StoreOption = None, prices: PricesOption = None, broker: BrokerOption = None, as_json: JsonOption = False
) -> None:
    """Tell which positions are open, on whose word, and what they would earn now."""
    with screen.problems_told(as_json=as_json):
        recorded = asyncio.run(read_recorded(store, prices, broker))
        held, marks, account = recorded.matched.positions, recorded.marks, recorded.account
        if as_json:
            rows = [position_json(position, marks.get(position.instrument)) for position in held]
            sys.stdout.write(screen.json_line({"positions": rows, "account": json_value(account)}))
            return
        if held:
            draw(positions_table(held, marks))
            gains = [
                position.unrealised(marks[position.instrument]) for position in held if position.instrument in marks
            ]
            unpriced = len(held) - len(gains)
            note = f" No price is known for {unpriced} of them; --market names where prices are." if unpriced else ""
            count = f"{len(held):,} position{'s' * (len(held) != 1)}"
            total = sum(gains, Decimal(0)) if gains else None
            draw(f"{count}, unrealised {words.money(total, sign=True)}.{note}")
        else:
            draw("Nothing is held.")
        if account is not None:
            power = account.buying_power
            spendable = f", buying power {words.money(power)}" if power is not None else ""
            draw(f"Cash {words.money(account.cash)}, equity {words.money(account.equity)}{spendable}.")
