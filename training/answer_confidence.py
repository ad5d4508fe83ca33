"""Fit the confidence of answers on whole memories that are no part of an evaluation set (``training.memories``).

    python -m training.answer_confidence --data DATA [--kept asked.jsonl] [--questions 150] [--posts 4]

Every question is recalled and read as ``ask`` does it. Prints the weights for ``longmind.answering.confidence``, and
the confidence above which four of five questions without an answer are refused, found with each memory left out once.
With ``--kept`` what was asked is kept in a file, and a second run goes on from there.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.answer_scores import f1
from longmind.answering import Answerer
from longmind.answering.confidence import Signs
from longmind.answering.reading import Draft
from longmind.memory import AgentMemory, Longmind
from longmind.text.questions import read_question
from training.chats import HELD_CHATS, Chat, all_chats
from training.memories import AskedQuestion, TalkedMemory, chat_memory, chosen, posts_memory
from training.memory_questions import Entry, named

REFUSED = 0.8
POSTS = "squadshifts_reddit"
"""The set whose posts become chats: nearly all our own chats are of one person, these are of two."""
CONTEXTS = 40
"""From how many posts a memory is made."""
ABSENT = 25
"""Questions to each memory about posts that it does not hold."""
SPEAKS_FOR = np.array(Signs(constant=0, read=1, recalled=1, contrast=-1, contrast_here=0, uncontrasted=0))
"""Whether a sign can only speak for an answer (1) or against it (-1). A few hundred questions may say otherwise by
chance, and words about the wrong person would then be believed."""
SHRINKAGE = 10.0
"""How strongly weights are drawn to zero; of 1, 3 and 10 the best on memories that were left out."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A question that was asked: the signs of its answer, how right that is, and whether there is one."""

    memory: str
    question: str
    signs: list[float]
    score: float
    answerable: bool


def memories(data: Path, posts: int) -> Iterator[TalkedMemory]:
    """Yield the memories that are asked: chats, and so many of posts of two people."""
    yield from (chat_memory(chat) for chat in all_chats() if chat.name in HELD_CHATS)
    with gzip.open(data / "train_answers" / f"{POSTS}.jsonl.gz", "rt", encoding="utf-8") as stream:
        entries: list[Entry] = [entry for line in stream if named((entry := json.loads(line))["question"], "Ana")]
    contexts = sorted({tuple(entry["context"]) for entry in entries})
    random.Random(2).shuffle(contexts)
    for number in range(posts):
        own = set(contexts[number * CONTEXTS : (number + 1) * CONTEXTS])
        there = [entry for entry in entries if tuple(entry["context"]) in own]
        elsewhere = [entry for entry in entries if tuple(entry["context"]) not in own]
        absent = random.Random(number).sample(elsewhere, ABSENT)
        yield posts_memory(f"{POSTS} {number}", there, absent, number)


async def ask_all(data: Path, posts: int, most: int, kept: Path | None) -> list[Answered]:
    """Ask at most so many questions of each memory."""
    before = {(each.memory, each.question): each for each in read_kept(kept)}
    asked: list[Answered] = []
    async with Longmind.open("memory:") as longmind:
        recaller = await longmind.recaller()
        recaller.counts_reads = False
        for memory in memories(data, posts):
            mem = await _remembered(longmind, memory)
            answerer = Answerer(mem.scoped, mem.semantic, await longmind.span_reader(), recaller.context_reranker)
            await recaller.read_ahead(mem.scope)
            for question in chosen(memory, most):
                result = before.get((memory.chat.name, question.text))
                if result is None:
                    draft = await answerer.draft(question.text, await mem.recall(question.text))
                    if draft is None:
                        continue
                    score = scored(draft, memory, question)
                    result = Answered(memory.chat.name, question.text, list(draft.signs), score, bool(question.answers))
                    if kept:
                        with kept.open("a", encoding="utf-8") as stream:
                            stream.write(json.dumps(asdict(result)) + "\n")
                asked.append(result)
    return asked


