"""The benchmark of contexts: its data are sound, and contexts stay above their floors on it."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise

import pytest
from typer.testing import CliRunner

from benchmarks import context
from benchmarks.commands import app
from benchmarks.context import MESSAGES, Person
from longmind import Longmind
from longmind.text.analysis import terms

PEOPLE = context.people()


def test_there_are_twelve_users_with_five_tasks_each() -> None:
    assert len(PEOPLE) == 12
    assert sum(person.tuned for person in PEOPLE) == 6
    assert {len(person.tasks) for person in PEOPLE} == {5}
    assert {task.type for person in PEOPLE for task in person.tasks} == set(context.TYPES)
    agents = Counter(person.agent for person in PEOPLE)
    assert sorted(agents.values(), reverse=True)[:2] == [2, 2], "two pairs of users share an agent"


@pytest.mark.parametrize("person", PEOPLE, ids=lambda person: person.user)
def test_a_user_is_sound(person: Person) -> None:
    turns = [turn for session in person.sessions for turn in session.turns]
    assert len(turns) == MESSAGES
    assert [turn.role for turn in turns] == ["user", "assistant"] * (MESSAGES // 2)
    assert all(a.began_at < b.began_at for a, b in pairwise(person.sessions))
    said = {turn.label: turn.text for turn in turns if turn.label}
    for task in person.tasks:
        assert task.words in said[task.needs], task
        assert not any(task.words in turn.text for turn in turns if turn.label != task.needs), task
    text = "\n".join(turn.text for turn in turns)
    assert all(word in text for word in person.canaries)
    others = [word for other in PEOPLE if other is not person for word in other.canaries]
    assert not any(word.casefold() in text.casefold() for word in others)


def test_most_tasks_share_no_word_with_what_they_need() -> None:
    said = {(p.user, t.label): t.text for p in PEOPLE for s in p.sessions for t in s.turns if t.label}
    shared = [
        task
        for person in PEOPLE
        for task in person.tasks
        if set(terms(task.text)) & set(terms(said[person.user, task.needs]))
    ]
    assert len(shared) <= 12, [task.text for task in shared]


def test_the_command_prints_rows_and_figures() -> None:
    result = CliRunner().invoke(app, ["context", "--embedder", "none", "--url", "memory:", "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.output)
    assert {line["category"] for line in report["lines"]} == {"all", *context.TYPES}
    figures = {name: value for name, value, _ in report["figures"]}
    assert figures["words of another user in a context"] == 0
    assert figures["contexts over their budget"] == 0


async def test_contexts_stay_above_their_floor() -> None:
    async with Longmind.open("memory:", embedder="static") as longmind:
        for person in PEOPLE:
            await context.load(longmind, person)
        answers = await context.ask(longmind, PEOPLE, lambda done: None)
    shares = {(line.half, line.category): line.scores for line in context.lines(answers)}
    for way in context.WAYS:
        assert shares["all", "all"][way] >= 93.0, shares
        assert min(shares["tuned", "all"][way], shares["untouched", "all"][way]) >= 86.0, shares
        assert min(shares["all", type][way] for type in ("health", "safety", "instruction")) >= 95.0, shares
    assert sum(answer.leaks for answer in answers) == 0


async def test_a_word_of_another_user_would_be_noticed() -> None:
    first, second = PEOPLE[:2]
    async with Longmind.open("memory:", embedder="none") as longmind:
        mem = await context.load(longmind, first)
        await mem.remember(f"{second.canaries[0]} {first.tasks[0].text}")
        answers = await context.ask(longmind, [first, second], lambda done: None)
    assert sum(answer.leaks for answer in answers) > 0
