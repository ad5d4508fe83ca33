"""Statements that say the same are merged; turns of a conversation, denials and other people are left alone."""

import numpy as np
import pytest
from numpy.typing import NDArray

from longmind.consolidate.stages.reconcile import duplicates
from longmind.testing import memory
from longmind.types import Memory, Source


def vectors(*rows: list[float]) -> NDArray[np.float32]:
    made = np.array(rows, np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def found(memories: list[Memory], rows: NDArray[np.float32] | None = None) -> list[tuple[str, str]]:
    given = np.zeros((len(memories), 2), np.float32) if rows is None else rows
    return [(same.other.content, same.keeper.content) for same in duplicates(memories, given, 0.9)]


def test_the_same_words_in_any_form_and_order() -> None:
    said = [memory("I moved to Lisbon."), memory("to LISBON I moved!"), memory("I moved to Porto.")]
    assert found(said) == [("I moved to Lisbon.", "to LISBON I moved!")]


def test_a_chain_ends_at_the_newest() -> None:
    said = [memory("tea please"), memory("Tea, please"), memory("tea please!")]
    assert found(said) == [("tea please", "tea please!"), ("Tea, please", "tea please!")]


def test_nearly_the_same_words_need_the_same_meaning_too() -> None:
    said = [memory("my sister lives near the old harbour of Porto city"), memory("sister lives near old harbour Porto")]
    assert found(said, vectors([1, 0.05], [1, 0])) == [(said[0].content, said[1].content)]
    assert found(said, vectors([1, 0], [0, 1])) == []
    assert found([memory("cats like milk"), memory("dogs eat bones")], vectors([1, 0], [1, 0])) == []


def test_what_another_says_word_for_word_and_more_goes() -> None:
    short, long = "She plays the old violin", "She plays the old violin every evening at home"
    assert found([memory(short), memory(long)]) == [(short, long)]
    assert found([memory(long), memory(short)]) == [(short, long)]
    assert (
        found([memory("She plays the old violin"), memory("It is not true that she plays the old violin well")]) == []
    )
    assert found([memory("She plays the old violin"), memory("If she plays the old violin again I leave")]) == []


def test_a_denial_is_never_the_same() -> None:
    assert found([memory("I like tea"), memory("I do not like tea")], vectors([1, 0], [1, 0])) == []


def test_who_did_it_to_whom_matters() -> None:
    assert found([memory("Alice loves Bob"), memory("Bob loves Alice")], vectors([1, 0], [1, 0])) == []
    assert found([memory("Alice likes coffee without sugar."), memory("Without sugar, Alice likes coffee!")]) != []


def test_with_new_ids_only_pairs_with_one_of_them_are_compared() -> None:
    said = [memory("tea please"), memory("Tea, please"), memory("no more milk now"), memory("No more milk, now!")]
    rows = np.zeros((4, 2), np.float32)
    assert [same.other.id for same in duplicates(said, rows, 0.9, {said[3].id})] == [said[2].id]
    assert duplicates(said, rows, 0.9, set()) == []


@pytest.mark.parametrize(
    "different", [{"user": "bob"}, {"session": "s"}, {"kind": "fact"}, {"source": Source(name="X")}]
)
def test_only_what_stands_alone_and_comes_from_one_source_is_compared(different: dict[str, object]) -> None:
    assert found([memory("tea please"), memory("tea please", **different)]) == []
