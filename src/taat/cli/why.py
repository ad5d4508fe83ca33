"""``taat why``: the whole chain of a signal in words."""

import asyncio
import sys
import textwrap
from typing import Annotated

import typer

from taat.cli import screen
from taat.cli.place import StoreOption, existing_memory
from taat.trader.why import Chain, chain_of, in_words


def why(
    signal: Annotated[str, typer.Argument(metavar="SIGNAL", help="The id of a signal, or of a post with one signal.")],
    store: StoreOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as one JSON object.")] = False,
) -> None:
    """Tell how a signal came to what it led to: post, reading, what was recalled, decision, orders, outcome, lesson."""

    async def read() -> Chain:
        async with existing_memory(store) as memory:
            return await chain_of(memory, signal)

    with screen.problems_told(as_json=as_json):
        told = in_words(asyncio.run(read()))
        if as_json:
            sys.stdout.write(screen.json_line(dict(told)))
            return
        for heading, lines in told:
            sys.stdout.write(f"{heading}\n")
            for line in lines:
                text = textwrap.fill(screen.plain(line), 110, initial_indent="  ", subsequent_indent="    ")
                sys.stdout.write(text + "\n")
