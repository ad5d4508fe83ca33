"""What can be asked in a chat beside talking: ``/why``, ``/memory``, ``/forget``, ``/goal``, ``/plan``, ``/help``."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longmind.cli import screen
from longmind.cli.chat_input import confirmed
from longmind.cli.ids import memory_id
from longmind.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from longmind.agent import Outcome
    from longmind.cli.command import Invocation
    from longmind.memory import AgentMemory
    from longmind.systems.goals import Goal
    from longmind.types import Hit

_FOUND, _GOALS = 8, 20
HELP: Mapping[str, str] = {
    "/why": "which memories were brought into the last answer, how well each fits, and why",
    "/memory [question]": "search memory, or say how much there is",
    "/forget ID": "forget a memory by its id or the 8 characters shown; ID! does not ask first, as a pipe needs",
    "/goal [text]": "list the open goals, or make one",
    "/plan [ID]": "show a goal and its plan; by default the newest open one",
    "/help": "this",
    "/quit": "end the chat; Ctrl-D does too",
    "//text": "say something that begins with a slash",
}


@dataclass(slots=True)
class Chatting:
    """A chat that goes on: where, with what memory, and what was answered last."""

    call: Invocation
    mem: AgentMemory
    session: str
    asks: bool
    """Whether a person sits there who can be asked."""
    last: Outcome | None = None
    failed: bool = False
    """Whether something went wrong; a script learns it by the exit code."""

    def say(self, data: Mapping[str, Any], show: Callable[[], object]) -> None:
        """An answer: a line of JSON for a program, or what ``show`` prints for a person."""
        if not self.call.json:
            show()
            return
        ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
        sys.stdout.write(json.dumps(screen.as_data(data), ensure_ascii=ascii_only) + "\n")
        sys.stdout.flush()

    def hint(self, what: str, *words: str) -> None:
        """The command for something that is not done in a chat."""
        screen.console().print(screen.dim(f"{what}: {self.call.again(*words)}"), soft_wrap=True)

    def fail(self, error: Mapping[str, Any]) -> None:
        """Something could not be done; the chat goes on."""
        self.failed = True
        self.say(error, lambda: screen.print_error(error, as_json=False))


async def perform(chatting: Chatting, line: str) -> None:
    """Do what a line that begins with a slash asks for."""
    name, _, rest = line.partition(" ")
    command = _COMMANDS.get(name)
    if command is None:
        raise InvalidInput(f"There is no command {name}.", hint="/help tells which there are; // begins a message.")
    await command(chatting, rest.strip())


async def _help(chatting: Chatting, rest: str) -> None:
    chatting.say({"command": "help", "commands": HELP}, lambda: screen.console().print(screen.pairs(HELP)))


async def _why(chatting: Chatting, rest: str) -> None:
    if chatting.last is None:
        raise InvalidInput("Nothing was answered yet in this chat.", hint="Ask something first.")
    hits = chatting.last.memories
    chatting.say(
        {"command": "why", "episode": chatting.last.episode, "hits": hits},
        lambda: _show_hits(hits, "No memory was brought into the last answer."),
    )


async def _memory(chatting: Chatting, question: str) -> None:
    if question:
        hits = await chatting.mem.recall(question, _FOUND)
        chatting.say({"command": "memory", "hits": hits}, lambda: _show_hits(hits, "Nothing that fits."))
        return
    counted = await chatting.mem.stats()
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(counted.by_kind.items()))
    told = f"{screen.counted(counted.memories, 'memory')}{': ' if kinds else ''}{kinds}"
    chatting.say({"command": "memory", "stats": counted}, lambda: screen.console().print(screen.plain(told)))


async def _forget(chatting: Chatting, given: str) -> None:
    """Forget one memory. It can be brought back, so a question is asked only where somebody sits."""
    sure = given.endswith("!")
    named = given.removesuffix("!").strip()
    if not named:
        raise InvalidInput("Say what to forget.", hint="/forget 1a2b3c4d, with an id that /why or /memory shows.")
    mem = chatting.mem
    id = await memory_id(mem, named)
    memory = await mem.get(id)
    if memory is None:
        raise NotFound(f"There is no memory {id} here.", hint="/memory shows what there is.")
    if not sure and not _confirmed(chatting, memory.content):
        return
    forgotten = await mem.forget([id], reason="asked in a chat")
    operation = forgotten.operation or ""

    def show() -> None:
        screen.console().print("Forgot 1 memory.")
        chatting.hint("To bring back", "undo", screen.short(operation))

    chatting.say({"command": "forget", "id": id, "operation": operation}, show)


def _confirmed(chatting: Chatting, content: str) -> bool:
    if not chatting.asks:
        raise InvalidInput("Nobody is there to confirm it.", hint="Write an exclamation mark after the id: /forget ID!")
    screen.console().print(f"“{screen.plain(screen.beginning(content))}”", soft_wrap=True)
    if confirmed("Forget this?"):
        return True
    screen.console().print("Nothing was forgotten.")
    return False


async def _goal(chatting: Chatting, text: str) -> None:
    goals = chatting.mem.goals
    if text:
        made = await goals.create(text)

        def show() -> None:
            screen.console().print(f"{screen.short(made.id)}  {screen.plain(made.description)}", soft_wrap=True)
            chatting.hint("To pursue it", "goal", "run", screen.short(made.id))

        chatting.say({"command": "goal", "goal": made}, show)
        return
    found = (await goals.list(open=True, limit=_GOALS)).items
    chatting.say({"command": "goal", "goals": found}, lambda: _show_goals(found))


async def _plan(chatting: Chatting, given: str) -> None:
    goals = chatting.mem.goals
    if given:
        id = await memory_id(chatting.mem, given)
    else:
        newest = (await goals.list(open=True, limit=1)).items
        if not newest:
            raise NotFound("There is no open goal.", hint="Make one: /goal and what is wanted.")
        id = newest[0].id
    told, plan = await goals.render(id), await goals.plan(id)

    def show() -> None:
        screen.console().print(screen.plain(told), soft_wrap=True)
        if plan is None:
            chatting.hint("No plan yet; to make and run one", "goal", "run", screen.short(id))

    chatting.say({"command": "plan", "goal": id, "plan": plan, "text": told}, show)


def _show_hits(hits: Sequence[Hit], none: str) -> None:
    """Each memory on a line, with the reason under it."""
    from rich.text import Text

    out = screen.console()
    if not hits:
        out.print(none)
    for hit in hits:
        memory = hit.memory
        text = " ".join(screen.beginning(screen.plain(memory.content)).split())
        head = f"{screen.short(memory.id)}  {screen.day(memory.occurred_at)}  {screen.from_whom(memory)}: {text}"
        out.print(Text.assemble((f"{hit.score:.2f}  ", "green"), head), soft_wrap=True)
        out.print(Text(f"      {screen.plain(hit.why)}", style="dim italic"), soft_wrap=True)


def _show_goals(goals: Sequence[Goal]) -> None:
    out = screen.console()
    if not goals:
        out.print("No goal is open.")
    for goal in goals:
        line = f"{screen.short(goal.id)}  {goal.status}  {goal.progress:.0%}  {' '.join(goal.description.split())}"
        out.print(screen.plain(screen.beginning(line, 200)), soft_wrap=True)


_COMMANDS: Mapping[str, Callable[[Chatting, str], Awaitable[None]]] = {
    "/why": _why,
    "/memory": _memory,
    "/forget": _forget,
    "/goal": _goal,
    "/plan": _plan,
    "/help": _help,
}
