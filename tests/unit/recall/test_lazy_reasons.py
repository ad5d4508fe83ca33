"""Reasons are made when they are looked at, in whatever way a hit is looked at, and once."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter

from longmind.recall.explain import Explainer
from longmind.types import Hit, Memory


def whole(hit: Hit) -> bool:
    return hit.__dict__.get("why") == "because" and hit.__dict__.get("parts") == {"words": 0.5}


LOOKS: dict[str, Callable[[Hit], Any]] = {
    "why": lambda hit: hit.why,
    "parts": lambda hit: hit.parts,
    "model_dump": lambda hit: hit.model_dump(),
    "to_dict": lambda hit: hit.to_dict(),
    "json": lambda hit: hit.model_dump_json(),
    "in a list": lambda hit: TypeAdapter(list[Hit]).dump_json([hit]),
    "equal": lambda hit: hit == hit.model_copy(),
    "dict": lambda hit: dict(hit),
    "pickle": lambda hit: pickle.dumps(hit),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "model_copy": lambda hit: hit.model_copy(update={"score": 0.1}),
}


@pytest.fixture
def memory() -> Memory:
    return Memory(id="0" * 8 + "-0000-0000-0000-" + "0" * 12, tenant="t", agent="a", content="x",
                  occurred_at="2024-01-01T00:00:00Z", recorded_at="2024-01-01T00:00:00Z")  # type: ignore[arg-type]  # fmt: skip


@pytest.mark.parametrize("look", LOOKS)
def test_a_hit_is_explained_however_it_is_looked_at_and_once(memory: Memory, look: str) -> None:
    made: list[int] = []

    def explain() -> tuple[str, dict[str, float]]:
        made.append(1)
        return "because", {"words": 0.5}

    hit = Hit.explained_later(memory, 0.5, 0.9, explain)
    assert (hit.memory, hit.score, made) == (memory, 0.5, [])
    assert "0.50" in repr(hit)
    assert made == []
    LOOKS[look](hit)
    assert whole(hit)
    assert (hit.why, hit.parts, made) == ("because", {"words": 0.5}, [1])


def test_an_explained_hit_equals_one_that_was_made_whole(memory: Memory) -> None:
    stated = Hit(memory=memory, score=0.5, why="because", parts={"words": 0.5})
    later = Hit.explained_later(memory, 0.5, 0.9, lambda: ("because", {"words": 0.5}))
    assert stated == later
    assert later == stated
    assert later != Hit.explained_later(memory, 0.5, 0.9, lambda: ("for another reason", {}))
    assert json.loads(later.model_dump_json()) == json.loads(stated.model_dump_json())
    assert list(later.model_dump()) == ["memory", "score", "why", "parts"]
    assert Hit.model_validate_json(later.model_dump_json()) == stated
    assert pickle.loads(pickle.dumps(later)) == stated  # noqa: S301
    with pytest.raises(AttributeError):
        _ = later.reasons  # type: ignore[attr-defined]


async def test_recall_makes_no_reason_that_nobody_looks_at(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    line = Explainer.line

    def counting(self: Explainer, memory: Memory, *more: Any) -> str:
        lines.append(memory.content)
        return line(self, memory, *more)

    monkeypatch.setattr(Explainer, "line", counting)
    await world.add("the red house")
    await world.add("the red boat")
    first, second = await world.recaller.recall(world.scope, "where is the red house?")
    assert lines == []
    assert "'red'" in second.why
    assert lines == [second.memory.content]
    assert first.parts
