"""The update dialogues are sound, and the evaluator tells a right change from a wrong one."""

from __future__ import annotations

import pytest

from longmind import Longmind
from training.claims.updates import FILES, Dialogue, dialogues, play

ALL = dialogues()


def test_there_are_thirty_of_each_and_all_differ() -> None:
    assert sum(dialogue.change for dialogue in ALL) == sum(not dialogue.change for dialogue in ALL) == 30
    assert (
        len({dialogue.name for dialogue in ALL})
        == len({turn[2] for d in ALL for turn in d.turns if turn[1] == "user"}) / 2
    )
    assert len({dialogue.domain for dialogue in ALL}) > 20
    for dialogue in ALL:
        assert dialogue.slot
        assert dialogue.holds or dialogue.gone
        assert dialogue.change or dialogue.holds, "what should stay is named"
        assert [turn[0] for turn in dialogue.turns] == sorted(turn[0] for turn in dialogue.turns)


@pytest.mark.parametrize("name", [name for name in FILES if name != "dialogues"])
def test_later_dialogues_are_whole_and_as_many_of_each_kind(name: str) -> None:
    later = dialogues(FILES[name])
    changes, others = sum(dialogue.change for dialogue in later), sum(not dialogue.change for dialogue in later)
    assert others >= 30
    assert changes == (50 if name == "fourteenth" else others)
    said = {turn[2] for dialogue in ALL for turn in dialogue.turns}
    for dialogue in later:
        assert dialogue.slot
        assert dialogue.holds or dialogue.gone
        assert dialogue.turns[0][2] not in said


def named(name: str) -> Dialogue:
    return next(dialogue for dialogue in ALL if dialogue.name == name)


async def test_what_memory_holds_is_compared() -> None:
    async with Longmind.open("memory:", embedder="none") as longmind:
        moved = await play(longmind, named("c02"), reader=False)
        assert moved.right
        assert not moved.wrong_change
        assert moved.before == ("lives in: Hull",)
        stayed = await play(longmind, named("k03"), reader=False)
        assert stayed.right
        assert not stayed.wrong_change
        joked = await play(longmind, named("k12"), reader=False)
        assert not joked.right
        assert joked.wrong_change
