"""The harness on tiny sets made here, through the public face, as the command line runs it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from benchmarks import beam, charts, facts, locomo, qmsum, report
from benchmarks.commands import app
from benchmarks.sets import SETS
from longmind.errors import NotFound
from longmind.models import small_models


def packed(path: Path, told: Any) -> None:
    path.write_bytes(gzip.compress((told if isinstance(told, str) else json.dumps(told)).encode()))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """All four sets, as small as they can be, with the oddities of the real ones."""
    folder = tmp_path / "data"
    folder.mkdir()
    turns = ["I adopted a puppy", "What is its name?", "Biscuit", "Lovely day"]
    conversation = {
        "speaker_a": "Ann",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"speaker": "Ann", "dia_id": f"D1:{i + 1}", "text": t} for i, t in enumerate(turns)],
        "session_2_date_time": "9:00 am on 1 June, 2023",
        "session_2": [{"speaker": "Bob", "dia_id": "D2:1", "text": "Look", "blip_caption": "a red boat"}],
    }
    asked = [
        {"question": "What is the puppy called?", "evidence": ["D1:3; D1:01"], "category": 4},
        {"question": "Who has a red boat?", "evidence": ["D:2:1"], "category": 1},
        {"question": "No such turn?", "evidence": ["D9:9"], "category": 2},
        {"question": "Is there a puppy?", "evidence": ["D1:1"], "category": 5},
    ]
    samples = [{"sample_id": name, "conversation": conversation, "qa": asked} for name in ("conv-26", "conv-44")]
    packed(folder / "locomo10.json.gz", samples)
    message = {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "My budget is 500 euros ->-> 1,1"}
    chat = [{"batch_number": 1, "turns": [[message, {"role": "assistant", "id": 1, "content": "Noted."}]]}]
    probing = {
        "knowledge_update": [{"question": "What is my budget?", "source_chat_ids": {"a": [0], "b": [0]}}],
        "abstention": [{"question": "Unanswerable?"}],
    }
    packed(
        folder / "beam_100k.json.gz", [{"id": str(n), "chat": chat, "probing_questions": probing} for n in range(11)]
    )
    context = (
        "Here is a list of facts:\n0. The capital of X is Aville.\n1. Cats are small.\n2. The capital of X is Bville.\n"
    )
    group = {"context": context, "questions": ["What is the capital of X?"], "answers": [["Bville"]]}
    packed(
        folder / "factconsolidation_6k_32k.json.gz",
        [{**group, "metadata": {"qa_pair_ids": [f"factconsolidation_{n}_no0"]}} for n in ("mh_6k", "sh_6k", "sh_32k")],
    )
    meeting = {
        "meeting_transcripts": [
            {"speaker": "A", "content": "Remote control design"},
            {"speaker": "B", "content": " "},
            {"speaker": "B", "content": "The budget is tight"},
        ],
        "specific_query_list": [{"query": "What was said on the budget?", "relevant_text_span": [["1", "2"]]}],
    }
    packed(folder / "qmsum_val.jsonl.gz", json.dumps(meeting) + "\n")
    return folder


def test_locomo_gold_is_put_in_one_form(data: Path) -> None:
    case = next(locomo.cases(data))
    assert case.tuned
    assert [q.evidence for q in case.questions] == [{"D1:3", "D1:1"}, {"D2:1"}, {"D1:1"}]
    assert case.items[-1].text == "Look [a red boat]"
    assert case.items[-1].occurred_at is not None
    assert case.items[-1].occurred_at.day == 1


def test_the_other_sets_are_read_as_their_readme_says(data: Path) -> None:
    chats = list(beam.cases(data))
    assert [c.tuned for c in chats] == [True] * 10 + [False]
    assert chats[0].items[0].text == "My budget is 500 euros"
    assert [q.evidence for q in chats[0].questions] == [{"0"}]
    assert next(facts.cases(data)).items[0].text == "The capital of X is Aville."
    meeting = next(qmsum.cases(data))
    assert [i.label for i in meeting.items] == ["0", "2"]
    assert meeting.questions[0].evidence == {"2"}


def test_a_missing_set_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="locomo10"):
        list(locomo.cases(tmp_path))


@pytest.mark.parametrize("name", ["locomo", "beam", "facts", "qmsum"])
def test_a_set_runs_through_the_command_line_and_is_kept(name: str, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "kept"
    options = ["--data", str(data), "--out", str(out), "--url", "memory:", "--json"]
    result = CliRunner().invoke(app, [name, *options])
    assert result.exit_code == 0, result.output
    kept = json.loads((out / f"{name}-static-memory.json").read_text())
    assert kept == json.loads(result.stdout)
    main = SETS[name].main_score
    whole = [line for line in kept["lines"] if line["half"] == "all"]
    assert whole
    assert all(line["scores"][main] == 100 for line in whole)
    ElementTree.parse(out / f"{name}-static-memory.svg")
    page = report.page(out)
    assert SETS[name].title in page
    assert f"| category | half | questions | {' | '.join(whole[0]['scores'])} |" in page


@pytest.mark.skipif(bool(small_models.missing()), reason="longmind-models is not installed")
@pytest.mark.parametrize("name", ["locomo", "beam", "qmsum"])
def test_a_set_is_read_ahead(name: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGMIND_RERANK_MS", "60")
    options = ["--data", str(data), "--out", str(tmp_path), "--url", "memory:", "--cases", "2", "--json"]
    result = CliRunner().invoke(app, [name, *options, "--read-ahead"])
    assert result.exit_code == 0, result.output
    kept = json.loads((tmp_path / f"{name}-reranked-ahead-static-memory.json").read_text())
    assert "read ahead, reranked within 60 ms" in kept["title"]
    assert next(value for what, value, _ in kept["figures"] if what == "reading ahead, CPU") > 0
    plain = CliRunner().invoke(app, [name, *options])
    assert plain.exit_code == 0, plain.output
    assert "read ahead" not in json.loads(plain.stdout)["title"]


def test_speed_and_scale_give_their_figures(data: Path) -> None:
    small = ["--tenants", "1", "--rounds", "1"]
    spoken = CliRunner().invoke(app, ["speed", "--data", str(data), *small, "--url", "memory:", "--json"])
    assert spoken.exit_code == 0, spoken.output
    named = {row[0] for row in json.loads(spoken.stdout)["figures"]}
    assert {"single add, CPU", "batch add, CPU", "recall, CPU", "add then recall, CPU", "stage arms, p50"} <= named
    assert {"recall, blocking less asynchronous, clock", "resident memory, 1 tenants"} <= named
    many = CliRunner().invoke(app, ["scale", "--memories", "1000", "--agents", "4", "--url", "memory:", "--json"])
    assert many.exit_code == 0, many.output
    one = CliRunner().invoke(app, ["scale", "--memories", "1000", "--agents", "1", "--url", "memory:", "--json"])
    assert one.exit_code == 0, one.output
    exact = next(row for row in json.loads(one.stdout)["figures"] if "exact" in row[0])
    assert exact[1] == 1.0


def test_a_chart_is_sound_svg_with_a_bar_for_every_value() -> None:
    drawn = ElementTree.fromstring(charts.bars("A <title>", ["x & y", "z"], {"one": [10.0, None], "two": [30.0, 90.0]}))
    texts = [e.text for e in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"10.0", "30.0", "90.0", "x & y"} <= set(texts)


def test_a_page_of_no_results_is_not_written(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["report", "--out", str(tmp_path / "nothing")])
    assert result.exit_code == 2
    assert "no results" in result.stderr
    assert not (tmp_path / "nothing.md").exists()


def test_the_choice_between_versions_is_measured() -> None:
    result = CliRunner().invoke(app, ["versions", "--trials", "3", "--json"])
    assert result.exit_code == 0, result.output
    trials = json.loads(result.stdout)["trials"]
    assert (trials[0]["base"], trials[0]["candidate"]) == (0.6, 0.8)
    assert all(row["trials"] == 3 for row in trials)
    shown = CliRunner().invoke(app, ["versions", "--trials", "3"])
    assert "worse taken" in shown.output
