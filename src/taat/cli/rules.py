"""``taat rules``: what may be traded, how much, when and on whose word; each rule is a fact with its time."""

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from taat.cli import screen
from taat.cli.place import Place, StoreOption, existing_memory
from taat.cli.recorded import JsonOption, moment
from taat.memory import TraderMemory, announcer_name, open_memory
from taat.reports import draw, rows_table
from taat.validation import (
    NAMES,
    RuleFact,
    Rules,
    describe,
    from_facts,
    predicate_of,
    rule_fact,
    rules_subject,
)

rules = typer.Typer(
    help="The rules by which signals are judged: list them, or set one from a day on.", invoke_without_command=True
)
AnnouncerOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="The rules for one announcer, which count more than those for all.")
]


@rules.callback()
def _rules(context: typer.Context, store: StoreOption = None) -> None:
    if context.invoked_subcommand is None:
        list_(store)


@rules.command("list")
def list_(
    store: StoreOption = None,
    announcer: AnnouncerOption = None,
    at: Annotated[str | None, typer.Option(metavar="DATE", help="The rules of another moment; by default now.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List all rules with their values, since when they hold, and what they say."""
    with screen.problems_told(as_json=as_json):
        asked = moment(at, "--at") or datetime.now(UTC)
        name = announcer_name(announcer) if announcer is not None else None
        facts = asyncio.run(_facts(store, name))
        rows = _rows(facts, asked, name)
        if as_json:
            sys.stdout.write(screen.json_line({"at": asked.isoformat(), "announcer": name, "rules": rows}))
            return
        cells = [(row["name"], row["value"], _since(row), row["says"]) for row in rows]
        draw(rows_table(("rule", "value", "since", "says"), (), cells))
        for change in sorted(_coming(facts, asked), key=lambda fact: fact.valid_from or asked):
            whose = "" if change.subject == rules_subject() else f" for {name}"
            draw(f"From {change.valid_from:%Y-%m-%d %H:%M} UTC: {change.name}{whose} is {change.object}.")


@rules.command("set")
def set_(
    name: Annotated[str, typer.Argument(help="The rule, such as maximum-position-money.")],
    value: Annotated[str, typer.Argument(help="A number, yes or no, none for no limit, or symbols with commas.")],
    valid_from: Annotated[
        str | None, typer.Option("--from", metavar="DATE", help="From when on it holds; by default from now on.")
    ] = None,
    announcer: AnnouncerOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a rule a value from a moment on. What held before keeps its time, so earlier decisions stay explained."""
    with screen.problems_told(as_json=as_json):
        now = datetime.now(UTC)
        since = moment(valid_from, "--from") or now
        whose = announcer_name(announcer) if announcer is not None else None
        fact = rule_fact(name, value, valid_from=since, announcer=whose)
        before = asyncio.run(_learn(Place(store), fact, whose))
        if as_json:
            done = {
                "name": fact.name,
                "value": fact.object,
                "from": since.isoformat(),
                "announcer": whose,
                "before": before,
            }
            sys.stdout.write(screen.json_line(done))
            return
        when = "now" if since == now else f"{since:%Y-%m-%d %H:%M} UTC"
        for_whom = f" for {screen.plain(whose)}" if whose else ""
        draw(f"{fact.name}{for_whom} is {fact.object} from {when} on; before it was {before}.")


async def known_facts(memory: TraderMemory, announcer: str | None) -> list[RuleFact]:
    """Return all that was ever said of the rules for everybody, or for an announcer."""
    semantic, subject = memory.agent.semantic, rules_subject(announcer)
    if await semantic.concept(subject) is None:
        return []
    facts = [fact for name in NAMES for fact in await semantic.history(subject, predicate_of(name))]
    return [
        RuleFact(
            subject=subject,
            predicate=fact.predicate,
            object=str(fact.object),
            valid_from=fact.valid_from,
            valid_to=fact.valid_to,
        )
        for fact in facts
        if not fact.retracted
    ]


async def _facts(store: Path | None, announcer: str | None) -> list[RuleFact]:
    if not Place(store).memory.exists():
        return []  # before the first run all rules have their defaults
    async with existing_memory(store) as memory:
        facts = await known_facts(memory, None)
        return facts if announcer is None else facts + await known_facts(memory, announcer)


async def _learn(place: Place, fact: RuleFact, announcer: str | None) -> str:
    """Store a rule and return its value before."""
    place.prepare()
    async with open_memory(place.memory) as memory:
        facts = await known_facts(memory, None)
        if announcer is not None:
            facts += await known_facts(memory, announcer)
        assert fact.valid_from is not None  # the command always says it
        before = from_facts(facts, fact.valid_from, announcer=announcer).text(fact.name)
        await memory.agent.semantic.learn(fact.subject, fact.predicate, fact.object, valid_from=fact.valid_from)
        return before


def _rows(facts: list[RuleFact], at: datetime, announcer: str | None) -> list[dict[str, Any]]:
    valid, defaults = from_facts(facts, at, announcer=announcer), Rules()
    holding: dict[str, RuleFact] = {}
    for fact in sorted(facts, key=lambda fact: (fact.subject != rules_subject(), fact.valid_from or at)):
        if fact.holds_at(at):
            holding[fact.name] = fact
    return [
        {
            "name": name,
            "value": valid.text(name),
            "default": defaults.text(name),
            "since": since.isoformat() if (since := holding[name].valid_from if name in holding else None) else None,
            "for_announcer": name in holding and holding[name].subject != rules_subject(),
            "says": describe(name),
        }
        for name in NAMES
    ]


def _since(row: dict[str, Any]) -> str:
    since = f"{datetime.fromisoformat(row['since']):%Y-%m-%d %H:%M}" if row["since"] else "default"
    return f"{since} (announcer)" if row["for_announcer"] else since


def _coming(facts: list[RuleFact], at: datetime) -> list[RuleFact]:
    return [fact for fact in facts if fact.valid_from is not None and fact.valid_from > at]
