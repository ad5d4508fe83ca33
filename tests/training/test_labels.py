"""The labelled turns: every line is whole, and what is labelled wrongly is refused."""

import json

import pytest

from training.claims.labels import DATA, RELATIONS, STATUSES, read_turn, read_turns, with_labels

TURN = {
    "writer": "w",
    "topic": "t",
    "previous": None,
    "speaker": "user",
    "text": "I live in Porto, Porto!",
    "claims": [],
}


def turn(**claim: object) -> str:
    whole = {"subject": "speaker", "relation": "lives_in", "object": "Porto", "status": "current"} | claim
    return json.dumps(TURN | {"claims": [whole]})


@pytest.mark.parametrize("path", sorted(DATA.glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_turn_of_a_writer_is_whole(path):
    turns = list(read_turns(path))
    assert {turn.writer for turn in turns} == {path.stem}
    assert len({turn.text for turn in turns}) == len(turns)
    assert 0.2 <= sum(not turn.claims for turn in turns) / len(turns) <= 0.75


def test_all_relations_and_statuses_occur():
    claims = [claim for path in DATA.glob("*.jsonl") for turn in read_turns(path) for claim in turn.claims]
    assert {claim.relation for claim in claims} == set(RELATIONS)
    assert {claim.status for claim in claims} == set(STATUSES)


def test_a_span_is_found_by_its_occurrence():
    assert read_turn(turn()).claims[0].object == (10, 15)
    assert read_turn(turn(object_at=2)).claims[0].object == (17, 22)


@pytest.mark.parametrize(
    "wrong",
    [
        {"relation": "resides"},
        {"status": "now"},
        {"object": "Lisbon"},
        {"object": "Porto "},
        {"object_at": 3},
        {"sure": 1},
    ],
    ids=str,
)
def test_a_wrong_label_is_refused(wrong):
    with pytest.raises(ValueError):  # noqa: PT011
        read_turn(turn(**wrong))


def test_a_line_with_its_own_labels_is_the_same_turn():
    for path in sorted(DATA.glob("w0*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert read_turn(with_labels(line, read_turn(line).claims)) == read_turn(line)
