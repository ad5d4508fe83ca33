"""``longmind doctor``: is the store sound, and if not, what to do."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longmind.cli import agents, screen
from longmind.cli.command import FAILED, Invocation, store_command
from longmind.cli.salvage import rescue
from longmind.errors import ForeignStore, InvalidInput, LongmindError, ModelError, SchemaTooNew, StoreCorrupt
from longmind.store.base import Backend, ErasureBackend, ReembedBackend, Space
from longmind.types import Scope, Stats

if TYPE_CHECKING:
    from longmind.memory import Longmind

_COUNTED = 1_000
"""Memories without a vector are counted so far."""
_ADVICE: dict[type[LongmindError], str] = {
    StoreCorrupt: "Copy the file first. `longmind doctor --salvage out.jsonl` writes what can still be read; then "
    "`longmind import out.jsonl --url new.db` makes a new store of it.",
    ForeignStore: "Nothing was changed. Point --url or LONGMIND_URL to a Longmind store, or to a new file.",
    SchemaTooNew: "Nothing was changed. Install a Longmind at least as new as the one that wrote this store.",
}


@dataclass(slots=True)
class Diagnosis:
    """What was found."""

    store: str
    backend: str | None = None
    schema: str | None = None
    embedder: str | None = None
    agents: list[tuple[Scope, Stats]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    scrubbed: list[str] = field(default_factory=list)
    not_scrubbed: list[str] = field(default_factory=list)

    def add_problem(self, error: LongmindError) -> None:
        """An error that kept us from looking further is a problem, with what to do."""
        advice = next((text for kind, text in _ADVICE.items() if isinstance(error, kind)), "")
        self.problems.append(" ".join(part for part in (error.message, error.hint, advice) if part))


@store_command
async def doctor(
    call: Invocation,
    salvage: Annotated[
        Path | None,
        typer.Option(metavar="OUT.jsonl", help="Write what can be read of a damaged SQLite store, to be imported."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="With --salvage: replace a file that exists.")] = False,
    scrub: Annotated[
        bool,
        typer.Option(
            "--scrub", help="First rewrite the files of the store, so that they keep nothing of what was erased."
        ),
    ] = False,
    create_role: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="On PostgreSQL, as the owner: make or update the tables, and the role for a server of many tenants.",
        ),
    ] = None,
) -> None:
    """Examine a store: is it sound, what is in it, and what to do about a problem.

    Exit code 0 when all is well, 1 when there are problems, 3 when there is no store.
    """
    url = call.settings.store_url()
    call.must_exist()
    if salvage is not None:
        rescue(call, url, salvage, force=force)
        return
    diagnosis = Diagnosis(screen.without_password(url))
    if create_role is not None:
        _require_postgres(url)
    try:
        # a model that is not installed must not hide the store
        async with call.store(embedder="none", create=create_role is not None) as longmind:
            if create_role is not None:
                diagnosis.notes.append(await _create_role(url, create_role))
            if scrub:
                diagnosis.scrubbed, diagnosis.not_scrubbed = map(list, await longmind.scrub())
            await _examine(longmind, diagnosis)
    except LongmindError as error:
        diagnosis.add_problem(error)
    call.answer(_data(diagnosis), lambda: _show(diagnosis))
    if diagnosis.problems:
        raise typer.Exit(FAILED)


def _require_postgres(url: str) -> None:
    if not url.startswith(("postgresql://", "postgres://")):
        raise InvalidInput("Only a PostgreSQL store has roles.", hint="On SQLite each tenant has a file of its own.")


async def _create_role(url: str, role: str) -> str:
    from longmind.store.postgres.roles import create_role

    if await asyncio.to_thread(create_role, url, role):
        return f"Made the role {role}. Give it a way to log in: ALTER ROLE ... PASSWORD, or a line in pg_hba.conf."
    return f"Renewed the grants of the role {role}."


async def _examine(longmind: Longmind, diagnosis: Diagnosis) -> None:
    backend = longmind.store.backend
    package = type(backend).__module__.rpartition(".")[0]
    diagnosis.backend, diagnosis.schema = package.rpartition(".")[2], _schema(package)
    diagnosis.problems += await longmind.check()
    if isinstance(backend, ErasureBackend):
        diagnosis.notes += await backend.uncleared()
    diagnosis.agents = [(scope, await longmind.store.stats(scope)) for scope in await backend.scopes()]
    space = await backend.space()
    if space is None:
        diagnosis.notes.append("No embedder has been used yet; the first `remember` chooses one.")
        return
    diagnosis.embedder = f"{space.name}, {space.dimensions} numbers a vector"
    if bare := await _without_vector(backend, space, diagnosis.agents):
        more = " or more" if bare == _COUNTED else ""
        diagnosis.notes.append(f"{screen.counted(bare, 'memory')}{more} without a vector: found by words only.")
    await _try_embedder(longmind, diagnosis)


async def _without_vector(backend: Backend, space: Space, agents: list[tuple[Scope, Stats]]) -> int:
    """How many memories say something and have no vector. Settings, pages and the like have no text to make one of."""
    bare = sum(held.memories - held.vectors for _, held in agents)
    if not bare or not isinstance(backend, ReembedBackend):
        return bare
    return len(await backend.missing_vectors(space, min(bare, _COUNTED)))


async def _try_embedder(longmind: Longmind, diagnosis: Diagnosis) -> None:
    """Whether the store's embedder is there and works."""
    from longmind.embedding import Embedding

    embedding = Embedding(longmind.store, longmind.settings.embedder, longmind.settings)
    try:
        await embedding.embed(["Is anybody there?"])
    except ModelError as error:
        diagnosis.add_problem(error)
    finally:
        await embedding.close()


def _schema(package: str) -> str | None:
    """The newest migration. A store that could be opened has it: opening brings it up to date."""
    from importlib import resources

    from longmind.store import migrate

    if not resources.files(package).joinpath(migrate.FOLDER).is_dir():
        return None
    return migrate.shipped(package)[-1]


def _data(diagnosis: Diagnosis) -> dict[str, Any]:
    data = asdict(diagnosis)
    data["agents"] = [
        {"tenant": scope.tenant, "agent": scope.agent, **screen.as_data(held)} for scope, held in diagnosis.agents
    ]
    return {"ok": not diagnosis.problems, **data}


def _show(diagnosis: Diagnosis) -> None:
    from rich.text import Text

    out = screen.console()
    out.print(
        screen.pairs(
            {
                "store": diagnosis.store,
                "backend": diagnosis.backend,
                "schema": diagnosis.schema,
                "embedder": diagnosis.embedder,
            }
        )
    )
    if diagnosis.agents:
        agents.show(diagnosis.agents, tenants=True)
    for line in diagnosis.scrubbed:
        out.print(Text.assemble(("scrubbed: ", "green"), screen.plain(line)))
    for line in diagnosis.not_scrubbed:
        out.print(Text.assemble(("out of reach: ", "yellow"), screen.plain(line)))
    for note in diagnosis.notes:
        out.print(Text.assemble(("note: ", "yellow"), screen.plain(note)))
    for problem in diagnosis.problems:
        out.print(Text.assemble(("problem: ", "bold red"), screen.plain(problem)))
    if not diagnosis.problems:
        out.print(Text("All is well.", style="green"))