def read_kept(path: Path | None) -> list[Answered]:
    """Return what an earlier run kept; none if there is no such file."""
    if path is None or not path.exists():
        return []
    return [Answered(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


async def _remembered(longmind: Longmind, memory: TalkedMemory) -> AgentMemory:
    chat, mem = memory.chat, longmind.agent(memory.chat.name)
    for session in sorted(set(chat.sessions)):
        day = datetime(2023, 1, 5, tzinfo=UTC) + timedelta(days=9 * session)
        messages = [
            _message(chat, number, day)
            for number, text in enumerate(chat.texts)
            if chat.sessions[number] == session and text.strip()
        ]
        await mem.remember(messages, session=f"session {session}")
    return mem


def _message(chat: Chat, number: int, day: datetime) -> dict[str, Any]:
    speaker = chat.speakers[number]
    role = speaker if speaker in ("user", "assistant") else "user"
    name = {} if role == speaker else {"name": speaker}
    return {"role": role, "content": chat.texts[number], "occurred_at": day, "metadata": {"turn": number}, **name}


def scored(draft: Draft, memory: TalkedMemory, question: AskedQuestion) -> float:
    """Return how right an answer is: its F1, or 1 if a resolved time or a number rests on the right words."""
    best, kind = 0.0, read_question(question.text).kind
    for gold in question.answers:
        best = max(best, f1(draft.text, memory.chat.texts[gold.turn][gold.start : gold.end]))
        if kind in ("time", "count", "duration"):
            rests = any(
                candidate.source.memory.metadata.get("turn") == gold.turn
                and candidate.start < gold.end
                and candidate.end > gold.start
                for _, candidate in draft.items
            )
            best = max(best, float(rests))
    return best


def fit(signs: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return the weights of the signs; one that would speak against what it is a sign of is left out."""
    signs = signs.copy()
    while True:
        weights = regression(signs, scores)
        wrong = np.minimum(weights * SPEAKS_FOR, 0)
        if not wrong.any():
            return weights
        signs[:, wrong.argmin()] = 0


def regression(signs: np.ndarray, scores: np.ndarray, weight: float = SHRINKAGE) -> np.ndarray:
    """Return the weights of a logistic regression, by Newton's method."""
    mean, spread = signs.mean(0), signs.std(0) + 1e-9
    mean[0], spread[0] = 0.0, 1.0
    scaled, fitted = (signs - mean) / spread, np.zeros(signs.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-scaled @ fitted))
        slope = scaled.T @ (chance - scores) + weight * np.r_[0, fitted[1:]]
        curve = (scaled * (chance * (1 - chance))[:, None]).T @ scaled + weight * np.eye(len(fitted))
        fitted -= np.linalg.solve(curve, slope)
    weights = fitted / spread
    weights[0] = fitted[0] - np.sum(fitted[1:] * mean[1:] / spread[1:])
    return np.asarray(weights)


def left_out(asked: Sequence[Answered]) -> np.ndarray:
    """Return the confidence of every answer by weights that were fitted without its memory."""
    signs, scores = np.array([each.signs for each in asked]), np.array([each.score for each in asked])
    names = np.array([each.memory for each in asked])
    confidence = np.zeros(len(scores))
    for name in set(names):
        out = names == name
        confidence[out] = 1 / (1 + np.exp(-signs[out] @ fit(signs[~out], scores[~out])))
    return confidence


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=150, help="the most questions to one memory")
    parser.add_argument("--posts", type=int, default=4, help="memories made of posts")
    parser.add_argument("--kept", type=Path, help="keep what was asked here, and go on from there")
    call = parser.parse_args()
    asked = asyncio.run(ask_all(call.data, call.posts, call.questions, call.kept))
    signs, scores = np.array([each.signs for each in asked]), np.array([each.score for each in asked])
    answerable = np.array([each.answerable for each in asked])
    confidence = left_out(asked)
    least = np.quantile(confidence[~answerable], REFUSED)
    given = (confidence >= least)[answerable]
    sys.stdout.write(
        f"{len(asked)} questions, {int(answerable.sum())} with an answer\n"
        f"answer_confidence {least:.3f}: F1 {100 * scores[answerable].mean():.1f} always answering, "
        f"{100 * (scores[answerable] * given).mean():.1f} with it\n"
        f"{Signs(*(round(float(weight), 3) for weight in fit(signs, scores)))}\n"
    )


if __name__ == "__main__":
    main()
