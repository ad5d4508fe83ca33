"""The days of the simulated agent: conversations, a task, what other agents hear, and the nightly consolidation.

A stretch of days runs in a process of its own, so that the next stretch begins with nothing but the file. Every second
stretch ends without closing the store, as if the process had been killed.

    python -m benchmarks.soak.life STORE FIRST_DAY LAST_DAY SEED --crash
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from benchmarks.cases import Case, Item
from benchmarks.evaluation.files import cases
from benchmarks.help_desk import HelpDesk
from benchmarks.learning import TriesWhatWorked, work_on
from benchmarks.quality import recalled_labels, share, to_message
from benchmarks.soak.chatter import WORLD, talk
from longmind.agent import MemoryRecall
from longmind.memory import AgentMemory, Longmind
from longmind.testing import START, FakeClock
from longmind.worker.service import ConsolidationService

AGENT = "companion"
SIBLINGS = ("concierge", "librarian", "dispatcher")
"""Agents of the same tenant that hear about the world, so that something can be shared."""
CONVERSATIONS = 10
"""Conversations on each day."""
FIRST_DAYS = 14
"""The days on which everything is said that is asked about later."""
TICKET_KINDS = 8
WEEK = 7
_SHOWN = 20
"""How many lessons, procedures and shared entries are told in words."""


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation: whose it is, and its messages."""

    user: str
    id: str
    messages: tuple[dict[str, Any], ...]


