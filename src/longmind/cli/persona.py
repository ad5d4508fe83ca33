"""``longmind persona``: profiles of the user and the agent, and the shared memory of a tenant."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from longmind.cli import screen
from longmind.cli.command import Invocation, agent_command, creating_command
from longmind.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from longmind.systems.persona import Knowledge, Learnt, PersonaMemory, Profile, Trait
    from longmind.systems.shared import SharedKnowledge, SharedMemory, ShareProposal

app = typer.Typer(name="persona", help="Profiles of the user and the agent, and shared memory.")

_About = Annotated[Literal["user", "agent"], typer.Option("--about", help="The profile of the user, or of the agent.")]
_Confidence = Annotated[float, typer.Option("--confidence", "-c", min=0, max=1, help="The confidence, from 0 to 1.")]
_Status = Literal["pending", "approved", "rejected", "any"]
_Id = Annotated[str, typer.Argument(metavar="ID", help="An id, or 8 or more characters of its beginning or end.")]
_Note = Annotated[str, typer.Option("--note", help="The reason, stored with it.")]


@asynccontextmanager
async def _persona(call: Invocation) -> AsyncIterator[PersonaMemory]:
    from longmind.systems.persona import PersonaMemory

    async with call.agent() as mem:
        yield PersonaMemory(mem.scoped)


@asynccontextmanager
async def _shared(call: Invocation) -> AsyncIterator[SharedMemory]:
    from longmind.systems.shared import SharedMemory

    async with call.agent() as mem:
        yield SharedMemory(mem.scoped)


@app.command("show")
@agent_command
async def show(call: Invocation, about: _About = "user") -> None:
    """Show a profile: traits by confidence, and knowledge by usefulness."""
    async with _persona(call) as persona:
        profile = await persona.profile(about)
    call.answer(profile, lambda: _show_profile(profile))


@app.command("observe")
@creating_command
async def observe(
    call: Invocation,
    dimension: Annotated[str, typer.Argument(help="The dimension, such as diet.")],
    value: Annotated[str, typer.Argument(help="The observed value.")],
    score: Annotated[float | None, typer.Option(min=0, max=1, help="How pronounced it is, from 0 to 1.")] = None,
    confidence: _Confidence = 0.5,
    about: _About = "user",
    correction: Annotated[
        bool, typer.Option("--correction", help="It was stated explicitly: it replaces the current value at once.")
    ] = False,
) -> None:
    """Record an observation of a trait. Another value lowers the confidence of the current one."""
    async with _persona(call) as persona:
        trait = await persona.observe(
            dimension, value, score=score, confidence=confidence, about=about, correction=correction
        )
    call.answer(trait, lambda: _show_traits([trait]))


@app.command("history")
@agent_command
async def history(
    call: Invocation,
    dimension: Annotated[str, typer.Argument(help="The dimension, such as diet.")],
    about: _About = "user",
) -> None:
    """Show every value a dimension has had, the oldest first."""
    async with _persona(call) as persona:
        traits = await persona.history(dimension, about)
    if not traits:
        raise NotFound(f"Nothing was ever observed of {dimension!r}.", hint="`longmind persona show` lists all.")
    call.answer({"values": traits}, lambda: _show_traits(traits, history=True))


@app.command("learn")
@creating_command
async def learn(
    call: Invocation,
    text: Annotated[str, typer.Argument(help="The statement.")],
    confidence: _Confidence = 0.5,
    importance: Annotated[float, typer.Option("--importance", "-i", min=0, max=1, help="From 0 to 1.")] = 0.5,
    about: _About = "user",
) -> None:
    """Store a knowledge entry; beyond the limit the least useful is archived."""
    async with _persona(call) as persona:
        learnt = await persona.learn(text, confidence=confidence, importance=importance, about=about)
    call.answer(learnt, lambda: _show_learnt(learnt))


@app.command("shared")
@agent_command
async def shared(
    call: Invocation,
    status: Annotated[_Status, typer.Option(help="Only entries with this status.")] = "approved",
) -> None:
    """List the shared memory of the tenant, the best supported first."""
    async with _shared(call) as memory:
        entries = await memory.list(None if status == "any" else status)
    call.answer({"shared": entries}, lambda: _show_shared(entries))


@app.command("propose")
@creating_command
async def propose(call: Invocation, text: Annotated[str, typer.Argument(help="The statement.")]) -> None:
    """Support a statement as this agent, or with --user as this user. With enough support it is shared."""
    async with _shared(call) as memory:
        proposal = await memory.propose(text)
    call.answer(proposal, lambda: _show_proposal(proposal))


@app.command("approve")
@agent_command
async def approve(call: Invocation, id: _Id, note: _Note = "") -> None:
    """Share a candidate, whatever its support."""
    async with _shared(call) as memory:
        approved = await memory.approve(await _candidate_id(memory, id), note)
    call.answer(approved, lambda: _show_shared([approved]))


@app.command("reject")
@agent_command
async def reject(call: Invocation, id: _Id, note: _Note = "") -> None:
    """Keep a candidate out, whatever its support."""
    async with _shared(call) as memory:
        rejected = await memory.reject(await _candidate_id(memory, id), note)
    call.answer(rejected, lambda: _show_shared([rejected]))


async def _candidate_id(memory: SharedMemory, prefix: str) -> str:
    """Return the full id of a candidate. Candidates are not among the agent's own memories."""
    prefix = prefix.strip().lower()
    if len(prefix) < screen.SHORT:
        raise InvalidInput(f"{prefix!r} is too short for an id.", hint=f"Give {screen.SHORT} or more characters.")
    ids = [entry.id for entry in await memory.list(None) if entry.id.startswith(prefix) or entry.id.endswith(prefix)]
    if len(ids) != 1:
        raise NotFound(f"{len(ids)} candidates are named {prefix!r}.", hint="`longmind persona shared --status any`.")
    return ids[0]


