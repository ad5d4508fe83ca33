"""The project's own evaluation set: it is sound, and recall and extraction stay above their floors on it."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise

import pytest
from typer.testing import CliRunner

from benchmarks import evaluation, quality
from benchmarks.cases import Case
from benchmarks.commands import app
from benchmarks.evaluation import files, ranking, statements
from longmind import Longmind
from longmind.text.analysis import STOP_WORDS, stem, words

CASES = list(files.cases())
TYPES = {"single", "multi", "temporal", "changed", "ended", "paraphrase", "speaker", "unanswerable"}
FLOORS = {"R@5": 69.0, "R@10": 80.5, "MRR": 59.0}
"""About two points under what the static embedder reaches."""


def terms(text: str) -> set[str]:
    return {stem(word) for word in words(text) if word not in STOP_WORDS}


def test_there_are_twenty_conversations_with_twenty_questions_each() -> None:
    assert len(CASES) == 20
    assert {len(case.questions) for case in CASES} == {20}
    assert all(30 <= len(case.items) <= 70 for case in CASES)
    counts = Counter(question.category for case in CASES for question in case.questions)
    assert set(counts) == TYPES
    assert min(counts.values()) >= 25


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_conversation_is_sound(case: Case) -> None:
    turns = {item.label: item for item in case.items}
    assert len(turns) == len(case.items)
    sessions = list(dict.fromkeys((item.session, item.occurred_at) for item in case.items))
    assert len(sessions) >= 5
    assert all(a[1] is not None and b[1] is not None and a[1] < b[1] for a, b in pairwise(sessions))
    for question in case.questions:
        assert question.evidence | question.stale <= set(turns), question.text
        assert question.evidence.isdisjoint(question.stale), question.text
        assert (question.category == "unanswerable") == (not question.evidence) == (not question.answers), question.text
        assert question.category != "multi" or 2 <= len(question.evidence) <= 4, question.text
        for label in question.evidence:
            said = f"{turns[label].speaker or ''} {turns[label].text}"
            assert terms(question.answers[0]) & terms(said), f"{question.text}: {label} does not hold the answer"


def test_no_line_is_there_twice() -> None:
    lines = Counter(item.text for case in CASES for item in case.items)
    lines.update(question.text for case in CASES for question in case.questions)
    lines.update(i.text for d in statements.dialogues() if d.case.name.startswith("updates") for i in d.case.items)
    assert [line for line, count in lines.items() if count > 1] == []


def test_the_labels_name_turns_that_exist() -> None:
    dialogues = list(statements.dialogues())
    for dialogue in dialogues:
        turns = {item.label for item in dialogue.case.items}
        labelled = [statement.turn for statement in dialogue.statements]
        assert set(labelled) <= turns, dialogue.case.name
        assert len(set(labelled)) == len(labelled), dialogue.case.name
        assert all(not (statement.trap and statement.allowed) for statement in dialogue.statements)
        assert not dialogue.current & dialogue.outdated
    assert sum(statement.trap for dialogue in dialogues for statement in dialogue.statements) >= 30
    assert sum(len(statement.facts) for dialogue in dialogues for statement in dialogue.statements) >= 80


async def test_recall_stays_above_its_floor() -> None:
    async with Longmind.open("memory:", embedder="static") as longmind:
        lines = await quality.run(longmind, evaluation.SET, CASES, lambda done: None)
        ranked = await ranking.measure(longmind, CASES, lambda done: None)
    whole = next(line for line in lines if (line.half, line.category) == ("all", "all"))
    assert whole.questions == 370
    for name, floor in FLOORS.items():
        assert whole.scores[name] >= floor, f"{name} fell to {whole.scores[name]}"
    assert quality.percent(ranked.changed_right, ranked.changed) >= 58, ranked


async def test_extraction_stays_above_its_floor() -> None:
    async with Longmind.open("memory:", embedder="none") as longmind:
        learnt = await statements.measure(longmind, list(statements.dialogues()), lambda done: None)
    assert learnt.precision >= 87.5, learnt
    assert learnt.recall >= 85.0, learnt
    assert quality.percent(learnt.traps_avoided, learnt.traps) >= 89.0, learnt
    assert quality.percent(learnt.updates_right, learnt.updates) >= 91.0, learnt


def test_the_command_prints_rows_and_figures() -> None:
    options = ["evaluation", "--cases", "1", "--embedder", "none", "--url", "memory:"]
    result = CliRunner().invoke(app, [*options, "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert {line["category"] for line in report["lines"]} >= {"all", "changed", "multi"}
    assert len(report["figures"]) == 6
    shown = CliRunner().invoke(app, options)
    assert "facts learnt that are right" in shown.output
