"""``longmind facts``: what the agent knows about the world, now and at other times."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from longmind.cli import options, screen
from longmind.cli.command import Invocation, agent_command, creating_command
from longmind.cli.ids import memory_id
from longmind.errors import NotFound
from longmind.store.base import MAX_PAGE

if TYPE_CHECKING:
    from longmind.systems.semantic import Fact, Learned
    from longmind.types import Page, Scalar

app = typer.Typer(help="Facts: what holds, what held before, and what the agent knew.", no_args_is_help=True)

Subject = Annotated[str, typer.Argument(help="A concept, by its name or an alias.")]
AsOf = Annotated[
    datetime | None, typer.Option(parser=options.moment, metavar="WHEN", help="The world as it was at this moment.")
]
KnownAt = Annotated[
    datetime | None, typer.Option(parser=options.moment, metavar="WHEN", help="What the agent knew at this moment.")
]


@agent_command
async def list_(
    call: Invocation,
    predicate: Annotated[str | None, typer.Option("--predicate", "-p", help="Only facts of this predicate.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Include facts that no longer hold or were retracted.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-l", min=1, max=MAX_PAGE, help="The most to list.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="The cursor that the previous page printed.")] = None,
) -> None:
    """List facts, the newest first."""
    async with call.agent() as mem:
        page = await mem.semantic.facts(
            predicate=predicate, current=not everything, limit=limit, cursor=cursor, descending=True
        )
    call.answer(page, lambda: _show_page(page))


@agent_command
async def show(
    call: Invocation,
    subject: Subject,
    predicate: Annotated[str | None, typer.Argument(help="A predicate such as 'lives in'; by default all.")] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> None:
    """Show the facts about a concept, and those that mention it."""
    async with call.agent() as mem:
        if predicate is None:
            summary = await mem.semantic.about(subject, as_of=as_of, known_at=known_at)
            call.answer(summary, lambda: _show(summary.facts + summary.mentions, summary.concept.definition))
            return
        facts = await mem.semantic.know(subject, predicate, as_of=as_of, known_at=known_at)
    if not facts:
        raise NotFound(
            f"Nothing is known of {subject!r} and {predicate!r}.",
            hint="`longmind facts history` tells what was, `longmind facts list` what there is.",
        )
    call.answer(facts, lambda: _show(facts))


@agent_command
async def history(
    call: Invocation,
    subject: Subject,
    predicate: Annotated[str, typer.Argument(help="A predicate such as 'lives in'.")],
) -> None:
    """Show every value that was stated, with the time in which it held."""
    async with call.agent() as mem:
        facts = await mem.semantic.history(subject, predicate)
    call.answer(facts, lambda: _show(facts))


@creating_command
async def learn(
    call: Invocation,
    subject: Subject,
    predicate: Annotated[str, typer.Argument(help="A short verb phrase, such as 'lives in'.")],
    object: Annotated[
        str, typer.Argument(help="A value, or the name of a concept. Numbers, true and false are read as such.")
    ],
    valid_from: Annotated[
        datetime | None,
        typer.Option("--from", parser=options.moment, metavar="WHEN", help="The start; by default now."),
    ] = None,
    valid_to: Annotated[
        datetime | None,
        typer.Option("--to", parser=options.moment, metavar="WHEN", help="The end; by default open."),
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(min=0, max=1, help="The confidence; by default the trust in the source.")
    ] = None,
    relate: Annotated[
        bool, typer.Option("--relate", help="The object is a concept; it is created if it is new.")
    ] = False,
) -> None:
    """Learn a fact. Another value for the same time is ended, and kept."""
    async with call.agent() as mem:
        semantic = mem.semantic
        if relate:
            learned = await semantic.relate(
                subject, predicate, object, valid_from=valid_from, valid_to=valid_to, confidence=confidence
            )
        else:
            learned = await semantic.learn(
                subject, predicate, _value(object), valid_from=valid_from, valid_to=valid_to, confidence=confidence
            )
    call.answer(learned, lambda: _show_learned(learned))


@agent_command
async def retract(
    call: Invocation,
    id: Annotated[
        str, typer.Argument(metavar="ID", help="A fact's id, or 8 or more characters of its beginning or end.")
    ],
    because: Annotated[str, typer.Option("--because", "-b", help="The reason, stored with the fact.")] = "",
) -> None:
    """Mark a fact as never true. It is kept, and what was derived from it becomes stale."""
    async with call.agent() as mem:
        fact = await mem.semantic.retract(await memory_id(mem, id), because)
    call.answer(fact, lambda: screen.console().print(f"Retracted: {screen.plain(str(fact))}"))


app.command("list")(list_)
app.command("show")(show)
app.command("history")(history)
app.command("learn")(learn)
app.command("retract")(retract)


def _value(text: str) -> Scalar:
    """Return the value of a word on the command line: a number, true or false, or else text."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    return value if isinstance(value, bool | int | float) else text


def _show_page(page: Page[Fact]) -> None:
    _show(page.items)
    if page.cursor:
        screen.console().print(screen.dim(f"More: --cursor {page.cursor}"), soft_wrap=True)


def _show(facts: Sequence[Fact], definition: str = "") -> None:
    out = screen.console()
    if definition:
        out.print(screen.plain(definition))
    if not facts:
        out.print("Nothing is known.")
        return
    table = screen.table("Id", "Subject", "Predicate", "Object", "From", "To", "Sure", "")
    for fact in facts:
        state = "retracted" if fact.retracted else fact.state
        table.add_row(
            screen.short(fact.id),
            screen.plain(fact.subject),
            screen.plain(fact.predicate),
            screen.plain(str(fact.object)),
            screen.day(fact.valid_from) if fact.valid_from else "",
            screen.day(fact.valid_to) if fact.valid_to else "",
            f"{fact.confidence:.2f}",
            "" if state == "active" else state,
        )
    out.print(table)


def _show_learned(learned: Learned) -> None:
    out = screen.console()
    out.print(f"{learned.outcome}: {screen.plain(str(learned.fact))} ({screen.short(learned.fact.id)})")
    for old in learned.superseded:
        until = screen.day(old.valid_to) if old.valid_to else ""
        out.print(screen.dim(f"until {until}: {screen.plain(str(old))}"))
    if learned.stale:
        out.print(screen.dim(f"stale now: {screen.counted(len(learned.stale), 'memory')}"))
