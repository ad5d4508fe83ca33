"""``longmind demo``: a guided tour. Every line and figure it shows comes from a call that was really made."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from longmind.cli import demo_story as story
from longmind.cli import screen
from longmind.cli.command import Invocation, store_command

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from longmind.memory import AgentMemory, Longmind
    from longmind.types import Hit, Memory

T = TypeVar("T")


@store_command
async def demo(
    call: Invocation,
    step: Annotated[bool, typer.Option("--step", help="Wait for Enter after each stop (in a terminal).")] = False,
    load: Annotated[
        bool, typer.Option("--load", help="Fill the store with an invented example of three months, without the tour.")
    ] = False,
) -> None:
    """Take a guided tour: remember, recall with reasons, update, consolidate, pursue a goal, forget, and undo.

    It uses a store of its own that is removed at the end, or the one given with --url, as an agent named demo. With
    --load there is no tour: the store given, or else your own, gets an example to look at in the console.
    """
    if load:
        await _load(call)
        return
    async with _store(call) as (longmind, where):
        mem = longmind.agent(await _free_name(longmind), "alice")
        tour = Tour(mem, screen.console(), quiet=call.json, step=step and sys.stdin.isatty())
        tour.begin(where)
        for stop in (remembering, recalling, giving_context, updating, consolidating, acting, forgetting):
            await stop(tour)
        tour.end(where, kept=call.url is not None)
        call.answer({"agent": mem.scope.agent, "user": "alice", "steps": tour.steps}, lambda: None)


async def _load(call: Invocation) -> None:
    """Fill the store with the example, as an agent that has no memories yet."""
    from longmind.cli.example import load_example

    async with call.store(create=True) as longmind:
        agent = await _free_name(longmind)
    loaded = await load_example(call.settings, agent)
    url = f" --url {screen.plain(call.url)}" if call.url is not None else ""

    def show() -> None:
        out = screen.console()
        users = " and ".join(loaded.users)
        out.print(f"Stored {loaded.memories:,} memories of the agent {agent} with {users}, of three months.")
        out.print(f"Look at them: longmind serve{url}", markup=False, soft_wrap=True)

    call.answer(loaded, show)


@asynccontextmanager
async def _store(call: Invocation) -> AsyncIterator[tuple[Longmind, str]]:
    """The store that was given, or a temporary one: a tour leaves nothing behind in the user's own."""
    if call.url is not None:
        async with call.store(create=True) as longmind:
            yield longmind, call.url
        return
    with tempfile.TemporaryDirectory(prefix="longmind-demo-") as folder:
        async with replace(call, url=str(Path(folder) / "memory.db")).store(create=True) as longmind:
            yield longmind, "a temporary SQLite file"


