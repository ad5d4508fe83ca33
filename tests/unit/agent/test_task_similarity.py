"""Which tasks are alike: what they are about does not count, what they ask for does."""

from __future__ import annotations

import pytest
from tests.unit.agent import task_pairs

from longmind.agent import Action, Call, ReflectiveAgent, Say, Turn
from longmind.agent.task_similarity import in_family, task_family, without_subject
from longmind.agent_memory import AgentMemory
from longmind.systems.procedural import ToolRegistry

SIMILAR = [*task_pairs.SIMILAR_TUNED, *task_pairs.SIMILAR_UNTOUCHED]
DIFFERENT = [*task_pairs.DIFFERENT_TUNED, *task_pairs.DIFFERENT_UNTOUCHED]


def alike(one: str, other: str) -> bool:
    """Whether each is in the family of the other."""
    return in_family(other, task_family(one)) and in_family(one, task_family(other))


@pytest.mark.parametrize(
    ("task", "asked"),
    [
        ("Fix the bug in src/app/models.py", "Fix the bug in"),
        ("Fix the bug in `models.py`, and/or write a test.", "Fix the bug in , and/or write a test."),
        ("Mail ann@example.org the page https://example.org/x?y=1 today", "Mail the page today"),
        ("Call getUser with user_id 17, then ~/bin/run it", "Call with then it"),
        ("Book Friday 12 May, 9:30", "Book"),
        ("It's Ann's dog's bowl", "It's Ann's dog's bowl"),
        ("src/app/models.py", "src/app/models.py"),
        ("17", "17"),
    ],
)
def test_a_task_without_its_subject(task: str, asked: str) -> None:
    assert without_subject(task) == asked


def test_a_passage_to_work_on_is_no_part_of_the_task() -> None:
    assert without_subject(f"{task_pairs.LONG}\n\nSummarise the text above.") == "Summarise the text above."
    assert without_subject(f"Translate into Polish: {task_pairs.LONG}") == "Translate into Polish"
    assert without_subject(task_pairs.LONG).startswith("The committee met on a rainy evening")


def test_invented_pairs_are_told_apart() -> None:
    """Before subjects were left out, 15 of the 30 similar pairs were found, and 4 of the 30 different ones taken."""
    missed = [pair for pair in SIMILAR if not alike(*pair)]
    wrong = [pair for pair in DIFFERENT if alike(*pair)]
    assert len(SIMILAR) == len(DIFFERENT) == 30
    assert len(missed) <= 2, missed
    assert len(wrong) <= 1, wrong


async def test_a_reflection_is_found_for_another_file(mem: AgentMemory) -> None:
    critiques: list[str] = []

    def policy(turn: Turn) -> Action:
        path = turn.task.split()[-1]
        if turn.critique is not None:
            critiques.append(turn.critique.objection)
        if turn.done and turn.done[-1].ok and turn.done[-1].call.tool == "edit":
            return Say(text="Fixed.", success=True)
        if turn.critique or (turn.done and not turn.done[-1].ok):
            return Call(tool="check_out", args={"path": path})
        return Call(tool="edit", args={"path": path})

    agent = ReflectiveAgent(mem, policy=policy, tools=ToolRegistry())
    open_files: set[str] = set()

    @agent.tool
    async def check_out(path: str) -> str:
        open_files.add(path)
        return "yours"

    @agent.tool
    async def edit(path: str) -> str:
        if path not in open_files:
            raise PermissionError("not checked out")
        return "saved"

    await agent.run("Fix the bug in src/app/models.py")
    assert critiques == []
    second = await agent.run("Fix the bug in src/app/views.py")
    assert [done.call.tool for done in second.done] == ["check_out", "edit"]
    assert len(critiques) == 1
    third = await agent.run("Delete src/app/views.py")
    assert len(critiques) == 1, "another kind of task is not objected to"
    assert third.done
