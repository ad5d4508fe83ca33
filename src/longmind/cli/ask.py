"""``longmind ask``: an answer from memory, with the words it rests on."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from longmind.cli import options, screen
from longmind.cli.command import Invocation, agent_command
from longmind.types import Answer, Citation

if TYPE_CHECKING:
    from rich.text import Text


@agent_command
async def ask(
    call: Invocation,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question, in plain words.")],
    k: Annotated[int | None, typer.Option("-k", min=1, help="From how many memories; by default 10.")] = None,
    session: options.Session = None,
    as_of: Annotated[
        datetime | None,
        typer.Option(parser=options.moment, metavar="WHEN", help="Only what was valid at this moment."),
    ] = None,
    min_confidence: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Nothing less sure than this; by default the agent's setting."),
    ] = None,
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Take the answer from the words of memories, without a language model.")
    ] = False,
) -> None:
    """Answer a question from memory, with the words the answer rests on, or say that it is not known.

    With a language model configured (LONGMIND_MODEL) the model writes the answer and quotes a memory for each sentence.
    """
    async with call.agent() as mem:
        answer = await mem.ask(
            question, k=k, session=session, as_of=as_of, min_confidence=min_confidence, use_model=not no_model
        )
    call.answer(answer, lambda: _show(answer))


def _show(answer: Answer) -> None:
    """The answer, and under it a table of its evidence."""
    from rich.text import Text

    out = screen.console()
    if not answer.known:
        out.print("Not known.")
        return
    out.print(Text(screen.plain(answer.text), style="bold"))
    out.print(screen.dim(f"confidence {answer.confidence:.2f}, by {_HOW[answer.method]}"))
    table = screen.table("Date", "Who", "Evidence", "Id")
    for column, fixed in enumerate((True, False, False, True)):
        table.columns[column].no_wrap = fixed
    table.columns[1].max_width = 16
    table.columns[2].ratio = 1
    for citation in answer.evidence:
        memory = citation.memory
        table.add_row(
            screen.day(memory.occurred_at),
            screen.from_whom(memory),
            _marked(citation),
            screen.dim(screen.short(memory.id)),
        )
    out.print(table)


_HOW = {
    "model": "the language model",
    "reader": "the reader of answers",
    "fact": "what is known to hold now",
    "sentence": "the sentence that fits best",
    "none": "nobody",
}
_AROUND = 120
"""Characters of the memory that are shown on either side of the words that were used."""


def _marked(citation: Citation) -> Text:
    from rich.text import Text

    content, start, end = citation.memory.content, citation.start, citation.end
    before, after = content[max(0, start - _AROUND) : start], content[end : end + _AROUND]
    text = Text(screen.plain(("…" if start > _AROUND else "") + before))
    text.append(screen.plain(content[start:end]), style="bold green")
    text.append(screen.plain(after + ("…" if end + _AROUND < len(content) else "")))
    return text
