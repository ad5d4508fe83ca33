"""The first hits of questions, asked of a memory that can answer them and of one that cannot, with their signs.

    python -m training.hit_signs --data ../shared/data --out hit_signs.npz [--questions 150] [--embedder minilm]

Reads the training questions only. A memory is a window of 3 to 700 texts of one source, as large as chance decides.
It is asked questions whose answer is in it, and half as many of conversations that are not; each with the small
reranker and without it. The signs are what ``recall(explain=True)`` shows.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from longmind import Longmind
from longmind.memory import AgentMemory
from longmind.models.embed_open import open_embedder
from longmind.recall.chances import READ_SIGNS
from longmind.recall.engine import Recaller
from longmind.recall.rerank import ContextReranker
from longmind.types import Hit
from training.groups import Group, read_groups, speaker_of

SMALLEST, LARGEST = 3, 700
MOST_ASKED = 8
"""Questions asked of one memory: many memories teach more than many questions of one."""
MOST_GROUPS = 6
SEED = 5


class Window(NamedTuple):
    """A part of a group's texts."""

    group: Group
    start: int
    end: int


class AskedOf(NamedTuple):
    """A question and the labels of the texts that answer it; none if this memory cannot answer."""

    text: str
    right: frozenset[str]


class Row(NamedTuple):
    """One hit: its source, question, whether the memory can answer, whether the reranker was on, and its signs."""

    source: str
    question: int
    answerable: bool
    reranked: bool
    right: bool
    signs: tuple[float, ...]


def windows(groups: Sequence[Group], first: int, size: int, chance: random.Random) -> list[Window]:
    """Return windows of about ``size`` texts together, from the group at ``first`` on."""
    group = groups[first % len(groups)]
    start = chance.randrange(max(1, len(group.texts) - size + 1))
    chosen = [Window(group, start, min(len(group.texts), start + size))]
    while (left := size - sum(w.end - w.start for w in chosen)) > 0 and len(chosen) < min(
        MOST_GROUPS, len(groups) // 2
    ):
        group = groups[(first + len(chosen)) % len(groups)]
        chosen.append(Window(group, 0, min(len(group.texts), left)))
    return chosen


def questions_inside(chosen: Sequence[Window]) -> list[AskedOf]:
    """Return the questions of which at least half of the evidence is in the windows."""
    asked = []
    for number, (group, start, end) in enumerate(chosen):
        for question in group.questions:
            inside = [f"{number}:{place}" for place in question.gold if start <= place < end]
            if question.text.strip() and inside and 2 * len(inside) >= len(question.gold):
                asked.append(AskedOf(question.text, frozenset(inside)))
    return asked


async def _remember(mem: AgentMemory, chosen: Sequence[Window]) -> None:
    for number, (group, start, end) in enumerate(chosen):
        sessions: dict[int, list[dict[str, object]]] = {}
        for place in range(start, end):
            who, said = speaker_of(group.source, group.texts[place])
            if said.strip():
                message = {"role": "user", "content": said, "metadata": {"label": f"{number}:{place}"}}
                sessions.setdefault(group.sessions[place], []).append(message | ({"name": who} if who else {}))
        for session, turns in sessions.items():
            await mem.remember(turns, session=f"{number} {session}")


def _signs(hit: Hit) -> tuple[float, ...]:
    return tuple(hit.parts.get(name, math.nan) for name in READ_SIGNS)


async def _ask(
    mem: AgentMemory, recaller: Recaller, reranker: ContextReranker, source: str, number: int, asked: AskedOf
) -> list[Row]:
    rows = []
    for used in (None, reranker):
        recaller.reranker = used
        for hit in await mem.recall(asked.text, k=10, explain=True):
            right = hit.memory.metadata.get("label") in asked.right
            rows.append(Row(source, number, bool(asked.right), used is not None, right, _signs(hit)))
    return rows


async def collect(path: Path, questions: int, embedder: str) -> list[Row]:
    """Return the hits of so many questions of one file, and of half as many that its memories cannot answer."""
    chance = random.Random(SEED)
    source, groups = path.name.split(".")[0], list(read_groups(path))
    chance.shuffle(groups)
    rows: list[Row] = []
    asked = answerable = first = 0
    while answerable < questions:
        size = int(math.exp(chance.uniform(math.log(SMALLEST), math.log(LARGEST))))
        chosen = windows(groups, first, size, chance)
        first += len(chosen)
        inside = questions_inside(chosen)
        own = chance.sample(inside, min(MOST_ASKED, len(inside)))
        used = {id(window.group) for window in chosen}
        others = [q for group in groups if id(group) not in used for q in group.questions if q.text.strip()]
        strange = [AskedOf(q.text, frozenset()) for q in chance.sample(others, max(2, len(own) // 2))]
        async with Longmind.open("memory://", embedder=open_embedder(embedder)) as longmind:
            recaller = await longmind.recaller()
            recaller.counts_reads = False
            reranker = recaller.reranker
            if not isinstance(reranker, ContextReranker):
                sys.exit("The small reranker is not installed, or LONGMIND_RERANK_MS is 0.")
            mem = longmind.agent("memory")
            await _remember(mem, chosen)
            for question in (*own, *strange):
                rows += await _ask(mem, recaller, reranker, source, asked, question)
                asked += 1
        answerable += len(own)
    return rows


def sources(data: Path, part: str) -> list[Path]:
    """Return the files of training questions whose names have a part in them; all if it is empty."""
    return [path for path in sorted((data / "train").glob("*.jsonl.gz")) if part in path.name]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=150, help="of each source")
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--only", default="", help="a part of the names of the sources to read")
    call = parser.parse_args()
    rows: list[Row] = []
    for path in sources(call.data, call.only):
        rows += asyncio.run(collect(path, call.questions, call.embedder))
        columns = {name: np.array([getattr(row, name) for row in rows]) for name in Row._fields}
        np.savez_compressed(call.out, **columns)  # after each source: an interrupted run keeps what it has
        sys.stdout.write(f"{path.name}: {len(rows):,} hits so far\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