async def _free_name(longmind: Longmind) -> str:
    """``demo``, or with a number where a tour was taken before."""
    taken = {scope.agent for scope in await longmind.agents()}
    names = ("demo" if number == 1 else f"demo-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


@dataclass(slots=True)
class Tour:
    """The guide: shows a call, makes it, and shows what came of it."""

    mem: AgentMemory
    out: Console
    quiet: bool
    step: bool
    steps: list[dict[str, Any]] = field(default_factory=list)

    def show(self, *what: RenderableType) -> None:
        if not self.quiet:
            self.out.print(*what)

    def stop(self, title: str, text: str) -> None:
        """A new stop of the tour."""
        from rich.rule import Rule
        from rich.text import Text

        if self.step and self.steps:
            self.out.input("\nEnter to go on ")
        number = len(self.steps) + 1
        self.steps.append({"step": number, "title": title, "calls": []})
        self.show("")
        self.show(Rule(Text(f" {number}. {title} ", style="bold cyan"), align="left", style="cyan"))
        self.show(Text(text))
        self.show("")

    async def make(self, code: str, work: Callable[[], Awaitable[T]]) -> T:
        """Show a line of code, run what it says, and tell how long it took."""
        from rich.text import Text

        begun = time.perf_counter()
        result = await work()
        took = (time.perf_counter() - begun) * 1000
        self.steps[-1]["calls"].append({"code": code, "result": screen.as_data(result), "milliseconds": round(took, 2)})
        self.show(Text.assemble(("> ", "bold magenta"), (code, "magenta"), (f"   {took:.1f} ms", "dim")))
        return result

    def begin(self, where: str) -> None:
        from rich.panel import Panel
        from rich.text import Text

        text = Text.assemble(
            "Longmind is memory for AI agents. This tour makes real calls on ",
            (screen.plain(where), "bold"),
            ". No key, no server, no network.",
        )
        self.show(Panel(text, title="Longmind", title_align="left", border_style="cyan"))

    def end(self, where: str, *, kept: bool) -> None:
        from rich.panel import Panel
        from rich.table import Table
        from rich.text import Text

        next_steps = Table.grid(padding=(0, 2))
        next_steps.add_column(style="bold", no_wrap=True)
        next_steps.add_column()
        if kept:
            agent = f"{screen.plain(where)} --agent {self.mem.scope.agent}"
            next_steps.add_row("this store", Text(f"longmind list --url {agent}"))
        next_steps.add_row("your own", Text('longmind remember "I moved to Lisbon." && longmind recall "where?"'))
        next_steps.add_row("talk with it", Text("longmind chat"))
        next_steps.add_row("from Python", Text("docs/tutorial.md: the same calls, asynchronous or blocking"))
        next_steps.add_row("all commands", Text("longmind --help, docs/reference/cli.md"))
        self.show("")
        self.show(Panel(next_steps, title="Where to go next", title_align="left", border_style="cyan"))


async def remembering(tour: Tour) -> None:
    tour.stop(
        "Remember",
        "A conversation and a document. When the call returns they are on the disk and can be found.",
    )
    mem = tour.mem
    said = await tour.make(
        'await mem.remember(messages, session="may")', lambda: mem.remember(story.CONVERSATION, session="may")
    )
    passages = await tour.make("await mem.remember(document)", lambda: mem.remember(story.DOCUMENT))
    for memory in (said[0], said[2], passages[1]):
        tour.show(_line(memory))
    rest = len(said) + len(passages) - 3
    tour.show(screen.dim(f"  and {rest} more: {len(said)} messages and {len(passages)} passages in all"))
    again = await tour.make("await mem.remember(document)  # once more", lambda: mem.remember(story.DOCUMENT))
    same = [memory.id for memory in again] == [memory.id for memory in passages]
    tour.show(
        screen.dim(f"  the same {len(again)} ids: what is known is not stored twice" if same else "  stored anew")
    )


async def recalling(tour: Tour) -> None:
    tour.stop("Recall, with reasons", "A question finds what fits by its words and by its meaning, and says why.")
    for question in story.QUESTIONS:
        code = f'await mem.recall("{question}", k=2)'
        for hit in await tour.make(code, lambda question=question: tour.mem.recall(question, k=2)):  # type: ignore[misc]
            tour.show(_panel(hit))


async def giving_context(tour: Tour) -> None:
    from rich.panel import Panel
    from rich.text import Text

    tour.stop("Context for a prompt", "What matters for a task, within a budget of tokens, quoted as data.")
    code = f'await mem.context("{story.TASK}", tokens=200)'
    text = await tour.make(code, lambda: tour.mem.context(story.TASK, tokens=200))
    tour.show(Panel(Text(screen.plain(text)), border_style="dim"))


async def updating(tour: Tour) -> None:
    from longmind.cli import history

    tour.stop("Things change", "An update keeps what was before, who changed it and why. Every change has an id.")
    mem = tour.mem
    old = await tour.make(f'await mem.remember("{story.STATEMENT}")', lambda: mem.remember(story.STATEMENT))
    await tour.make(
        f'await mem.update(id, content="{story.CORRECTION}", reason="she called")',
        lambda: mem.update(old.id, expected_version=old.version, content=story.CORRECTION, reason="she called"),
    )
    changes = await tour.make("await mem.history(id)", lambda: mem.history(old.id))
    tour.show(history.table_of(changes))


async def consolidating(tour: Tour) -> None:
    tour.stop("Consolidate", "What was said becomes knowledge: facts with evidence, one memory of what was said twice.")
    mem = tour.mem
    for text in story.SAID_TWICE:
        await tour.make(f'await mem.remember("{text}")', lambda text=text: mem.remember(text))  # type: ignore[misc]
    report = await tour.make("await mem.consolidate()", mem.consolidate)
    for change in report.proposed:
        if change.action == "archive" or change.kind == "fact":
            did = "archived" if change.action == "archive" else "learnt"
            because = await mem.get(change.because_of)
            tour.show(screen.dim(f"  {did}: {change.content} (why: {change.why})"))
            tour.show(screen.dim(f"    because of: {because.content if because else ''}"))
    await tour.make("await mem.undo(report.id)", lambda: mem.undo(report.id))
    archived = [change.memory_id for change in report.proposed if change.action == "archive"]
    states = [f"{m.content} ({m.state})" for id in archived if (m := await mem.get(id))]
    tour.show(screen.dim("  back again: " + "; ".join(states)))


async def acting(tour: Tour) -> None:
    from longmind.agent import ReflectiveAgent
    from longmind.systems.procedural import ToolRegistry

    tour.stop(
        "Want, and act",
        "A goal has criteria and a plan. An agent pursues it with the functions it has; what fails is tried again.",
    )
    mem, tools, calls = tour.mem, ToolRegistry(), []

    @tools.tool
    async def find_table(people: int) -> str:
        """Find a table for the evening."""
        calls.append(people)
        if len(calls) == 1:
            raise TimeoutError("The restaurant did not answer in time.")
        return f"a table for {people} at eight"

    goal, _ = await tour.make(
        f'await mem.goals.create_goal_with_plan("{story.GOAL}", criteria, steps)',
        lambda: mem.goals.create_goal_with_plan(story.GOAL, story.CRITERIA, story.STEPS),
    )
    agent = ReflectiveAgent(mem, tools=tools)
    pursuit = await tour.make("await agent.pursue(goal)", lambda: agent.pursue(goal.id))
    for revision in pursuit.revisions:
        tour.show(screen.dim(f"  {revision.finding.replace('_', ' ')}, so {revision.strategy}: {revision.why}"))
    for line in (await mem.goals.render(goal.id)).splitlines():
        tour.show(screen.dim(f"  {line}"))


async def forgetting(tour: Tour) -> None:
    tour.stop("Forget, and undo", "What is forgotten is found no more. The history keeps it until it is erased.")
    mem, question = tour.mem, story.SECRET_QUESTION
    secret = await tour.make(f'await mem.remember("{story.SECRET}")', lambda: mem.remember(story.SECRET))

    async def look() -> bool:
        hits = await tour.make(f'await mem.recall("{question}", k=3)', lambda: mem.recall(question, k=3))
        there = any(hit.memory.id == secret.id for hit in hits)
        tour.show(screen.dim(f"  {'found' if there else 'not found'}"))
        return there

    await look()
    forgotten = await tour.make("forgotten = await mem.forget(id)", lambda: mem.forget(secret.id))
    await look()
    operation = forgotten.operation or ""
    await tour.make("await mem.undo(forgotten.operation)", lambda: mem.undo(operation))
    await look()
    await tour.make("await mem.forget(id, erase=True)", lambda: mem.forget(secret.id, erase=True))
    changes = await tour.make("await mem.history(id)", lambda: mem.history(secret.id))
    words = sum(story.SECRET in change.model_dump_json() for change in changes)
    tour.show(screen.dim(f"  {len(changes)} changes on record, {words} of them with its words"))


def _line(memory: Memory) -> RenderableType:
    from rich.text import Text

    line = Text.assemble("  ", (screen.day(memory.occurred_at), "dim"), " ", (screen.who(memory), "bold"), ": ")
    line.append(screen.plain(" ".join(memory.content.split())))
    line.append(f"  (importance {memory.importance:.2f})", style="dim")
    return line


def _panel(hit: Hit) -> RenderableType:
    from rich.panel import Panel
    from rich.text import Text

    text = Text(screen.plain(hit.memory.content))
    text.append(f"\nwhy: {screen.plain(hit.why)}", style="dim italic")
    title = f"{hit.score:.2f}  {screen.day(hit.memory.occurred_at)}  {screen.who(hit.memory)}"
    return Panel(text, title=Text(title, style="green"), title_align="left", border_style="green")
