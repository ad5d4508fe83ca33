"""``longmind goal``: what is wanted, how far it has come, and the way there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from longmind.cli import options, screen
from longmind.cli.command import FAILED, Invocation, agent_command, creating_command
from longmind.cli.ids import memory_id
from longmind.errors import InvalidInput
from longmind.store.base import MAX_PAGE

if TYPE_CHECKING:
    from longmind.agent.pursuit.models import Pursuit, PursuitEvent
    from longmind.systems.goals import Goal, GoalMemory

app = typer.Typer(name="goal", help="What is wanted: create goals with plans, list, show and run them.")

_Status = Literal["proposed", "active", "blocked", "achieved", "failed", "abandoned"]
_How = Literal["auto", "procedure", "past", "model", "criteria"]
_Format = Literal["text", "mermaid"]
_Id = Annotated[str, typer.Argument(metavar="ID", help="A goal's id, or 8 or more characters of its beginning or end.")]


@app.command("create")
@creating_command
async def create(
    call: Invocation,
    description: Annotated[str, typer.Argument(help="What is wanted.")],
    criterion: Annotated[
        list[str] | None, typer.Option("--criterion", "-c", help="What must be true in the end; may repeat.")
    ] = None,
    step: Annotated[
        list[str] | None, typer.Option("--step", help="A step of the plan, done in this order; may repeat.")
    ] = None,
    plan: Annotated[
        _How | None,
        typer.Option("--plan", help="Make a plan: from a procedure, a past plan, a model, or the criteria."),
    ] = None,
    priority: Annotated[float, typer.Option("--priority", "-p", min=0, max=1, help="How much it matters.")] = 0.5,
    deadline: Annotated[
        datetime | None, typer.Option(parser=options.moment, metavar="WHEN", help="Until when.")
    ] = None,
    parent: Annotated[str | None, typer.Option(metavar="ID", help="The goal that it is a part of.")] = None,
    proposed: Annotated[
        bool, typer.Option("--proposed", help="Only propose it; it begins when it is activated.")
    ] = False,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="A tag; may repeat.")] = None,
    attribute: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="What procedures may need; may repeat.")
    ] = None,
) -> None:
    """Store a goal, with a plan if steps or --plan are given."""
    if step and plan:
        raise typer.BadParameter("Give the steps, or say how to plan, and not both.", param_hint="--plan")
    async with call.agent() as mem:
        goals = mem.goals
        above = None if parent is None else await memory_id(mem, parent)
        status: Literal["proposed", "active"] = "proposed" if proposed else "active"
        attributes = options.metadata_of(attribute or ())
        if step or plan:
            goal, _ = await goals.create_goal_with_plan(
                description, criterion or (), step, how=plan or "auto", priority=priority, deadline=deadline,
                parent=above, status=status, tags=tag or (), attributes=attributes,
            )  # fmt: skip
        else:
            goal = await goals.create(
                description, criteria=criterion or (), priority=priority, deadline=deadline,
                parent=above, status=status, tags=tag or (), attributes=attributes,
            )  # fmt: skip
        made = await goals.plan(goal.id)
        told = await goals.render(goal.id)
    if goal.deadline is not None and goal.deadline <= goal.created_at:
        call.note("The deadline has passed already.")
    call.answer({"goal": goal, "plan": made}, lambda: _print(goal.id, told))


@app.command("list")
@agent_command
async def list_(
    call: Invocation,
    status: Annotated[_Status | None, typer.Option(help="Only goals of this status.")] = None,
    open: Annotated[
        bool | None, typer.Option("--open/--ended", help="Only those that are open, or that ended.")
    ] = None,
    parent: Annotated[str | None, typer.Option(metavar="ID", help="Only sub-goals of this one.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-l", min=1, max=MAX_PAGE, help="How many.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Where the last page said to go on.")] = None,
) -> None:
    """List goals, the newest first."""
    async with call.agent() as mem:
        above = None if parent is None else await memory_id(mem, parent)
        page = await mem.goals.list(status=status, open=open, parent=above, limit=limit, cursor=cursor)

    def show() -> None:
        _show_goals(page.items)
        if page.cursor:
            screen.console().print(screen.dim(f"More: --cursor {page.cursor}"), soft_wrap=True)

    call.answer(page, show)


@app.command("show")
@agent_command
async def show(
    call: Invocation,
    id: _Id,
    format: Annotated[_Format, typer.Option("--format", help="As a tree, or as a Mermaid diagram.")] = "text",
    history: Annotated[bool, typer.Option("--history", help="Also why each version of the plan was made.")] = False,
) -> None:
    """Show a goal with its criteria, its plan and its sub-goals, and how far it has come."""
    async with call.agent() as mem:
        goals = mem.goals
        full = await memory_id(mem, id)
        told = await goals.render(full, format)
        data = {
            **await goals.render(full, "dict"),
            "progress": await goals.progress(full),
            "plans": await goals.plans(full) if history else [],
        }

    def shown() -> None:
        if format == "text":
            _print(full, told)
        else:
            screen.console().print(screen.plain(told), soft_wrap=True)
        for plan in data["plans"]:
            line = f"plan {plan.number}, {screen.minute(plan.made_at)}, {plan.origin}: {plan.why}"
            screen.console().print(screen.dim(screen.plain(line)), soft_wrap=True)

    call.answer(data, shown)


@app.command("run")
@agent_command
async def run(
    call: Invocation,
    id: _Id,
    tools: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="Where the functions are: a ToolRegistry in a module that Python can import from here.",
        ),
    ] = None,
    done: Annotated[
        list[str] | None,
        typer.Option("--done", metavar="STEP[=RESULT]", help="A step that somebody did; may repeat."),
    ] = None,
    unblock: Annotated[
        bool, typer.Option("--unblock", help="What blocked the goal is out of the way, so go on.")
    ] = False,
    steps: Annotated[int, typer.Option(min=1, max=10_000, help="How many steps to begin at most.")] = 100,
    seconds: Annotated[float, typer.Option(min=1, max=86_400, help="How long it may take.")] = 3_600,
    parallel: Annotated[int, typer.Option(min=1, max=64, help="How many steps at once.")] = 4,
) -> None:
    """Pursue a goal: plan it, do its steps, revise the plan when something fails.

    A step is done by its function or procedure, or by the language model. What nobody here can do is named, and the
    goal waits for it: do it, and go on with --done. Exit code 0 when the goal is achieved, 1 when not. The same command
    goes on with a goal whose pursuit was interrupted.
    """
    from longmind.agent import PursuitLimits, ReflectiveAgent
    from longmind.cli.procedures import tool_registry

    registry = None if tools is None else tool_registry(tools)
    async with call.store() as longmind:
        full = await memory_id(longmind.agent(call.settings.agent, call.user, all_users=call.all_users), id)
        owner = (await longmind.agent(call.settings.agent, call.user, all_users=call.all_users).goals.get(full)).user
        mem = longmind.agent(call.settings.agent, owner)  # what is done for somebody's goal is kept as theirs
        await _go_on(mem.goals, full, done or (), unblock)
        limits = PursuitLimits(steps=steps, seconds=seconds, parallel=parallel)
        agent = ReflectiveAgent(mem, tools=registry)
        pursuit = await agent.pursue(full, limits=limits, on_event=None if call.json else _show_event)
        told = await mem.goals.render(full)
    call.answer(pursuit, lambda: _show_pursuit(pursuit, told))
    if pursuit.ending != "achieved":
        raise typer.Exit(FAILED)


async def _go_on(goals: GoalMemory, id: str, done: Sequence[str], unblock: bool) -> None:
    """Tell the plan what people did since."""
    for one in done:
        step, equals, result = one.partition("=")
        if not step.strip() or (equals and not result.strip()):
            raise InvalidInput(f"{one!r} names no step.", hint="Write --done s2, or --done 's2=The bank agreed'.")
        await goals.complete_step(id, step.strip(), result.strip() or None)
    if unblock and (await goals.get(id)).status == "blocked":
        await goals.unblock(id)


_MARKS = {
    "sub_goal": ("[+]", ""),
    "planned": ("[+]", ""),
    "started": ("[>]", ""),
    "done": ("[x]", "green"),
    "failed": ("[!]", "red"),
    "stopped": ("[?]", "yellow"),
    "revised": ("[~]", "yellow"),
}


def _show_event(event: PursuitEvent) -> None:
    """One line for what happens; how it ends is told with the result."""
    from rich.text import Text

    if event.kind not in _MARKS:
        return
    mark, style = _MARKS[event.kind]
    about = f" {event.step}:" if event.step else f" {event.kind.replace('_', '-')}:"
    text = screen.beginning(" ".join(event.text.split()), 300)
    screen.console().print(
        Text.assemble((mark, style), about, f" {screen.plain(text)}" if text else ""), soft_wrap=True
    )


def _show_pursuit(pursuit: Pursuit, told: str) -> None:
    for problem in pursuit.problems:
        screen.print_note(problem)
    used = f", {pursuit.usage.tokens:,} tokens" if pursuit.usage.tokens else ""
    did = f"{screen.counted(pursuit.steps_done, 'step')} done, {screen.counted(len(pursuit.revisions), 'revision')}"
    out = screen.console()
    out.print(f"{pursuit.ending.replace('_', ' ')}: {did}, {pursuit.seconds:.1f} s{used}")
    if pursuit.why:
        out.print(screen.plain(pursuit.why), soft_wrap=True)
    _print(pursuit.goal.id, told)


def _print(id: str, told: str) -> None:
    out = screen.console()
    out.print(screen.dim(id))
    out.print(screen.plain(told), soft_wrap=True)


def _show_goals(goals: Sequence[Goal]) -> None:
    from rich.text import Text

    out = screen.console()
    if not goals:
        out.print("Nothing here.")
        return
    made = screen.table("Id", "Status", "Done", "Prio.", "Due", "Goal")
    for column in made.columns[:-1]:
        column.no_wrap = True
    for goal in goals:
        made.add_row(
            screen.short(goal.id),
            goal.status,
            f"{goal.progress:.0%}",
            f"{goal.priority:.1f}",
            screen.day(goal.deadline) if goal.deadline else "",
            Text(screen.plain(" ".join(goal.description.split())), no_wrap=True, overflow="ellipsis"),
        )
    out.print(made)
