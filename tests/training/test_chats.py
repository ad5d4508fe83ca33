"""The questions about the labelled turns: every one names turns that are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.chats import ASKED, chat_groups, read_asked
from training.claims.labels import DATA, TEST, read_turns


def test_every_question_is_about_turns_of_its_writer() -> None:
    groups = list(chat_groups())
    assert {group.source.partition("/")[2] for group in groups} == {path.stem for path in ASKED.glob("*.txt")}
    assert sum(len(group.questions) for group in groups) > 4_000
    for group in groups:
        turns = [turn.text for turn in read_turns(DATA / f"{group.source.partition('/')[2]}.jsonl")]
        for question in group.questions:
            assert question.text
            for place in question.gold:
                assert group.texts[place].partition(": ")[2] in turns


def test_what_was_said_before_a_turn_is_a_text_of_its_own_in_its_session() -> None:
    group = next(iter(chat_groups()))
    assert len(group.texts) == len(group.sessions) > 500
    assert list(group.sessions) == sorted(group.sessions)


def test_no_writer_that_statements_are_measured_on_is_asked_about() -> None:
    assert not {path.stem for path in ASKED.glob("*.txt")} & set(TEST)


@pytest.mark.parametrize("line", ["What does she do?", "3|", "a|Who is it?"])
def test_a_wrong_line_is_told(tmp_path: Path, line: str) -> None:
    path = tmp_path / "w99.txt"
    path.write_text(f"3,4|Where does she live?\n{line}\n")
    with pytest.raises(ValueError, match=r"w99\.txt, line 2"):
        list(read_asked(path))