def _show_profile(profile: Profile) -> None:
    out = screen.console()
    if not profile.traits and not profile.knowledge:
        out.print(f"Nothing is known of the {profile.about} yet.")
        return
    if profile.traits:
        _show_traits(profile.traits)
    if profile.knowledge:
        _show_knowledge(profile.knowledge)


def _show_traits(traits: Sequence[Trait], *, history: bool = False) -> None:
    table = screen.table("Dimension", "Value", "Conf.", "Score", "Seen", "Against", "Until" if history else "Since")
    for trait in traits:
        until = screen.day(trait.until) if trait.until else "now"
        table.add_row(
            screen.plain(trait.dimension),
            screen.plain(trait.value),
            f"{trait.confidence:.2f}",
            "" if trait.score is None else f"{trait.score:.2f}",
            str(trait.observations),
            str(trait.against),
            until if history else screen.day(trait.since),
        )
    screen.console().print(table)


def _show_knowledge(entries: Sequence[Knowledge]) -> None:
    table = screen.table("Knowledge", "Conf.", "Imp.", "Used")
    for entry in entries:
        text = screen.beginning(" ".join(entry.text.split()))
        table.add_row(screen.plain(text), f"{entry.confidence:.2f}", f"{entry.importance:.2f}", str(entry.used))
    screen.console().print(table)


def _show_learnt(learnt: Learnt) -> None:
    out = screen.console()
    out.print(f"{'Learnt' if learnt.created else 'Known already, surer now'}: {screen.plain(learnt.knowledge.text)}")
    if learnt.archived:
        out.print(screen.dim(f"{screen.counted(len(learnt.archived), 'entry')} went to the archive."))


def _show_shared(entries: Sequence[SharedKnowledge]) -> None:
    out = screen.console()
    if not entries:
        out.print("Nothing.")
        return
    table = screen.table("Id", "Status", "Support", "Text")
    for entry in entries:
        table.add_row(
            screen.short(entry.id), entry.status, str(entry.support), screen.plain(" ".join(entry.text.split()))
        )
    out.print(table)


def _show_proposal(proposal: ShareProposal) -> None:
    if proposal.knowledge is None:
        screen.console().print(f"Refused: {proposal.refused}")
    else:
        _show_shared([proposal.knowledge])
