"""``taat prefer``: how the user wants to work."""

import asyncio
import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from longmind import InvalidInput
from taat.cli import screen
from taat.cli.place import Place, StoreOption
from taat.cli.recorded import JsonOption
from taat.memory import open_memory
from taat.memory.preferences import Preferences, preference_text
from taat.reports import draw, rows_table


def prefer(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="confirm-orders, or report-by.")] = None,
    value: Annotated[str | None, typer.Argument(metavar="VALUE", help="What you prefer from now on.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what you prefer, or say it: confirm-orders yes or no, report-by announcer, symbol or strategy."""

    async def read() -> Preferences:
        place = Place(store)
        place.prepare()
        async with open_memory(place.memory) as memory:
            if name is not None and value is not None:
                await memory.knowledge.set_preference(name, value, valid_from=datetime.now(UTC))
            return await memory.knowledge.preferences()

    with screen.problems_told(as_json=as_json):
        if name is not None:
            if value is None:
                raise InvalidInput(f"Say what you prefer for {name}.", hint="`taat prefer` lists what you prefer now.")
            preference_text(name, value)
        preferences = asyncio.run(read())
        rows = {field.replace("_", "-"): preferences.text(field) for field in Preferences.model_fields}
        if as_json:
            sys.stdout.write(screen.json_line(rows))
            return
        draw(rows_table(("preference", "value"), (), list(rows.items())))
