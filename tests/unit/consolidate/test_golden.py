"""The same conversation always becomes the same topics, facts and summaries: what a faster way must not change."""

import json
from pathlib import Path
from typing import Any

from longmind import Longmind
from longmind.types import Filter

TALK = json.loads((Path(__file__).parent / "golden_talk.json").read_text())


async def outcome(longmind: Longmind) -> dict[str, Any]:
    """What the cycle makes of the talk, told in two parts, without ids and times."""
    mem = longmind.agent("golden", user="mel")
    for part in TALK["parts"]:
        for session, turns in part.items():
            await mem.remember(turns, session=session)
        await mem.consolidate()
    segments = sorted(await mem.dialogue.segments(), key=lambda segment: segment.id)
    facts = [m async for m in mem.store.scan_all(mem.scope, Filter(kinds=("fact",), states=None))]
    summaries = [m async for m in mem.store.scan_all(mem.scope, Filter(kinds=("summary",), states=None))]
    return {
        "segments": [[list(s.keywords), s.length, s.summary] for s in segments],
        "chains": sorted([m.body["pages"], m.body["terms"]] for m in summaries if "pages" in m.body),
        "facts": sorted([m.content, m.state, round(m.body["confidence"], 6)] for m in facts),
        "summaries": sorted([m.content, m.body["phrases"]] for m in summaries if "phrases" in m.body),
        "knowledge": sorted(entry.text for entry in await mem.persona.knowledge()),
        "traits": sorted([t.dimension, t.value, round(t.confidence, 3)] for t in await mem.persona.traits()),
    }


async def test_the_outcome_is_what_it_was(longmind: Longmind) -> None:
    found = await outcome(longmind)
    for part, expected in TALK["outcome"].items():
        assert found[part] == expected, part
