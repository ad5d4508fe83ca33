"""Whether memory makes an agent better: measured, with a policy that stays the same and knows no rule of the world.

Three questions. Does an agent with memory solve more tickets of a help desk, in fewer steps, the longer it works there,
while the same agent without memory does not? Are facts that were told once in a conversation used after a restart? When
a rule of the world changes, how soon is the agent as good as before?

The policy sees what any policy sees, the ``Turn``: the task, the tools, what was done, and what memory brought. It
tries what worked for tasks like this one, leaves out what did not, and else guesses.
"""

from __future__ import annotations

import math
import random
import re
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from longmind.agent import Agent, MemoryRecall, NoRecall, RecallSource, RuleCritic
from longmind.agent.models import Action, Call, Limits, Outcome, Say, Turn
from longmind.agent.task_similarity import call_shape
from longmind.bench import charts
from longmind.bench.desk import ACTIONS, Desk, Ticket
from longmind.memory import AgentMemory, Longmind
from longmind.systems.procedural import ToolRegistry
from longmind.text.analysis import STOP_WORDS, stem, words

BLOCK = 20
NEAR = 0.55
"""How like this task, beside the most alike one, a task must be for what was concluded about it to count."""
AFTER_CHANGE = 40
"""Tickets worked on after the change, of the kinds it touches."""
SOON = 15
STEADY = 5
"""So many tickets in a row must go as well as before for the agent to count as recovered."""
Progress = Callable[[float], None]


# -- the policy --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class TriesWhatWorked:
    """A fixed policy: find the cause, then fix it, each by what worked before for such a task, else by a guess."""

    chance: random.Random

    def __call__(self, turn: Turn) -> Action:
        last = turn.done[-1] if turn.done else None
        if last is not None and last.ok and last.call.tool == "apply_fix":
            return Say(text="The ticket is solved.", success=True)
        if len(turn.done) >= ACTIONS:
            return Say(text="The ticket could not be solved.", success=False)
        located = any(one.ok and one.call.tool == "diagnose" for one in turn.done)
        tool, argument = ("apply_fix", "fix") if located else ("diagnose", "area")
        ruled_out = {
            one.call.args[argument]
            for one in turn.done
            if one.call.tool == tool and not one.ok and "timed out" not in one.error
        }
        left = [value for value in _values(turn, tool, argument) if value not in ruled_out]
        spoken_for = evidence(turn, tool, argument, left)
        best = max(spoken_for.values())
        choice = self.chance.choice([value for value in left if spoken_for[value] == best])
        return Call(tool=tool, args={argument: choice})


def _values(turn: Turn, tool: str, argument: str) -> list[str]:
    """The values a tool takes, as its own description says."""
    described = next(one for one in turn.tools if one.name == tool)
    allowed: list[str] = described.parameters["properties"][argument]["enum"]
    return allowed


def evidence(turn: Turn, tool: str, argument: str, values: Sequence[str]) -> dict[str, float]:
    """How much of what memory brought speaks for each value.

    Only what was concluded about the tasks most like this one counts, and the newer the more. A word says the more
    about how alike two tasks are the fewer of the others have it.
    """
    asked = _telling(turn.task)
    told = [(_telling(str(one.body.get("task", ""))), one) for one in turn.reflections]
    spread = Counter(word for terms, _ in told for word in terms)
    alike = [sum(math.log((len(told) + 2) / (spread[word] + 1)) for word in asked & terms) for terms, _ in told]
    calls = {call_shape(tool, {argument: value}, turn.task): value for value in values}
    found = dict.fromkeys(values, 0.0)
    nearest = [(one, near) for (_, one), near in zip(told, alike, strict=True) if near and near >= NEAR * max(alike)]
    for age, (one, near) in enumerate(sorted(nearest, key=lambda pair: pair[0].occurred_at, reverse=True)):
        for part, sign in (("worked", 1.0), ("failed", -1.0)):
            for call in one.body.get(part, ()):
                if value := calls.get(str(call["shape"])):
                    found[value] += sign * near**2 * 0.8**age
    return found


def _telling(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS)


# -- the help desk -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Worked:
    """How one ticket went."""

    solved: bool
    steps: int


async def _work(mem: AgentMemory, desk: Desk, policy: TriesWhatWorked, ticket: Ticket, recall: RecallSource) -> Worked:
    desk.take(ticket)

    def judge(outcome: Outcome) -> bool:
        return desk.solved

    doing = Agent(
        mem,
        policy=policy,
        tools=desk.tools(),
        critic=RuleCritic(),
        judge=judge,
        recall=recall,
        limits=Limits(actions=ACTIONS + 1, episodes=0, procedures=0),
    )
    outcome = await doing.run(ticket.text, session=f"ticket {ticket.number}")
    return Worked(desk.solved, outcome.steps)


