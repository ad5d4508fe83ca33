"""What every command shares: where to work, how to answer, and how to fail.

A command is a coroutine whose first parameter is the ``Invocation``. ``agent_command``, ``creating_command``,
``tenant_command`` and ``store_command`` make of it a function for typer and add the options that all commands of that
reach have, so that none forgets one and none takes one that it would not heed:

    @agent_command
    async def stats(call: Invocation) -> None:
        async with call.agent() as mem:
            call.answer(await mem.stats(), ...)

Exit codes: 0 fine, 1 an error of ours (message and hint on stderr, never a traceback), 2 the command was called
wrongly, 3 what was asked for does not exist.
"""

from __future__ import annotations

import inspect
import logging
import shlex
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

import typer

from longmind.cli import screen
from longmind.cli.chat_input import on_interrupt
from longmind.config import Settings
from longmind.errors import LongmindError, NotFound
from longmind.perceive.files import as_text

if TYPE_CHECKING:
    from longmind.memory import AgentMemory, Longmind

P = ParamSpec("P")

OK, FAILED, USAGE, MISSING = 0, 1, 2, 3
"""The exit codes."""
_NAMED_AGENTS = 10

PANEL = "Where and how"
_Url = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        rich_help_panel=PANEL,
        help="The store: a path, sqlite:///path, postgresql://... or memory:. "
        "By default LONGMIND_URL, or else a file of yours.",
    ),
]
_Agent = Annotated[
    str | None,
    typer.Option("--agent", "-a", rich_help_panel=PANEL, help="Whose memory. By default LONGMIND_AGENT, or assistant."),
]
_User = Annotated[
    str | None,
    typer.Option(
        "--user",
        "-u",
        rich_help_panel=PANEL,
        help="Only what the agent knows with this user; by default what belongs to no user.",
    ),
]
_AllUsers = Annotated[
    bool, typer.Option("--all-users", rich_help_panel=PANEL, help="What the agent knows with every user.")
]
_Tenant = Annotated[
    str | None,
    typer.Option(rich_help_panel=PANEL, help="Whose agents. By default LONGMIND_TENANT, or default."),
]
_Json = Annotated[
    bool, typer.Option("--json", rich_help_panel=PANEL, help="Answer with one JSON document, and errors as JSON too.")
]
_SHARED: dict[str, tuple[Any, Any]] = {
    "url": (_Url, None),
    "agent": (_Agent, None),
    "user": (_User, None),
    "all_users": (_AllUsers, False),
    "tenant": (_Tenant, None),
    "json": (_Json, False),
}


@dataclass(frozen=True, slots=True)
class Invocation:
    """One run of a command: the store and agent it is about, and whether a person or a program reads the answer."""

    url: str | None = None
    agent_name: str | None = None
    user: str | None = None
    all_users: bool = False
    tenant: str | None = None
    json: bool = False
    creates: bool = False
    """Whether the command may create the store and the agent. Those that only read never do."""

    @property
    def settings(self) -> Settings:
        """What the environment says, changed by the options."""
        return Settings.load(url=self.url, agent=self.agent_name, tenant=self.tenant)

    @asynccontextmanager
    async def store(self, *, embedder: str | None = None, create: bool = False) -> AsyncIterator[Longmind]:
        """Open the store. One that does not exist is an error, unless the command may create it."""
        from longmind.memory import Longmind

        create = create or self.creates
        async with Longmind.open(settings=self.settings, embedder=embedder, create=create) as longmind:
            yield longmind

    @asynccontextmanager
    async def agent(self) -> AsyncIterator[AgentMemory]:
        """The memory of the agent and user that the options name.

        An agent about which nothing was ever stored is an error, unless the command may create it.
        """
        async with self.store() as longmind:
            mem = longmind.agent(self.settings.agent, self.user, all_users=self.all_users)
            if not self.creates:
                await require_agent(longmind, mem)
            yield mem

    def must_exist(self) -> None:
        """Refuse a store that does not exist, before anything else is done with its URL."""
        from longmind.store.open import require_store

        require_store(self.settings.store_url())

    def answer(self, data: Any, show: Callable[[], object]) -> None:
        """The result: data for a program, or what ``show`` prints for a person."""
        if self.json:
            screen.print_json(data)
        else:
            show()

    def again(self, *words: str) -> str:
        """A command for the same store and agent, to be pasted: what the options said would be missing otherwise."""
        values = {"--url": self.url, "--agent": self.agent_name, "--user": self.user, "--tenant": self.tenant}
        passed = [(name, value) for name, value in values.items() if value is not None]
        options = [word for name, value in passed for word in (name, screen.without_password(value))]
        flags = ["--all-users"] if self.all_users else []
        return screen.plain(shlex.join(["longmind", *words, *options, *flags]))

    def note(self, text: str) -> None:
        """Something the user should know that is not the answer; on stderr."""
        if self.json:
            screen.print_json({"notice": text}, error=True)
        else:
            screen.print_note(text)