def sessions_of(day: int, seed: int) -> list[Session]:
    """Return the conversations of a day; the same day and seed give the same conversations."""
    asked_about = _sessions_asked_about()
    share_of_day = -(-len(asked_about) // FIRST_DAYS)
    today = asked_about[day * share_of_day : (day + 1) * share_of_day] if day < FIRST_DAYS else []
    chance = random.Random(f"soak {seed} {day}")
    users = [case.name for case in cases()]
    while len(today) < CONVERSATIONS:
        messages = [
            {"role": role, "content": text}
            for pair in talk(chance, chance.randint(3, 6))
            for role, text in zip(("user", "assistant"), pair, strict=True)
        ]
        today.append(Session(chance.choice(users), f"day {day} talk {len(today)}", tuple(messages)))
    return today


def _sessions_asked_about() -> list[Session]:
    """Return the sessions of the evaluation set, case by case in turn, so that every user speaks in the first days."""

    def of_case(case: Case) -> Iterator[Session]:
        for session, items in itertools.groupby(case.items, key=_session):
            yield Session(case.name, str(session), tuple(to_message(item) for item in items))

    columns = itertools.zip_longest(*(of_case(case) for case in cases()))
    return [session for column in columns for session in column if session is not None]


def _session(item: Item) -> str | None:
    return item.session


async def live(
    url: str, first: int, last: int, seed: int, *, crash: bool, statement_reader: bool = True
) -> dict[str, Any]:
    """Live through the days from ``first`` to before ``last`` and return what was measured at their end."""
    clock = FakeClock(START + timedelta(days=first), tick=timedelta(milliseconds=50), seed=seed * 1_000 + first)
    longmind = await Longmind.open(url, clock=clock)
    for agent in (AGENT, *SIBLINGS) if first == 0 and not statement_reader else ():
        await longmind.agent(agent).configure(statement_reader=False)
    service = ConsolidationService(longmind)
    service.start()
    measured: dict[str, Any] = {"days": last, "solved": 0, "tickets": 0}
    desk, policy = HelpDesk(seed), TriesWhatWorked(random.Random(f"soak policy {seed} {first}"))
    tickets = desk.tickets(last, list(range(TICKET_KINDS)))
    for day in range(first, last):
        clock.set(START + timedelta(days=day, hours=8))
        for session in sessions_of(day, seed):
            await _converse(longmind.agent(AGENT, user=session.user), session, clock)
        await work_on(longmind.agent(AGENT), desk, policy, tickets[day], MemoryRecall(longmind.agent(AGENT)))
        measured["tickets"] += 1
        measured["solved"] += desk.solved
        await _hear_of_the_world(longmind, day, seed, clock)
        clock.set(START + timedelta(days=day + 1) - timedelta(hours=2))
        await service.run_now()
    measured |= await _measure(longmind)
    if crash:
        sys.stdout.write(json.dumps(measured))
        sys.stdout.flush()
        os._exit(0)  # nothing is closed: what was acknowledged must be in the file
    await service.stop()
    await longmind.close()
    return measured


async def _converse(mem: AgentMemory, session: Session, clock: FakeClock) -> None:
    """Hold a conversation turn by turn, with a context before each reply, as a chat bot does."""
    conversation = mem.conversation(session.id)
    for message in session.messages:
        clock.advance(20)
        await conversation.add(message)
        if message["role"] == "user":
            await conversation.context(tokens=400)


async def _hear_of_the_world(longmind: Longmind, day: int, seed: int, clock: FakeClock) -> None:
    chance = random.Random(f"world {seed} {day}")
    for agent in (AGENT, *SIBLINGS):
        clock.advance(60)
        mem = longmind.agent(agent, user=f"{agent}'s visitor {chance.randint(1, 4)}")
        await mem.remember(chance.choice(WORLD), session=f"day {day}")


async def _measure(longmind: Longmind) -> dict[str, Any]:
    everybody = longmind.agent(AGENT, all_users=True)
    stats = await everybody.stats()
    asked = await _ask(longmind)
    users = [longmind.agent(AGENT, user=case.name) for case in cases()]
    profiles = [await mem.persona.profile() for mem in users]
    segments = [segment for mem in users for segment in await mem.dialogue.segments()]
    archived = [segment for mem in users for segment in await mem.dialogue.segments(archived=True)]
    short_term = [len(await mem.dialogue.short_term()) for mem in users]
    return {
        **asked,
        "memories": stats.memories,
        "by_kind": dict(stats.by_kind),
        "by_state": dict(stats.by_state),
        "short_term_pages": sum(short_term),
        "segments": len(segments),
        "visits": sum(segment.all_visits for segment in segments),
        "promoted": sum(bool(segment.analysed_at) for segment in segments),
        "archived_segments": len(archived),
        "traits": sum(len(profile.traits) for profile in profiles),
        "knowledge": sum(len(profile.knowledge) for profile in profiles),
        **await _texts(longmind),
    }


async def _texts(longmind: Longmind) -> dict[str, Any]:
    """Return what the agent learnt in words, so that a reader can judge it and need not trust the counts."""
    mem = longmind.agent(AGENT)
    shared = [entry.text for entry in await mem.shared.list()]
    reflections = (await mem.list(kinds=["reflection"], where={"tags_any": ["lesson"]}, limit=_SHOWN)).items
    procedures = (await mem.procedural.list(limit=_SHOWN)).items
    persona = await mem.persona.traits("agent")
    return {
        "shared": len(shared),
        "established": sum(trait.established for trait in persona),
        "texts": {
            "shared": shared[:_SHOWN],
            "lessons": [memory.content for memory in reflections],
            "procedures": [version.name for version in procedures],
            "persona": [f"{trait.dimension}: {trait.value} ({trait.confidence:.2f})" for trait in persona],
        },
    }


async def _ask(longmind: Longmind) -> dict[str, Any]:
    """Ask the questions whose evidence was said, each of the user it belongs to.

    ``answers`` has for each question how much of its evidence was among the first ten hits.
    """
    at_5: list[float] = []
    at_10: list[float] = []
    answers: dict[str, float] = {}
    for case in cases():
        mem = longmind.agent(AGENT, user=case.name)
        said = await _labels(mem)
        for question in case.questions:
            if question.evidence and question.evidence <= said:
                labels = await recalled_labels(mem, await mem.recall(question.text, k=10))
                at_5.append(share(labels[:5], question.evidence))
                at_10.append(share(labels, question.evidence))
                answers[f"{case.name}: {question.text}"] = at_10[-1]
    return {"questions": len(at_5), "R@5": _percent(at_5), "R@10": _percent(at_10), "answers": answers}


async def _labels(mem: AgentMemory) -> frozenset[str]:
    labels: set[str] = set()
    cursor: str | None = None
    while True:
        page = await mem.list(kinds=["message"], limit=200, cursor=cursor)
        labels.update(str(memory.metadata["label"]) for memory in page.items if "label" in memory.metadata)
        cursor = page.cursor
        if cursor is None:
            return frozenset(labels)


def _percent(shares: Sequence[float]) -> float:
    return round(100 * sum(shares) / len(shares), 2) if shares else 0.0


def main() -> None:
    """Live through a stretch of days in this process and print what was measured as JSON."""
    options = argparse.ArgumentParser()
    options.add_argument("url")
    options.add_argument("first", type=int)
    options.add_argument("last", type=int)
    options.add_argument("seed", type=int)
    options.add_argument("--crash", action="store_true")
    options.add_argument("--patterns", action="store_true")
    arguments = options.parse_args()
    url, first, last, seed = arguments.url, arguments.first, arguments.last, arguments.seed
    reader = not arguments.patterns
    measured = asyncio.run(live(url, first, last, seed, crash=arguments.crash, statement_reader=reader))
    sys.stdout.write(json.dumps(measured))


if __name__ == "__main__":
    main()
