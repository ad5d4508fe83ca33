"""``taat confirm``: say whether a signal was read rightly. What announcers' own words mean is learnt from it."""

import asyncio
import sys
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from longmind import InvalidInput, NotFound
from taat.cli import screen
from taat.cli.place import StoreOption, existing_memory
from taat.cli.recorded import JsonOption
from taat.memory import TraderMemory, announcer_name
from taat.memory.conversation import Confirmation, confirmation_entry
from taat.models import Action, Instrument, Post, Side, Signal, Span
from taat.reports import draw, words
from taat.signals import AnnouncerProfile
from taat.trader.habits import Habits, habit_facts
from taat.trader.why import find_signal


def confirm(
    signal: Annotated[str, typer.Argument(metavar="SIGNAL", help="The id of a signal, or of a post.")],
    wrong: Annotated[bool, typer.Option("--wrong", help="It announces no trade.")] = False,
    action: Annotated[Action | None, typer.Option(help="What it announces instead.")] = None,
    side: Annotated[Side | None, typer.Option(help="The side that it means.")] = None,
    symbol: Annotated[str | None, typer.Option(metavar="SYMBOL", help="What it is about.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say that a signal was read rightly, or what it means instead.

    From three examples that agree, an announcer's own vocabulary and habits are learnt, and their next posts are read
    with them. A post that was read as chatter is named by its id, with --action and --symbol. Nothing is ordered.
    """
    with screen.problems_told(as_json=as_json):
        if wrong and (action or side or symbol):
            raise InvalidInput("What announces no trade has no action, side or symbol.")
        said, profile = asyncio.run(_confirmed(signal, wrong, action, side, symbol, store))
        if as_json:
            sys.stdout.write(screen.json_line(_json(said, profile)))
            return
        draw(f"Kept: “{words.plain(said.post.text)}” means {_meaning(said.meant)}.")
        draw(f"What is known of how {words.plain(said.announcer)} writes:")
        for name, value in habit_facts(profile).items():
            draw(f"  {words.plain(name)}: {words.plain(str(value))}")


async def _confirmed(
    name: str, wrong: bool, action: Action | None, side: Side | None, symbol: str | None, store: Any
) -> tuple[Confirmation, AnnouncerProfile]:
    async with existing_memory(store) as memory:
        said, right = await _said(memory, name, wrong, action, side, symbol)
        at = datetime.now(UTC)
        answer = f"“{said.post.text}” means {_meaning(said.meant)}."
        await memory.write([confirmation_entry(said, answer, at)], "confirmation")
        await memory.agent.procedural.learn("generate_signal", right)
        memory.longmind.tool(Habits(memory).learn_habits)
        run = await memory.agent.procedural.execute("learn_habits", {"announcer": said.announcer, "at": at.isoformat()})
        if run.status != "succeeded":
            raise InvalidInput(f"Nothing could be learnt: {run.error.message if run.error else run.status}")
        return said, AnnouncerProfile.model_validate(run.result)


async def _said(
    memory: TraderMemory, name: str, wrong: bool, action: Action | None, side: Side | None, symbol: str | None
) -> tuple[Confirmation, bool]:
    """Return what is confirmed, and whether it was read like that."""
    changes: dict[str, Any] = {"confidence": 1.0}
    if action is not None:
        changes["action"] = action
    if side is not None:
        changes["side"] = side
    try:
        record = await find_signal(memory, name)
    except NotFound:
        post = await _post(memory, name)
        meant = None if wrong or action is None else _signal(post, action, side, symbol)
        return Confirmation(post=post, announcer=announcer_name(post.author), meant=meant), meant is None
    if symbol is not None and symbol.lstrip("$").upper() != record.signal.instrument.symbol:
        changes["instrument"] = Instrument(symbol=symbol.lstrip("$").upper())
    meant = None if wrong else record.signal.model_copy(update=changes)
    right = meant is not None and (meant.action, meant.side, meant.instrument) == (
        record.signal.action,
        record.signal.side,
        record.signal.instrument,
    )
    return Confirmation(post=record.post, announcer=record.announcer, signal=record.id, meant=meant), right


async def _post(memory: TraderMemory, id: str) -> Post:
    async for post in memory.posts():
        if post.id == id:
            return post
    raise NotFound(f"There is no signal and no post {id!r}.", hint="`taat run` prints the ids of the signals it reads.")


def _signal(post: Post, action: Action, side: Side | None, symbol: str | None) -> Signal:
    if symbol is None:
        raise InvalidInput("Nothing was read from this post.", hint="Say what it is about with --symbol.")
    instrument = Instrument(symbol=symbol.lstrip("$").upper())
    return Signal(
        instrument=instrument, action=action, side=side, confidence=1.0, span=Span(start=0, end=len(post.text))
    )


def _meaning(signal: Signal | None) -> str:
    if signal is None:
        return "no trade"
    return " ".join(filter(None, (signal.action.replace("_", " "), signal.side, str(signal.instrument))))


def _json(said: Confirmation, profile: AnnouncerProfile) -> dict[str, Any]:
    return {
        "signal": said.signal,
        "post": said.post.id,
        "announcer": said.announcer,
        "means": _meaning(said.meant),
        "habits": habit_facts(profile),
    }
