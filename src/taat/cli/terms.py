"""``taat terms``: what the words of the trade mean."""

import asyncio
import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from taat.cli import screen
from taat.cli.place import Place, StoreOption
from taat.cli.recorded import JsonOption
from taat.memory import open_memory
from taat.memory.terms import Term, known_terms, set_term, teach_terms
from taat.reports import draw, rows_table, words


def terms(
    word: Annotated[str | None, typer.Argument(metavar="WORD", help="One word; by default all.")] = None,
    means: Annotated[str | None, typer.Option(metavar="TEXT", help="What the word means from now on.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what words of the trade mean, or say what one means. They are facts with their time."""

    async def read() -> list[Term]:
        place = Place(store)
        place.prepare()
        async with open_memory(place.memory) as memory:
            await teach_terms(memory.agent)
            if word is not None and means is not None:
                await set_term(memory.agent, word, means, valid_from=datetime.now(UTC))
            return await known_terms(memory.agent)

    with screen.problems_told(as_json=as_json):
        known = [term for term in asyncio.run(read()) if word is None or term.name.casefold() == word.casefold()]
        if as_json:
            sys.stdout.write(screen.json_line({"terms": [term.model_dump(mode="json") for term in known]}))
        elif not known:
            draw(f"Nobody has said what {words.plain(word or '')} means. `taat terms WORD --means TEXT` says it.")
        else:
            cells = [(words.plain(term.name), term.category, words.plain(term.means)) for term in known]
            draw(rows_table(("word", "kind", "says"), (), cells))
