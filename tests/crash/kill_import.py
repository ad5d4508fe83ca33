"""Kill an import with SIGKILL at random points, resume it, and compare with one that nobody interrupted.

python -m tests.crash.kill_import --messages 10000 --kills 10
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from longmind import Longmind
from longmind.types import Filter, Scope

PROGRAM = """
import asyncio, sys
from longmind import Longmind
from longmind.importing import import_memories

async def main(url, path):
    async with Longmind.open(url, embedder="none") as longmind:
        await import_memories(longmind, "jsonl", path, agent="a", progress=lambda done, total: print(done, flush=True))

asyncio.run(main(*sys.argv[1:]))
"""
PER_CONVERSATION = 20


@dataclass
class Outcome:
    """What a run came to."""

    messages: int
    killed: int
    """Processes that were killed before they were done."""
    stored_at_kills: list[int]
    equal: bool
    unchanged: bool
    """Whether importing once more changed nothing."""


def write_messages(path: Path, count: int) -> None:
    """Write messages of many conversations; some say the same words at the same time."""
    with path.open("w", encoding="utf-8") as out:
        for number in range(count):
            conversation, turn = divmod(number, PER_CONVERSATION)
            line = {
                "id": f"m{number}",
                "session": f"c{conversation}",
                "role": "user" if turn % 2 == 0 else "assistant",
                "content": f"Turn {turn} of {conversation}." if turn % 5 else "Yes.",
                "created_at": 1_700_000_000 + number // 2,
                "name": f"speaker {conversation % 7}",
            }
            out.write(json.dumps(line) + "\n")


def run(url: Path, source: Path, kill_after: int | None) -> int | None:
    """Import in a process of its own; with ``kill_after``, kill it once so many are stored. None if it ended itself."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(url), str(source)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    stored = 0
    with process.stdout:
        for line in process.stdout:
            stored = int(line)
            if kill_after is not None and stored >= kill_after:
                process.send_signal(signal.SIGKILL)
                break
    code = process.wait()
    if code == 0:
        return None
    assert code == -signal.SIGKILL, f"the import ended with {code}"
    return stored


async def held(url: Path) -> list[Any]:
    """Everything that a store holds, without the ids and the time of the import, in order."""
    async with Longmind.open(str(url), embedder="none") as longmind:
        found = longmind.store.scan_all(Scope(agent="a", all_users=True), Filter(states=None, expired=None))
        return sorted(
            [memory.model_dump_json(exclude={"id", "recorded_at"}) async for memory in found],
        )


async def head(url: Path) -> Any:
    async with Longmind.open(str(url), embedder="none") as longmind:
        return await longmind.store.backend.head(Scope(agent="a", all_users=True))


def interrupt(folder: Path, messages: int, kills: int, seed: int) -> Outcome:
    """Import undisturbed and with kills, and compare."""
    source, whole, cut = folder / "messages.jsonl", folder / "whole.db", folder / "cut.db"
    write_messages(source, messages)
    assert run(whole, source, None) is None
    chance = random.Random(seed)
    points = [
        stored
        for after in sorted(chance.randrange(1, messages) for _ in range(kills))
        if (stored := run(cut, source, after)) is not None
    ]
    assert run(cut, source, None) is None
    equal = asyncio.run(held(whole)) == asyncio.run(held(cut))
    before = asyncio.run(head(cut))
    assert run(cut, source, None) is None
    count = len(asyncio.run(held(cut)))
    return Outcome(messages, len(points), points, equal and count == messages, asyncio.run(head(cut)) == before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = interrupt(Path(folder), words.messages, words.kills, words.seed)
    sys.stdout.write(json.dumps(asdict(outcome)) + "\n")
    sys.exit(not (outcome.equal and outcome.unchanged and outcome.killed))


if __name__ == "__main__":
    main()