def agent_command(work: Callable[Concatenate[Invocation, P], Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A command about one agent's memory: --url --agent --user --all-users --tenant --json."""
    return _command(work, ("url", "agent", "user", "all_users", "tenant", "json"))


def creating_command(work: Callable[Concatenate[Invocation, P], Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A command about one agent's memory that stores something new, so the store and the agent need not exist yet."""
    return _command(work, ("url", "agent", "user", "all_users", "tenant", "json"), creates=True)


def tenant_command(work: Callable[Concatenate[Invocation, P], Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A command about all agents of a tenant: --url --tenant --json."""
    return _command(work, ("url", "tenant", "json"))


def store_command(work: Callable[Concatenate[Invocation, P], Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A command about a whole store: --url --json."""
    return _command(work, ("url", "json"))


async def require_agent(longmind: Longmind, mem: AgentMemory) -> None:
    """Refuse an agent about which nothing was ever stored, and name those that there are."""
    if (await longmind.store.backend.head(mem.scope)).seq:
        return
    known = [scope.agent for scope in await longmind.agents()]
    shown = ", ".join(known[:_NAMED_AGENTS]) + (" ..." if len(known) > _NAMED_AGENTS else "")
    hint = f"There are: {shown}." if known else "The store is empty; the first `longmind remember` makes an agent."
    raise NotFound(f"There is no agent {mem.scope.agent} here.", hint=hint, agents=known[:_NAMED_AGENTS])


def _command(
    work: Callable[..., Coroutine[Any, Any, None]], shared: Sequence[str], *, creates: bool = False
) -> Callable[..., None]:
    _, *own = inspect.signature(work, eval_str=True).parameters.values()
    common = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_SHARED[name][1], annotation=_SHARED[name][0])
        for name in shared
    ]

    def run(**arguments: Any) -> None:
        import asyncio

        common = {name: arguments.pop(name) for name in shared}
        call = Invocation(
            common["url"],
            common.get("agent"),
            common.get("user"),
            common.get("all_users", False),
            common.get("tenant"),
            common["json"],
            creates,
        )
        with failing(as_json=call.json), _log_as_notes(call):
            asyncio.run(work(call, **arguments))

    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + common
    run.__name__, run.__doc__, run.__module__ = work.__name__, work.__doc__, work.__module__
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    return run


@contextmanager
def failing(*, as_json: bool) -> Iterator[None]:
    """Turn our errors, and those of files, into a message on stderr and an exit code."""
    try:
        yield
    except LongmindError as error:
        screen.print_error(error.as_dict(), as_json=as_json)
        raise typer.Exit(MISSING if isinstance(error, NotFound) else FAILED) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        problem = {
            "error": "os_error",
            "message": f"{where}{error.strerror or error}.",
            "hint": "",
            "details": {},
        }
        screen.print_error(problem, as_json=as_json)
        raise typer.Exit(FAILED) from error


class _Notes(logging.Handler):
    """What the library warns of in its log reaches the person at the terminal as a note."""

    def __init__(self, call: Invocation) -> None:
        super().__init__(logging.WARNING)
        self._call = call

    def emit(self, record: logging.LogRecord) -> None:
        self._call.note(record.getMessage())


@contextmanager
def _log_as_notes(call: Invocation) -> Iterator[None]:
    log, handler = logging.getLogger("longmind"), _Notes(call)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def read_stdin() -> str:
    """All of the standard input, as UTF-8 whatever the terminal's encoding is. Ctrl-C ends it at once."""
    with on_interrupt(None):
        data = sys.stdin.buffer.read()
    return as_text(data, "The standard input")
