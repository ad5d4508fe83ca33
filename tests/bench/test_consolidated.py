"""Measuring recall after consolidation: what stands for which turn, and the option of the command line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from typer.testing import CliRunner

from benchmarks import quality
from benchmarks.commands import app
from longmind import Longmind

TURNS = [
    ("Ann", "I adopted a cat called Miro from the shelter."),
    ("Bob", "Lovely! I live in Hamburg now."),
    ("Ann", "Miro sleeps all day."),
    ("Bob", "I work as a nurse."),
]
ASKED = [
    {"question": "What is the name of Ann's cat?", "evidence": ["D1:1"], "category": 4},
    {"question": "Where does Bob live?", "evidence": ["D1:2"], "category": 4},
]


def test_locomo_is_measured_after_consolidation(tmp_path: Path) -> None:
    conversation = {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"speaker": s, "dia_id": f"D1:{n + 1}", "text": t} for n, (s, t) in enumerate(TURNS)],
    }
    sample = {"sample_id": "conv-26", "conversation": conversation, "qa": ASKED}
    (tmp_path / "locomo10.json.gz").write_bytes(gzip.compress(json.dumps([sample]).encode()))
    out = tmp_path / "kept"
    options = ["--data", str(tmp_path), "--out", str(out), "--url", "memory:", "--json", "--consolidated"]
    result = CliRunner().invoke(app, ["locomo", *options])
    assert result.exit_code == 0, result.output
    kept = json.loads((out / "locomo-consolidated-static-memory.json").read_text())
    assert "after consolidation" in kept["title"]
    assert all(line["scores"]["R@5"] == 100 for line in kept["lines"] if line["half"] == "all")


async def test_a_fact_stands_for_the_turn_it_was_drawn_from() -> None:
    async with Longmind.open("memory:") as longmind:
        mem = longmind.agent("a")
        said = [
            {"role": "user", "name": s, "content": t, "metadata": {"label": str(n)}} for n, (s, t) in enumerate(TURNS)
        ]
        await mem.remember(said, session="s")
        await mem.consolidate()
        facts = await mem.recall("Where does Bob live?", k=20, kinds=["fact"])
        drawn = {
            hit.memory.content: label
            for hit, label in zip(facts, await quality.recalled_labels(mem, facts), strict=True)
        }
        assert drawn
        assert all(label in {"0", "1", "2", "3"} for label in drawn.values())
        assert any("Hamburg" in content and label == "1" for content, label in drawn.items())
        names = await mem.recall("Where does Bob live?", k=20, kinds=["concept"])
        assert names
        assert set(await quality.recalled_labels(mem, names)) == {""}