@dataclass(frozen=True, slots=True)
class Seed:
    """What one seed gave: success and steps by ticket, with memory and without, and how the change was taken."""

    on: tuple[Worked, ...]
    off: tuple[Worked, ...]
    recovery: int
    """Tickets touched by the change until the agent was as good as before."""


async def one_seed(rc: Longmind, seed: int, tasks: int, progress: Progress) -> Seed:
    """The same tickets and the same rules twice: with what memory brings, and with nothing of it."""
    runs: dict[bool, list[Worked]] = {True: [], False: []}
    recovery = 0
    for remembers in (True, False):
        mem = rc.agent(f"desk {seed} {'with' if remembers else 'without'} memory")
        recall: RecallSource = MemoryRecall(mem) if remembers else NoRecall()
        desk, policy = Desk(seed), TriesWhatWorked(random.Random(f"policy {seed}"))
        for ticket in desk.tickets(tasks):
            runs[remembers].append(await _work(mem, desk, policy, ticket, recall))
            progress(1)
        if remembers:
            touched = desk.change()
            after: list[bool] = []
            for ticket in desk.tickets(AFTER_CHANGE, touched):
                numbered = Ticket(tasks + ticket.number, ticket.kind, ticket.text)
                after.append((await _work(mem, desk, policy, numbered, recall)).solved)
                progress(1)
            recovery = recovered(statistics.fmean(one.solved for one in runs[True][-2 * BLOCK :]), after)
    return Seed(tuple(runs[True]), tuple(runs[False]), recovery)


def recovered(before: float, after: Sequence[bool]) -> int:
    """How many tickets that a changed rule touches it takes until so many in a row go as well as before the change.

    Tools fail by chance as well, so one unsolved ticket in such a row is allowed if tickets failed before too.
    """
    allowed = 0 if before >= 1 else 1
    for start in range(len(after) - STEADY + 1):
        row = after[start : start + STEADY]
        if row[0] and row.count(False) <= allowed:
            return start
    return len(after)


# -- facts told once ---------------------------------------------------------------------------------------------

