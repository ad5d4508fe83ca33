"""Claims beside turns: which are known to be right or wrong by the labels, and which are left out."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from longmind.models.statements import StatedClaim
from training.changes import checks
from training.changes.checks import RIGHT, TRIVIAL, WRONG, Check
from training.claims.labels import Label, Turn
from training.claims.unsure import checksum

TEXT = "If I lived in Porto I'd swim daily, says Ana, but my sister Bea does live there."
PORTO, SWIM, BEA = (TEXT.index("Porto"), 19), (24, 34), (TEXT.index("Bea"), TEXT.index("Bea") + 3)
IMAGINED = Label("lives_in", "hypothetical", PORTO)
TURN = Turn("w99", "home", None, "user", TEXT, (IMAGINED, Label("sibling", "current", BEA)))


def test_what_is_labelled_is_right_and_the_same_with_another_status_or_subject_is_wrong() -> None:
    made = [check for seed in range(30) for check in checks.stated([TURN], random.Random(seed))]
    assert {check.claim for check in made if check.verdict == RIGHT} == set(TURN.claims)
    wrong = [check.claim for check in made if check.verdict == WRONG]
    assert Label("lives_in", "current", PORTO) in wrong
    assert not set(wrong) & set(TURN.claims)
    assert "asked" not in {claim.status for claim in wrong if claim.relation == "lives_in"}
    assert {TEXT[slice(*claim.subject)] for claim in wrong if claim.subject is not None} <= {"Ana"}


def test_what_a_reader_found_is_known_only_where_a_label_speaks_of_the_same_words() -> None:
    found = [
        StatedClaim("lives_in", "current", PORTO, 0.6),
        StatedClaim("sibling", "current", BEA, 0.9),
        StatedClaim("habit", "current", SWIM, 0.4),
        StatedClaim("event", "planned", PORTO, 0.4),
    ]
    assert [(check.claim.relation, check.verdict) for check in checks.found([TURN], [found])] == [
        ("lives_in", WRONG),
        ("sibling", RIGHT),
    ]


def test_judged_claims_are_read_with_the_turns_that_are_at_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = {"relation": "lives_in", "status": "current", "object": list(PORTO)}
    lines = [
        {"turn": checksum(text), "claim": claim, "verdict": verdict}
        for text, verdict in ((TEXT, "wrong"), (TEXT, "trivial"), ("Another turn.", "right"))
    ]
    path = tmp_path / "checked.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    monkeypatch.setattr(checks, "CHECKED", path)
    wanted = Label("lives_in", "current", PORTO)
    assert list(checks.judged([("Where?", TEXT)])) == [
        Check("Where?", TEXT, wanted, WRONG),
        Check("Where?", TEXT, wanted, TRIVIAL),
    ]
