"""What the trained reader of statements costs: turns per second and core, and how long the turns are.

It reads the turns of the writers that it was never trained on, each with the turn before it, as consolidation gives
them to it: what plainly states nothing is left out. Time is CPU time of the whole process, so that threads that only
wait for each other count as well.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from benchmarks.quality import Figure, Progress
from longmind.consolidate.rules.plain_talk import states_nothing
from longmind.models.statements import StatementReader, Turn
from training.claims.labels import DATA, TEST, read_turns

_AT_ONCE = 50
_WARM_UP = 5


def turns() -> list[Turn]:
    """Return the turns of the writers that are measured on."""
    return [
        Turn(turn.text, turn.previous)
        for path in sorted(DATA.glob("*.jsonl"))
        for turn in read_turns(path)
        if turn.writer in TEST
    ]


def measure(reader: StatementReader, all_turns: Sequence[Turn], progress: Progress) -> list[Figure]:
    """Read the turns and return what it cost."""
    to_read = [turn for turn in all_turns if not states_nothing(turn.text)]
    reader.read(to_read[:_WARM_UP])
    claims, began = 0, time.process_time()
    for start in range(0, len(to_read), _AT_ONCE):
        read = reader.read(to_read[start : start + _AT_ONCE])
        claims += sum(claim.kept for reading in read for claim in reading.claims)
        progress(min(1.0, (start + _AT_ONCE) / len(to_read)))
    seconds = time.process_time() - began
    words = sum(len(turn.text.split()) + len((turn.previous or "").split()) for turn in to_read)
    return [
        ("turns", len(all_turns), "turns"),
        ("turns that plainly state nothing and are not read", len(all_turns) - len(to_read), "turns"),
        ("words of a turn and the one before it", round(words / len(to_read), 1), "words"),
        ("claims that are kept", claims, "claims"),
        ("turns a second and core", round(len(to_read) / seconds, 1), "turns/s"),
    ]
