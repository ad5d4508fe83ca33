"""``longmind persona``: profiles of the user and the agent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from longmind.cli import screen
from longmind.cli.command import Invocation, agent_command, creating_command
from longmind.errors import NotFound

if TYPE_CHECKING:
    from longmind.systems.persona import Knowledge, Learnt, PersonaMemory, Profile, Trait

app = typer.Typer(name="persona", help="Profiles of the user and the agent.")

_About = Annotated[Literal["user", "agent"], typer.Option("--about", help="The profile of the user, or of the agent.")]
_Confidence = Annotated[float, typer.Option("--confidence", "-c", min=0, max=1, help="The confidence, from 0 to 1.")]


@asynccontextmanager
async def _persona(call: Invocation) -> AsyncIterator[PersonaMemory]:
    from longmind.systems.persona import PersonaMemory

    async with call.agent() as mem:
        yield PersonaMemory(mem.scoped)


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
