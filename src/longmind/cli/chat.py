"""``longmind chat``: talk with the agent, see what it remembers, and why it says what it says."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longmind.cli import screen
from longmind.cli.chat_commands import Chatting, perform
from longmind.cli.chat_input import lines, on_interrupt
from longmind.cli.command import FAILED, Invocation, creating_command
from longmind.errors import LongmindError

if TYPE_CHECKING:
    from longmind.agent import Agent, Outcome, Stream
    from longmind.memory import AgentMemory

_QUIT = ("/quit", "/exit")


@creating_command
async def chat(
    call: Invocation,
    session: Annotated[
        str | None, typer.Option("--session", "-s", help="The conversation to go on with; by default a new one.")
    ] = None,
    tools: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="Functions the agent may call: a ToolRegistry in a module that Python can import from here.",
        ),
    ] = None,
) -> None:
    """Talk with the agent. It remembers what is said; /why tells which memories were used.

    With no language model configured (LONGMIND_MODEL) it answers questions from memory, with the words the answer rests
    on, as `longmind ask` does, and says so.
    Ctrl-C stops an answer, Ctrl-D ends the chat. From a pipe each line is a message; with --json each answer is one
    JSON object on a line of its own.
    """
    from longmind.agent import Agent
    from longmind.agent.critics import RuleCritic
    from longmind.cli.procedures import tool_registry

    registry = None if tools is None else tool_registry(tools)
    async with call.agent() as mem:
        model = await mem.chat()
        named = session or f"chat-{screen.short(mem.scoped.clock.new_id())}"
        chatting = Chatting(call, mem, named, asks=sys.stdin.isatty() and not call.json)
        if not call.json:
            await _show_beginning(call, mem, named, None if model is None else model.name)
        await _talk(chatting, Agent(mem, tools=registry, critic=RuleCritic()))
        if not call.json:
            _show_end(call, named)
    if chatting.failed and not chatting.asks:
        raise typer.Exit(FAILED)


async def _talk(chatting: Chatting, agent: Agent) -> None:
    for line in lines(chatting.asks):
        if line in _QUIT:
            return
        await _heard(chatting, agent, line)


async def _heard(chatting: Chatting, agent: Agent, line: str) -> None:
    """Do what a line asks for. Ctrl-C stops that and nothing else; what goes wrong is told, and the chat goes on."""
    work = asyncio.create_task(_done(chatting, agent, line), name="answer")
    try:
        with on_interrupt(work.cancel):
            await asyncio.wait({work})
    finally:
        work.cancel()
    try:
        work.result()
    except asyncio.CancelledError:
        chatting.say({"stopped": True}, _show_stopped)
    except LongmindError as error:
        chatting.fail(error.as_dict())
    except typer.BadParameter as error:
        chatting.fail({"error": "usage", "message": error.format_message(), "hint": "See /help.", "details": {}})


async def _done(chatting: Chatting, agent: Agent, line: str) -> None:
    if line.startswith("/") and not line.startswith("//"):
        await perform(chatting, line)
    else:
        await _answer(chatting, agent, line.removeprefix("/") if line.startswith("//") else line)


# -- answering ---------------------------------------------------------------------------------------------------------


async def _answer(chatting: Chatting, agent: Agent, message: str) -> None:
    """Answer as the words come. An answer that is stopped is recorded as far as it came."""
    async with agent.stream(message, session=chatting.session) as stream:
        outcome = await _spoken(stream, quiet=chatting.call.json)
    chatting.last = outcome
    chatting.failed = chatting.failed or outcome.ending != "answered"
    chatting.say(_as_data(outcome), lambda: _show_outcome(outcome))


async def _spoken(stream: Stream, *, quiet: bool) -> Outcome:
    from rich.text import Text

    out = screen.console()
    async for piece in stream:
        if not quiet:
            out.print(Text(screen.plain(piece)), end="", soft_wrap=True)
            out.file.flush()
    return await stream.result()


def _as_data(outcome: Outcome) -> dict[str, Any]:
    """An answer for a program."""
    return {
        "text": outcome.text,
        "ending": outcome.ending,
        "session": outcome.session,
        "memories": [
            {"id": hit.memory.id, "score": hit.score, "why": hit.why, "content": hit.memory.content}
            for hit in outcome.memories
        ],
        "calls": [{"tool": one.call.tool, "args": one.call.args, "ok": one.ok} for one in outcome.done],
        "problems": list(outcome.problems),
        "episode": outcome.episode,
        "usage": outcome.usage,
    }


def _show_stopped() -> None:
    screen.console().print(screen.dim("\n(stopped; what was said so far is kept)"))


def _show_outcome(outcome: Outcome) -> None:
    """What follows the words of an answer: what was done for it, and how to see why."""
    out = screen.console()
    out.print()
    notes = [f"{one.call.tool} {'worked' if one.ok else 'failed'}" for one in outcome.done]
    notes += [f"{screen.counted(len(outcome.memories), 'memory')}, /why"] if outcome.memories else []
    if notes:
        out.print(screen.dim(f"({'; '.join(map(screen.plain, notes))})"))
    for problem in outcome.problems:
        screen.print_note(problem)


# -- the beginning and the end ----------------------------------------------------------------------------------------


async def _show_beginning(call: Invocation, mem: AgentMemory, session: str, model: str | None) -> None:
    out = screen.console()
    counted = (await mem.stats()).memories
    whose = f"{mem.scope.agent}, with {call.user}" if call.user else mem.scope.agent
    rows = {
        "model": model or "none: answers are taken from memory (set LONGMIND_MODEL for a language model)",
        "memory": f"{screen.counted(counted, 'memory')} of {whose}",
        "session": session,
    }
    out.print(screen.pairs(rows))
    out.print(screen.dim("/help tells the commands, Ctrl-D ends the chat."))


def _show_end(call: Invocation, session: str) -> None:
    screen.console().print(screen.dim(f"To go on: {call.again('chat', '--session', session)}"), soft_wrap=True)
