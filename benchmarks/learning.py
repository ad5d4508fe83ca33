"""Whether memory makes an agent better, measured with a fixed policy that cannot see the rules of the world.

Three questions. Does an agent with memory solve more tickets of a help desk, in fewer steps, the longer it works there,
while the same agent without memory does not? Are facts that were stated once in a conversation used after a restart?
When a rule of the world changes, how soon is the agent as good as before?

The policy sees what any policy sees, the ``Turn``: the task, the tools, the actions so far, and what memory recalled.
It tries what worked for similar tasks, avoids what did not, and otherwise guesses.
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

from benchmarks import charts
from benchmarks.help_desk import ACTIONS, HelpDesk, Ticket
from longmind.agent import Agent, MemoryRecall, NoRecall, RecallSource, RuleCritic
from longmind.agent.models import Action, Call, Limits, Outcome, Say, Turn
from longmind.agent.task_similarity import call_shape
from longmind.memory import AgentMemory, Longmind
from longmind.systems.procedural import ToolRegistry
from longmind.text.analysis import STOP_WORDS, stem, words

BLOCK = 20
NEAR = 0.55
"""How similar a task must be, relative to the most similar task, for its reflection to count."""
AFTER_CHANGE = 40
"""Tickets worked on after the change, of the kinds it affects."""
SOON = 15
"""Recovery within so many tickets counts as soon."""
STEADY = 5
"""How many tickets in a row must go as well as before for the agent to count as recovered."""
Progress = Callable[[float], None]


# -- the policy --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class TriesWhatWorked:
    """A fixed policy: find the cause, then fix it, each by what worked for similar tasks or else by a guess."""

    chance: random.Random

    def __call__(self, turn: Turn) -> Action:
        last = turn.done[-1] if turn.done else None
        if last is not None and last.ok and last.call.tool == "apply_fix":
            return Say(text="The ticket is solved.", success=True)
        if len(turn.done) >= ACTIONS:
            return Say(text="The ticket could not be solved.", success=False)
        located = any(action.ok and action.call.tool == "diagnose" for action in turn.done)
        tool, argument = ("apply_fix", "fix") if located else ("diagnose", "area")
        ruled_out = {
            action.call.args[argument]
            for action in turn.done
            if action.call.tool == tool and not action.ok and "timed out" not in action.error
        }
        candidates = [value for value in _values(turn, tool, argument) if value not in ruled_out]
        support = evidence(turn, tool, argument, candidates)
        best = max(support.values())
        choice = self.chance.choice([value for value in candidates if support[value] == best])
        return Call(tool=tool, args={argument: choice})


def _values(turn: Turn, tool: str, argument: str) -> list[str]:
    """Return the values that the tool's description allows."""
    description = next(candidate for candidate in turn.tools if candidate.name == tool)
    allowed: list[str] = description.parameters["properties"][argument]["enum"]
    return allowed


def evidence(turn: Turn, tool: str, argument: str, values: Sequence[str]) -> dict[str, float]:
    """Return how much the recalled reflections support each value.

    Only reflections on the most similar tasks count, newer ones more. Two tasks are the more similar the rarer the
    words are that they share.
    """
    terms = _terms(turn.task)
    reflections = [(_terms(str(reflection.body.get("task", ""))), reflection) for reflection in turn.reflections]
    frequency = Counter(word for other, _ in reflections for word in other)
    similarities = [
        sum(math.log((len(reflections) + 2) / (frequency[word] + 1)) for word in terms & other)
        for other, _ in reflections
    ]
    calls = {call_shape(tool, {argument: value}, turn.task): value for value in values}
    support = dict.fromkeys(values, 0.0)
    nearest = [
        (reflection, similarity)
        for (_, reflection), similarity in zip(reflections, similarities, strict=True)
        if similarity and similarity >= NEAR * max(similarities)
    ]
    newest_first = sorted(nearest, key=lambda pair: pair[0].occurred_at, reverse=True)
    for age, (reflection, similarity) in enumerate(newest_first):
        for part, sign in (("worked", 1.0), ("failed", -1.0)):
            for call in reflection.body.get(part, ()):
                if value := calls.get(str(call["shape"])):
                    support[value] += sign * similarity**2 * 0.8**age
    return support


def _terms(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS)


