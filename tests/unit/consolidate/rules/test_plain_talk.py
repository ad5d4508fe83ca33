"""Turns that the trained reader of statements does not read, and the labelled turns that prove it loses nothing."""

from collections.abc import Sequence

import pytest

from longmind.consolidate.rules.extraction import extract_memories
from longmind.consolidate.rules.plain_talk import states_nothing
from longmind.models.statements import Turn, TurnReading
from longmind.testing import memory
from training.claims.labels import DATA, read_turns

_LEARNT = {"current", "past", "ended", "planned", "temporary"}
"""The statuses of claims that memory keeps."""


class RecordingReader:
    """A reader that finds nothing and remembers what it was asked to read."""

    name = "recording"

    def __init__(self) -> None:
        self.read_texts: list[str] = []

    def read(self, turns: Sequence[Turn]) -> list[TurnReading]:
        self.read_texts += [turn.text for turn in turns]
        return [TurnReading() for _ in turns]


@pytest.mark.parametrize(
    "text",
    [
        "Yes.",
        "OK, thanks!",
        "Is there one without a change?",
        "Great. And when does it end?",
        "Hey! What's on at the market?",
    ],
)
def test_assent_and_questions_about_nothing_of_the_speaker(text: str) -> None:
    assert states_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "34.",
        "In Porto.",
        "What do I feed my dog Rex?",
        "The trade account lapsed, is it worth the bother?",
        "Is it open? Marta works there.",
        "",
    ],
)
def test_what_may_state_something_is_read(text: str) -> None:
    assert not states_nothing(text)


def test_hardly_a_labelled_statement_is_lost() -> None:
    turns = [turn for path in sorted(DATA.glob("*.jsonl")) for turn in read_turns(path)]
    skipped = [turn for turn in turns if states_nothing(turn.text)]
    assert len(skipped) > 0.03 * len(turns)
    lost = [turn.text for turn in skipped if any(claim.status in _LEARNT for claim in turn.claims)]
    assert len(lost) <= len(skipped) // 200, lost


def test_the_reader_is_not_asked_about_plain_talk() -> None:
    reader = RecordingReader()
    texts = ["Thanks!", "My sister lives in Porto.", "Is the library open on Monday?"]
    extract_memories([memory(text) for text in texts], reader=reader)
    assert reader.read_texts == ["My sister lives in Porto."]
