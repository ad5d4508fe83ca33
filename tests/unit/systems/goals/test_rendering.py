"""Goals for reading."""

from __future__ import annotations

import json

import pytest

from longmind.errors import InvalidInput
from longmind.systems.goals import GoalMemory
from longmind.testing import FakeClock

TEXT = """\
[ ] Travel to Lisbon (active, 33%, due 2026-01-02 12:00)
    [x] c1: A flight is booked (met 2026-01-01 12:00)
        because: TP1
    [ ] c2: Ann knows
    plan 1, given: Given by the caller.
      [x] s1: Book (for c1; by book_flight; done 2026-01-01 12:00)
          result: TP1
      [!] s2: Call (after s1; for c2; attempt 2; failed 2026-01-01 12:00)
          error: Busy
          error: No answer
      [-] s3: Wave (skipped 2026-01-01 12:00)
          error: Too far
    [-] Pack (abandoned, 0%, ended 2026-01-01 12:00)
        why: Nothing to pack
        [ ] c1: Pack
    [ ] "Learn [x] \\"Portuguese\\" # end" (blocked, 0%)
        why: No book
        [ ] c1: "Learn [x] \\"Portuguese\\" # end"
        plan 1, criteria: A step for each criterion."""


async def test_text_data_and_diagram(goals: GoalMemory, clock: FakeClock) -> None:
    steps = [
        {"description": "Book", "tool": "book_flight", "criteria": ["c1"]},
        {"description": "Call", "after": ["s1"], "criteria": ["c2"]},
        {"description": "Wave"},
    ]
    deadline = clock.now().replace(day=2)
    goal, _ = await goals.create_goal_with_plan(
        "Travel to Lisbon", ["A flight is booked", "Ann knows"], steps, deadline=deadline
    )
    pack = await goals.create("Pack", parent=goal.id)
    learn, _ = await goals.create_goal_with_plan('Learn\n[x] "Portuguese" # end', how="criteria", parent=goal.id)
    await goals.abandon(pack.id, "Nothing to pack")
    await goals.block(learn.id, "No book")
    await goals.complete_step(goal.id, "s1", "TP1")
    await goals.fail_step(goal.id, "s2", "Busy")
    await goals.fail_step(goal.id, "s2", "No answer")
    await goals.skip_step(goal.id, "s3", "Too far")

    told = await goals.render(goal.id)
    assert told.startswith(TEXT)

    data = await goals.render(goal.id, "dict")
    assert json.loads(json.dumps(data)) == data
    assert [below["goal"]["status"] for below in data["sub_goals"]] == ["abandoned", "blocked"]
    assert data["plan"]["steps"][1]["errors"] == ["Busy", "No answer"]

    diagram = await goals.render(goal.id, "mermaid")
    lines = diagram.splitlines()
    assert lines[0] == "flowchart TD"
    own = "g" + goal.id.replace("-", "")
    assert f"    {own}_s1 --> {own}_s2" in lines
    assert f"    {own}_s2 --> {own}" in lines
    assert "Learn [x] #quot;Portuguese#quot; #35; end" in diagram
    with pytest.raises(InvalidInput, match="format must be one of"):
        await goals.render(goal.id, "html")  # type: ignore[call-overload]