# -- the help desk -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TicketResult:
    """Whether a ticket was solved, and in how many steps."""

    solved: bool
    steps: int


async def work_on(
    mem: AgentMemory, desk: HelpDesk, policy: TriesWhatWorked, ticket: Ticket, recall: RecallSource
) -> TicketResult:
    """Let an agent with this policy and recall work on a ticket of the help desk."""
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
    return TicketResult(desk.solved, outcome.steps)


@dataclass(frozen=True, slots=True)
class SeedResult:
    """The result of one seed: each ticket with memory and without, and the recovery after the change."""

    on: tuple[TicketResult, ...]
    off: tuple[TicketResult, ...]
    recovery: int
    """Tickets affected by the change until the agent was as good as before."""


async def run_seed(longmind: Longmind, seed: int, tasks: int, progress: Progress) -> SeedResult:
    """Work on the same tickets with the same rules twice: with memory and without."""
    runs: dict[bool, list[TicketResult]] = {True: [], False: []}
    recovery = 0
    for remembers in (True, False):
        mem = longmind.agent(f"desk {seed} {'with' if remembers else 'without'} memory")
        recall: RecallSource = MemoryRecall(mem) if remembers else NoRecall()
        desk, policy = HelpDesk(seed), TriesWhatWorked(random.Random(f"policy {seed}"))
        for ticket in desk.tickets(tasks):
            runs[remembers].append(await work_on(mem, desk, policy, ticket, recall))
            progress(1)
        if remembers:
            affected = desk.change()
            after: list[bool] = []
            for ticket in desk.tickets(AFTER_CHANGE, affected):
                numbered = Ticket(tasks + ticket.number, ticket.kind, ticket.text)
                after.append((await work_on(mem, desk, policy, numbered, recall)).solved)
                progress(1)
            recovery = recovered(statistics.fmean(result.solved for result in runs[True][-2 * BLOCK :]), after)
    return SeedResult(tuple(runs[True]), tuple(runs[False]), recovery)


def recovered(before: float, after: Sequence[bool]) -> int:
    """Return after how many affected tickets a row of `STEADY` tickets goes as well as before the change.

    Tools fail at random as well, so one unsolved ticket in such a row is allowed if tickets failed before too.
    """
    allowed = 0 if before >= 1 else 1
    for start in range(len(after) - STEADY + 1):
        row = after[start : start + STEADY]
        if row[0] and row.count(False) <= allowed:
            return start
    return len(after)


# -- facts stated once -------------------------------------------------------------------------------------------

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
class StatedFactsResult:
    """How many facts that were stated once were used rightly after a restart, and how many without memory."""

    facts: int
    right: int
    right_without: int


async def use_stated_facts(folder: Path, seed: int, embedder: Any) -> StatedFactsResult:
    """State door codes in a conversation, correct some later, reopen the store, and use them."""
    chance = random.Random(f"codes {seed}")
    codes = {place: str(chance.randrange(1_000, 10_000)) for place in _PLACES}
    url = str(folder / f"told-{seed}.db")
    async with Longmind.open(url, embedder=embedder) as longmind:
        talk = longmind.agent("desk", user="sam").conversation("monday")
        for place, code in codes.items():
            await talk.add(chance.choice(_SMALL_TALK))
            await talk.add(f"The door code of the {place} office is {code}.")
        for place in chance.sample(_PLACES, 3):
            codes[place] = str(chance.randrange(1_000, 10_000))
            await talk.add(f"They changed it: the door code of the {place} office is {codes[place]} now.")
    async with Longmind.open(url, embedder=embedder) as longmind:
        mem, empty = longmind.agent("desk", user="sam"), longmind.agent("nobody", user="sam")
        right = [await _opens(mem, place, code) for place, code in codes.items()]
        without = [await _opens(empty, place, code) for place, code in codes.items()]
    return StatedFactsResult(len(codes), sum(right), sum(without))


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
        matching = [hit.memory for hit in turn.memories if office in hit.memory.content]
        for memory in sorted(matching, key=lambda memory: memory.recorded_at, reverse=True):
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
class LearningReport:
    """The figures of all seeds."""

    seeds: int
    tasks: int
    on: tuple[Band, ...]
    """Success in percent, by block of tasks, with memory."""
    off: tuple[Band, ...]
    steps_on: tuple[Band, ...]
    steps_off: tuple[Band, ...]
    gain_points: float
    """The rise in success from the first block to the last, with memory."""
    drift_points: float
    """The same without memory; it should be about 0."""
    steps_ratio: float
    """Steps without memory for one step with it, in the last block."""
    recovery_tasks: float
    """Tasks affected by a changed rule until the agent is as good as before; the mean over the seeds."""
    recoveries: tuple[int, ...]
    """The same for each seed."""
    told_right: float
    """Facts stated once that were used rightly after a restart, in percent."""
    told_right_without: float

    @property
    def blocks(self) -> list[str]:
        """The tasks of each block, by their number."""
        return [f"{start + 1}-{start + BLOCK}" for start in range(0, self.tasks, BLOCK)]

    def figures(self) -> list[tuple[str, float, str]]:
        """Return the summary as rows of name, value and unit."""
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
        return round(100 * statistics.fmean(tickets <= SOON for tickets in self.recoveries), 1)

    def chart(self) -> str:
        """Draw success by block of tasks, with a band of 95 % around each mean."""
        series = {"with memory": self.on, "without memory": self.off}
        points = {name: [(band.mean, band.low, band.high) for band in bands] for name, bands in series.items()}
        title = f"Tickets solved, by block of {BLOCK} tasks ({self.seeds} seeds)"
        return charts.lines(title, [str(start + BLOCK) for start in range(0, self.tasks, BLOCK)], points, 100)

    def as_json(self) -> dict[str, Any]:
        """Return all figures as JSON."""
        return asdict(self)