_PLACES = (
    "Lisbon",
    "Porto",
    "Faro",
    "Braga",
    "Madrid",
    "Seville",
    "Bilbao",
    "Lyon",
    "Nantes",
    "Turin",
    "Genoa",
    "Graz",
)
_SMALL_TALK = (
    "The weather is lovely today.", "I had lunch with the new colleagues.", "The train was late again.",
    "Did you see the match yesterday?", "We are 14 people in the team now.", "My flight leaves at 1830.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """How many facts that were told once were used rightly after a restart, and how many without memory."""

    facts: int
    right: int
    right_without: int


async def told_once(folder: Path, seed: int, embedder: Any) -> Told:
    """Tell door codes in a conversation, some of them corrected later; close the store, open it, and use them."""
    chance = random.Random(f"codes {seed}")
    codes = {place: str(chance.randrange(1_000, 10_000)) for place in _PLACES}
    url = str(folder / f"told-{seed}.db")
    async with Longmind.open(url, embedder=embedder) as rc:
        talk = rc.agent("desk", user="sam").conversation("monday")
        for place, code in codes.items():
            await talk.add(chance.choice(_SMALL_TALK))
            await talk.add(f"The door code of the {place} office is {code}.")
        for place in chance.sample(_PLACES, 3):
            codes[place] = str(chance.randrange(1_000, 10_000))
            await talk.add(f"They changed it: the door code of the {place} office is {codes[place]} now.")
    async with Longmind.open(url, embedder=embedder) as rc:
        mem, empty = rc.agent("desk", user="sam"), rc.agent("nobody", user="sam")
        right = [await _opens(mem, place, code) for place, code in codes.items()]
        without = [await _opens(empty, place, code) for place, code in codes.items()]
    return Told(len(codes), sum(right), sum(without))


async def _opens(mem: AgentMemory, place: str, code: str) -> bool:
    opened: list[bool] = []
    tools = ToolRegistry()

    @tools.tool
    async def enter_code(office: str, digits: str) -> str:
        "Enter a code at the door of an office."
        opened.append(office == place and digits == code)
        return "The door opens." if opened[-1] else "The door stays shut."

    def policy(turn: Turn) -> Action:
        if turn.done:
            return Say(text=str(turn.done[-1].result), success=turn.done[-1].result == "The door opens.")
        office = next((word for word in re.findall(r"[A-Z]\w+", turn.task) if word in _PLACES), "")
        fitting = [hit.memory for hit in turn.memories if office in hit.memory.content]
        for memory in sorted(fitting, key=lambda one: one.recorded_at, reverse=True):
            if digits := re.search(r"\b\d{4}\b", memory.content):
                return Call(tool="enter_code", args={"office": office, "digits": digits[0]})
        return Say(text="Nobody told me the code.", success=False)

    await Agent(mem, policy=policy, tools=tools).run(
        f"Open the door of the {place} office with its door code.", session=f"open {place}"
    )
    return any(opened)


# -- all together ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Band:
    """A mean over the seeds, with the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Learnt:
    """All that was measured."""

    seeds: int
    tasks: int
    on: tuple[Band, ...]
    """Success in percent, by block of tasks, with memory."""
    off: tuple[Band, ...]
    steps_on: tuple[Band, ...]
    steps_off: tuple[Band, ...]
    gain_points: float
    """How much the success rose from the first block to the last, with memory."""
    drift_points: float
    """The same without memory; it should be about nothing."""
    steps_ratio: float
    """Steps without memory for one step with it, in the last block."""
    recovery_tasks: float
    """Tasks touched by a changed rule until the agent is as good as before; the mean over the seeds."""
    recoveries: tuple[int, ...]
    """The same for each seed."""
    told_right: float
    """Facts told once that were used rightly after a restart, in percent."""
    told_right_without: float

    @property
    def blocks(self) -> list[str]:
        """The tasks of each block, by their number."""
        return [f"{start + 1}-{start + BLOCK}" for start in range(0, self.tasks, BLOCK)]

    def figures(self) -> list[tuple[str, float, str]]:
        """The figures that sum it up."""
        return [
            ("rise in success from the first block to the last, with memory", self.gain_points, "points"),
            ("the same without memory", self.drift_points, "points"),
            ("steps without memory for one with it, last block", self.steps_ratio, "times"),
            ("tasks touched by a changed rule until as good as before, mean", self.recovery_tasks, "tasks"),
            ("the same, worst seed", float(max(self.recoveries)), "tasks"),
            (f"seeds in which it took at most {SOON} tasks", self._soon(), "%"),
            ("facts told once and used rightly after a restart", self.told_right, "%"),
            ("the same without memory", self.told_right_without, "%"),
        ]

    def _soon(self) -> float:
        return round(100 * statistics.fmean(one <= SOON for one in self.recoveries), 1)

    def chart(self) -> str:
        """Success by block of tasks, with a band of 95 % around each mean."""
        series = {"with memory": self.on, "without memory": self.off}
        points = {name: [(band.mean, band.low, band.high) for band in bands] for name, bands in series.items()}
        title = f"Tickets solved, by block of {BLOCK} tasks ({self.seeds} seeds)"
        return charts.lines(title, [str(start + BLOCK) for start in range(0, self.tasks, BLOCK)], points, 100)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


async def run(folder: Path, seeds: int, tasks: int, embedder: Any, progress: Progress) -> Learnt:
    """Measure with so many seeds; every number is over all of them. The progress ends at 1."""
    tasks = max(2 * BLOCK, tasks - tasks % BLOCK)
    total, done = seeds * (2 * tasks + AFTER_CHANGE), 0

    def step(more: float) -> None:
        nonlocal done
        done += int(more)
        progress(done / total)

    found: list[Seed] = []
    told: list[Told] = []
    for seed in range(seeds):
        async with Longmind.open(str(folder / f"desk-{seed}.db"), embedder=embedder) as rc:
            found.append(await one_seed(rc, seed, tasks, step))
        told.append(await told_once(folder, seed, embedder))
    return _summed(found, told, tasks)


def _summed(found: Sequence[Seed], told: Sequence[Told], tasks: int) -> Learnt:
    blocks = range(0, tasks, BLOCK)

    def bands(which: Callable[[Seed], Sequence[Worked]], value: Callable[[Worked], float]) -> tuple[Band, ...]:
        return tuple(
            _band([statistics.fmean(value(one) for one in which(seed)[start : start + BLOCK]) for seed in found])
            for start in blocks
        )

    on, off = (bands(which, lambda one: 100.0 * one.solved) for which in (_with, _without))
    steps_on, steps_off = (bands(which, lambda one: float(one.steps)) for which in (_with, _without))
    facts = sum(one.facts for one in told)
    return Learnt(
        seeds=len(found),
        tasks=tasks,
        on=on,
        off=off,
        steps_on=steps_on,
        steps_off=steps_off,
        gain_points=round(on[-1].mean - on[0].mean, 1),
        drift_points=round(off[-1].mean - off[0].mean, 1),
        steps_ratio=round(steps_off[-1].mean / steps_on[-1].mean, 2),
        recovery_tasks=round(statistics.fmean(seed.recovery for seed in found), 1),
        recoveries=tuple(seed.recovery for seed in found),
        told_right=round(100.0 * sum(one.right for one in told) / facts, 1),
        told_right_without=round(100.0 * sum(one.right_without for one in told) / facts, 1),
    )


def _with(seed: Seed) -> Sequence[Worked]:
    return seed.on


def _without(seed: Seed) -> Sequence[Worked]:
    return seed.off


def _band(values: Sequence[float]) -> Band:
    mean = statistics.fmean(values)
    half = 1.96 * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return Band(round(mean, 2), round(mean - half, 2), round(mean + half, 2))
