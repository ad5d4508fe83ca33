"""``longmind graph``: the concepts an agent knows and how facts connect them."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from longmind.cli import options, screen
from longmind.cli.command import Invocation, agent_command
from longmind.errors import NotFound
from longmind.store.base import MAX_DEPTH, MAX_PAGE

if TYPE_CHECKING:
    from longmind.systems.semantic import Concept, Graph
    from longmind.types import Page

app = typer.Typer(help="Concepts and how facts connect them.", no_args_is_help=True)

AsOf = Annotated[
    datetime | None, typer.Option(parser=options.moment, metavar="WHEN", help="The world as it was at this moment.")
]
_Format = Literal["json", "graphml", "mermaid"]
_Depth = typer.Option("--depth", "-d", min=1, max=MAX_DEPTH, help="The most facts between concepts.")


@agent_command
async def list_(
    call: Invocation,
    category: Annotated[str | None, typer.Option("--category", "-c", help="Only concepts of this category.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-l", min=1, max=MAX_PAGE, help="The most to list.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="The cursor that the previous page printed.")] = None,
) -> None:
    """List concepts, the oldest first."""
    async with call.agent() as mem:
        page = await mem.semantic.concepts(category=category, limit=limit, cursor=cursor)
    call.answer(page, lambda: _show_concepts(page))


@agent_command
async def show(
    call: Invocation,
    concept: Annotated[str, typer.Argument(help="A concept, by its name or an alias.")],
    depth: Annotated[int, _Depth] = 1,
    as_of: AsOf = None,
    limit: Annotated[int, typer.Option("--limit", "-l", min=1, max=10_000, help="The most concepts.")] = 200,
) -> None:
    """Show the facts near a concept."""
    async with call.agent() as mem:
        graph = await mem.semantic.neighbourhood(concept, depth, as_of=as_of, limit=limit)
    call.answer(graph, lambda: _show(graph))


@agent_command
async def path(
    call: Invocation,
    start: Annotated[str, typer.Argument(help="The concept to start from.")],
    end: Annotated[str, typer.Argument(help="The concept to reach.")],
    depth: Annotated[int, _Depth] = 6,
    as_of: AsOf = None,
) -> None:
    """Find the shortest path from one concept to another."""
    async with call.agent() as mem:
        path = await mem.semantic.path(start, end, depth=depth, as_of=as_of)
    if path is None:
        raise NotFound(
            f"{start!r} and {end!r} are not connected within {screen.counted(depth, 'fact')}.",
            hint="Ask with a greater --depth.",
        )
    call.answer(path, lambda: screen.console().print(screen.plain(str(path))))


@agent_command
async def export(
    call: Invocation,
    format: Annotated[_Format, typer.Option("--format", "-f", help="json, graphml or mermaid.")] = "mermaid",
    concept: Annotated[str | None, typer.Option("--concept", "-c", help="Only around this concept.")] = None,
    depth: Annotated[int, _Depth] = 2,
    as_of: AsOf = None,
    limit: Annotated[int, typer.Option("--limit", "-l", min=1, help="The most concepts.")] = 1000,
) -> None:
    """Write the graph as JSON, GraphML or Mermaid."""
    async with call.agent() as mem:
        text = await mem.semantic.export(format, concept=concept, depth=depth, as_of=as_of, limit=limit)
    call.answer({"format": format, "text": text}, lambda: sys.stdout.write(text.rstrip("\n") + "\n"))


app.command("list")(list_)
app.command("show")(show)
app.command("path")(path)
app.command("export")(export)


def _show_concepts(page: Page[Concept]) -> None:
    out = screen.console()
    if not page.items:
        out.print("No concepts.")
        return
    table = screen.table("Id", "Name", "Category", "Also", "Definition")
    for concept in page.items:
        table.add_row(
            screen.short(concept.id),
            screen.plain(concept.name),
            screen.plain(concept.category or ""),
            screen.plain(", ".join(concept.aliases)),
            screen.plain(" ".join(concept.definition.split())),
        )
    out.print(table)
    if page.cursor:
        out.print(screen.dim(f"More: --cursor {page.cursor}"), soft_wrap=True)


def _show(graph: Graph) -> None:
    out = screen.console()
    for fact in (*graph.edges, *graph.values):
        out.print(screen.plain(f"{fact.subject} --{fact.predicate}--> {fact.object}"))
    if not graph.edges and not graph.values:
        out.print("Nothing is connected to it.")
    if graph.truncated:
        out.print(screen.dim("There is more: ask with a greater --limit."))