async def run(
    folder: Path, seeds: int, tasks: int, embedder: Any, progress: Progress, *, first: int = 0
) -> LearningReport:
    """Measure with a number of seeds, from the first on, and summarise them. The progress ends at 1."""
    tasks = max(2 * BLOCK, tasks - tasks % BLOCK)
    total, done = seeds * (2 * tasks + AFTER_CHANGE), 0

    def step(more: float) -> None:
        nonlocal done
        done += int(more)
        progress(done / total)

    results: list[SeedResult] = []
    stated: list[StatedFactsResult] = []
    for seed in range(first, first + seeds):
        async with Longmind.open(str(folder / f"desk-{seed}.db"), embedder=embedder) as longmind:
            results.append(await run_seed(longmind, seed, tasks, step))
        stated.append(await use_stated_facts(folder, seed, embedder))
    return _summarise(results, stated, tasks)


def _summarise(results: Sequence[SeedResult], stated: Sequence[StatedFactsResult], tasks: int) -> LearningReport:
    blocks = range(0, tasks, BLOCK)

    def bands(
        which: Callable[[SeedResult], Sequence[TicketResult]], value: Callable[[TicketResult], float]
    ) -> tuple[Band, ...]:
        return tuple(
            _band(
                [statistics.fmean(value(ticket) for ticket in which(seed)[start : start + BLOCK]) for seed in results]
            )
            for start in blocks
        )

    on, off = (bands(which, lambda ticket: 100.0 * ticket.solved) for which in (_with, _without))
    steps_on, steps_off = (bands(which, lambda ticket: float(ticket.steps)) for which in (_with, _without))
    facts = sum(result.facts for result in stated)
    return LearningReport(
        seeds=len(results),
        tasks=tasks,
        on=on,
        off=off,
        steps_on=steps_on,
        steps_off=steps_off,
        gain_points=round(on[-1].mean - on[0].mean, 1),
        drift_points=round(off[-1].mean - off[0].mean, 1),
        steps_ratio=round(steps_off[-1].mean / steps_on[-1].mean, 2),
        recovery_tasks=round(statistics.fmean(seed.recovery for seed in results), 1),
        recoveries=tuple(seed.recovery for seed in results),
        told_right=round(100.0 * sum(result.right for result in stated) / facts, 1),
        told_right_without=round(100.0 * sum(result.right_without for result in stated) / facts, 1),
    )


def _with(seed: SeedResult) -> Sequence[TicketResult]:
    return seed.on


def _without(seed: SeedResult) -> Sequence[TicketResult]:
    return seed.off


def _band(values: Sequence[float]) -> Band:
    mean = statistics.fmean(values)
    half = 1.96 * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return Band(round(mean, 2), round(mean - half, 2), round(mean + half, 2))
