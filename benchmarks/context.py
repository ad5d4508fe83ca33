"""Whether a context of 400 tokens holds the memory that a task needs, and nothing of another user.

Twelve invented users each have a conversation of 200 messages with their assistant, and five tasks. What a task needs
was said once, months ago, mostly in words that the task does not have: "what should I pack for the flight?" needs what
the user said of cashews. `benchmarks/context_data/README.md` says how the data were written.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from benchmarks.quality import Figure, Line, percent
from longmind.memory import AgentMemory, Longmind
from longmind.tokens import estimate
from longmind.types import Message

FOLDER = Path(__file__).parent / "context_data"
EVERYDAY = "everyday.txt"
MESSAGES = 200
TOKENS = 400
TYPES = ("health", "safety", "instruction", "identity", "relevance")
WAYS = ("context", "conversation")

Exchange = tuple["Turn", "Turn"]
"""What a user says, and the reply."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message; a turn that a task needs has a label."""

    role: Literal["user", "assistant"]
    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """Something a user asks for, with the turn it needs and words of that turn by which it is recognised."""

    type: str
    text: str
    needs: str
    words: str


@dataclass(frozen=True, slots=True)
class Session:
    """The turns of one sitting."""

    began_at: datetime
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Person:
    """A user with 200 messages and five tasks. ``canaries`` are names that only this user mentions."""

    user: str
    agent: str
    tuned: bool
    canaries: tuple[str, ...]
    sessions: tuple[Session, ...]
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one task asked in one way."""

    person: Person
    task: Task
    way: str
    text: str
    leaks: int

    @property
    def found(self) -> bool:
        return self.task.words.casefold() in self.text.casefold()


def people(folder: Path = FOLDER) -> list[Person]:
    """Read the users, each with everyday exchanges mixed in up to 200 messages, always the same ones."""
    everyday = _exchanges((folder / EVERYDAY).read_text(encoding="utf-8").splitlines())
    paths = sorted(path for path in folder.glob("*.txt") if path.name != EVERYDAY)
    return [_person(path.read_text(encoding="utf-8").splitlines(), everyday) for path in paths]


def _person(lines: Sequence[str], everyday: Sequence[Exchange]) -> Person:
    head = dict(line.split(": ", 1) for line in lines if line.split(":")[0] in ("user", "agent", "half", "canaries"))
    parts: list[tuple[datetime, list[str]]] = []
    tasks: list[Task] = []
    for line in lines:
        if line.startswith("== "):
            parts.append((datetime.fromisoformat(line[3:]).replace(tzinfo=UTC), []))
        elif line.startswith("? "):
            tasks.append(Task(*(part.strip() for part in line[2:].split("|"))))
        elif line.startswith(("U", "A")):
            parts[-1][1].append(line)
    own = [(began_at, _exchanges(said)) for began_at, said in parts]
    return Person(
        head["user"],
        head["agent"],
        head["half"] == "tuned",
        tuple(head["canaries"].split(", ")),
        _mixed(head["user"], own, everyday),
        tuple(tasks),
    )


def _exchanges(lines: Sequence[str]) -> list[Exchange]:
    turns = [_turn(line) for line in lines if line.strip()]
    return list(zip(turns[::2], turns[1::2], strict=True))


def _turn(line: str) -> Turn:
    mark, text = line.split(": ", 1)
    return Turn("user" if mark[0] == "U" else "assistant", text.replace("\\n", "\n"), mark[2:])


def _mixed(
    user: str, own: Sequence[tuple[datetime, list[Exchange]]], everyday: Sequence[Exchange]
) -> tuple[Session, ...]:
    """Return the sessions with everyday exchanges at random places between the user's own."""
    chance = random.Random(user)
    missing = MESSAGES // 2 - sum(len(exchanges) for _, exchanges in own)
    sessions = [list(exchanges) for _, exchanges in own]
    for exchange in chance.sample(list(everyday), missing):
        session = chance.choice(sessions)
        session.insert(chance.randint(1, len(session)), exchange)
    return tuple(
        Session(began_at, tuple(turn for exchange in session for turn in exchange))
        for (began_at, _), session in zip(own, sessions, strict=True)
    )


def messages(session: Session) -> Iterator[Message]:
    """Return the turns of a session as messages, a minute apart."""
    for minute, turn in enumerate(session.turns):
        yield Message(role=turn.role, content=turn.text, occurred_at=session.began_at + timedelta(minutes=minute))


async def load(longmind: Longmind, person: Person) -> AgentMemory:
    """Remember what was said with a user, session by session."""
    mem = longmind.agent(person.agent, user=person.user)
    for number, session in enumerate(person.sessions, 1):
        await mem.remember(list(messages(session)), session=f"session {number}")
    return mem


async def ask(longmind: Longmind, persons: Sequence[Person], progress: Callable[[float], None]) -> list[Answer]:
    """Ask every task in both ways: for a context, and as the first message of a new conversation."""
    answers: list[Answer] = []
    for done, person in enumerate(persons, 1):
        mem = longmind.agent(person.agent, user=person.user)
        others = [word for other in persons if other.user != person.user for word in other.canaries]
        answers += [
            _answer(person, task, "context", await mem.context(task.text, TOKENS), others) for task in person.tasks
        ]
        for number, task in enumerate(person.tasks):
            conversation = mem.conversation(f"task {number}")
            await conversation.add(task.text)
            answers.append(_answer(person, task, "conversation", await conversation.context(TOKENS), others))
            await conversation.clear()
        progress(done / len(persons))
    return answers


def _answer(person: Person, task: Task, way: str, text: str, others: Sequence[str]) -> Answer:
    return Answer(person, task, way, text, sum(word.casefold() in text.casefold() for word in others))


def lines(answers: Sequence[Answer]) -> list[Line]:
    """Return the share of tasks whose needed memory is in the context, by type and half."""
    found: dict[tuple[str, str], dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for answer in answers:
        for half in ("all", "tuned" if answer.person.tuned else "untouched"):
            for category in ("all", answer.task.type):
                found[half, category][answer.way].append(answer.found)
    return [
        Line(half, category, len(ways["context"]), {way: percent(sum(ways[way]), len(ways[way])) for way in WAYS})
        for (half, category), ways in sorted(found.items())
    ]


def figures(answers: Sequence[Answer]) -> list[Figure]:
    """Return what must be zero, and how full the budget is."""
    used = [estimate(answer.text) for answer in answers]
    return [
        ("words of another user in a context", float(sum(answer.leaks for answer in answers)), "words"),
        ("contexts over their budget", float(sum(tokens > TOKENS for tokens in used)), "contexts"),
        *(
            (
                f"tokens used by {way}, mean",
                round(sum(estimate(a.text) for a in answers if a.way == way) / (len(answers) / len(WAYS)), 1),
                "tokens",
            )
            for way in WAYS
        ),
    ]
