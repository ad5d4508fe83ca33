"""Candidates for a reranker: what our own recall returns for each question, right or wrong.

python -m training.mine --data ../shared/data --out mined          the training questions
python -m training.mine --data ../shared/data --out mined --chats  the questions about the labelled turns
python -m training.mine --data ../shared/data --out mined --sets   the evaluation sets, for measuring only
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.cases import Case
from benchmarks.quality import load, recalled_labels
from benchmarks.sets import SETS
from longmind import Longmind
from longmind.memory import AgentMemory
from training.chats import chat_groups
from training.groups import Asked, Group, read_groups, speaker_of, write_groups

DEPTH = 60
"""How many candidates a question gets."""
MOST_QUESTIONS = 4_500
"""Of one source: many questions of one kind teach less than a few of each."""
SEED = 17


async def mined(longmind: Longmind, name: str, group: Group) -> Group:
    """Return a group with the candidates of each of its questions."""
    mem = longmind.agent(name)
    speaking = [speaker_of(group.source, text) for text in group.texts]
    messages = [
        {"role": "user", "content": said, "metadata": {"place": place}, **({"name": who} if who else {})}
        for place, (who, said) in enumerate(speaking)
        if said.strip()
    ]
    by_session: dict[int, list[dict[str, object]]] = {}
    for message in messages:
        place = message["metadata"]["place"]  # type: ignore[index]
        by_session.setdefault(group.sessions[place], []).append(message)
    for session, turns in by_session.items():
        await mem.remember(turns, session=f"{session}")
    questions = []
    for question in group.questions:
        if not question.text.strip():
            continue
        hits = await mem.recall(question.text, k=DEPTH)
        places = [hit.memory.metadata["place"] for hit in hits]
        questions.append(Asked(question.text, question.gold, tuple(places), tuple(hit.score for hit in hits)))
    return Group(group.source, group.texts, group.sessions, tuple(questions))


async def _evaluated(mem: AgentMemory, case: Case, name: str) -> Group:
    places = {item.label: place for place, item in enumerate(case.items)}
    sessions: dict[str | None, int] = {}
    numbers = tuple(sessions.setdefault(item.session, len(sessions)) for item in case.items)
    questions = []
    for question in case.questions:
        hits = await mem.recall(question.text, k=DEPTH)
        labels = await recalled_labels(mem, hits)
        ranked = [(places[label], hit.score) for label, hit in zip(labels, hits, strict=True) if label in places]
        gold = tuple(places[label] for label in question.evidence if label in places)
        questions.append(
            Asked(question.text, gold, tuple(p for p, _ in ranked), tuple(s for _, s in ranked), question.category)
        )
    texts = tuple(f"{item.speaker or item.role}: {item.text}" for item in case.items)
    return Group(name, texts, numbers, tuple(questions), case.tuned)


def _sampled(groups: list[Group], most: int) -> list[Group]:
    total = sum(len(group.questions) for group in groups)
    if total <= most:
        return groups
    chance = random.Random(SEED)
    return [
        Group(
            group.source,
            group.texts,
            group.sessions,
            tuple(q for q in group.questions if chance.random() < most / total),
        )
        for group in groups
    ]


async def _mine_groups(groups: list[Group], out: Path) -> tuple[int, int]:
    results = []
    for place, group in enumerate(groups):
        async with Longmind.open("memory://") as longmind:
            (await longmind.recaller()).counts_reads = False
            results.append(await mined(longmind, f"group {place}", group))
    write_groups(out, results)
    asked = sum(len(group.questions) for group in results)
    inside = sum(any(p in q.gold for p in q.candidates) for group in results for q in group.questions)
    return asked, inside


async def _mine_set(name: str, data: Path, out: Path) -> tuple[int, int]:
    results = []
    for case in SETS[name].cases(data):
        async with Longmind.open("memory://") as longmind:
            (await longmind.recaller()).counts_reads = False
            results.append(await _evaluated(await load(longmind, name, case), case, name))
    write_groups(out / f"set_{name}.jsonl.gz", results)
    asked = sum(len(group.questions) for group in results)
    return asked, sum(any(p in q.gold for p in q.candidates) for group in results for q in group.questions)


def _jobs(data: Path, sets: bool) -> Iterator[Path | str]:
    yield from ("locomo", "beam", "qmsum") if sets else sorted((data / "train").glob("*.jsonl.gz"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sets", action="store_true")
    parser.add_argument("--chats", action="store_true")
    parser.add_argument("--only", default="")
    call = parser.parse_args()
    call.out.mkdir(parents=True, exist_ok=True)
    if call.chats:
        asked, inside = asyncio.run(_mine_groups(list(chat_groups()), call.out / "chats.jsonl.gz"))
        _tell("chats", asked, inside)
        return
    for job in _jobs(call.data, call.sets):
        name = job if isinstance(job, str) else job.name
        mined_file = call.out / (f"set_{job}.jsonl.gz" if isinstance(job, str) else name)
        if call.only not in name or mined_file.exists():
            continue
        if isinstance(job, str):
            mining = _mine_set(job, call.data, call.out)
        else:
            mining = _mine_groups(_sampled(list(read_groups(job)), MOST_QUESTIONS), mined_file)
        _tell(name, *asyncio.run(mining))


def _tell(name: str, asked: int, inside: int) -> None:
    sys.stdout.write(f"{name}: {asked:,} questions, {100 * inside / max(asked, 1):.1f} % have an answer among them\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
