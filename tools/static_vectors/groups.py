"""Questions with known answers, and what recall makes of them by words alone.

The static vectors are trained for the place they have in recall: beside the words. So every group of texts is
remembered by a real store, and what recall gives each text for each question, meaning left out, is kept.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmind import Longmind
from longmind.memory import AgentMemory
from longmind.recall import arms, fusion, policy
from longmind.recall.query import parse_query
from longmind.store.search.ranking import query_terms

Floats = NDArray[np.float32]

SHARES = {
    "sgd_templated": 0.10,
    "dstc9_faq": 0.05,
    "squad_nqg_test": 0.05,
    "squad2_dev_half": 0.04,
    "squadshifts_new_wiki": 0.07,
    "squadshifts_reddit": 0.16,
    "squadshifts_amazon_reviews": 0.15,
    "fairytaleqa_passage": 0.05,
    "fairytaleqa_sentence": 0.08,
    "friendsqa_devtst": 0.10,
    "molweni_test": 0.02,
    "qed_dev": 0.04,
    "qmsum_train": 0.09,
}
"""The share of each source in the questions: what people tell of themselves counts most, templates little."""
SPOKEN = frozenset({"qmsum_train", "friendsqa_devtst", "molweni_test", "sgd_templated"})
"""Sources whose texts begin with who says them."""
ALREADY_LONG = frozenset({"dstc9_faq", "fairytaleqa_passage"})
ASKED_OF_A_GROUP = 40
LARGEST = 700
"""Texts of a group; larger ones cost much and teach little more."""
JOINED = 0.4
"""The share of groups whose texts are joined to long ones, so that these are learnt as well."""
LENGTHS = (4, 8, 16, 32)
FEWEST = 12
"""Texts that are left of a group when they are joined: fewer would ask too little."""
_BEGAN = datetime(2024, 1, 1, tzinfo=UTC)
_SPEAKER = re.compile(r"^([^:]{1,40}): (.*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Group:
    """Texts in order, and questions about them."""

    source: str
    texts: list[str]
    threads: NDArray[np.int32]
    questions: list[str]
    gold: NDArray[np.bool_]
    """Which texts (across) answer which question (down)."""
    by_words: Floats
    """What recall gives each text for each question without meaning; minus infinity for a text said before."""
    leaning: Floats
    """How much each text leans on what surrounds it."""


@dataclass(slots=True)
class _Raw:
    source: str
    texts: list[str]
    threads: list[int]
    asked: list[tuple[str, list[int]]]


async def groups(folder: Path, questions: int, seed: int, told: Callable[[float], None]) -> list[Group]:
    """About so many questions of all sources, each in the group of texts it is asked of."""
    chosen, found, done = random.Random(seed), [], 0
    async with Longmind.open("memory:", embedder="none") as longmind:
        for source, share in SHARES.items():
            taken = 0
            for number, raw in enumerate(_raw(folder, source, chosen)):
                if taken >= share * questions:
                    break
                group = await _scored(longmind.agent(f"{source} {number}"), raw)
                if group is not None:
                    found.append(group)
                    taken += len(group.questions)
                    told(min(1.0, (done + taken) / questions))
            done += taken
    return found


def _raw(folder: Path, source: str, chosen: random.Random) -> Iterator[_Raw]:
    """The groups of a source in random order, some of them with their texts joined."""
    with gzip.open(folder / f"{source}.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    chosen.shuffle(lines)
    for line in lines:
        texts = line["docs"]
        asked = [(text, sorted({at for at in gold if 0 <= at < len(texts)})) for text, gold in line["qs"]]
        asked = [one for one in asked if one[1]]
        asked = chosen.sample(asked, min(ASKED_OF_A_GROUP, len(asked)))
        raw = _Raw(source, texts, line["session"], asked)
        lengths = [length for length in LENGTHS if length * FEWEST <= len(texts)]
        if source not in ALREADY_LONG and chosen.random() < JOINED and lengths:
            raw = _joined(raw, chosen.choice(lengths))
        if asked and 1 < len(raw.texts) <= LARGEST:
            yield raw


def _joined(raw: _Raw, length: int) -> _Raw:
    """The same with ``length`` texts at a time made one."""
    said = [_said(raw.source, text)[1] for text in raw.texts]
    texts = [" ".join(said[start : start + length]) for start in range(0, len(said), length)]
    asked = [(question, sorted({at // length for at in gold})) for question, gold in raw.asked]
    return _Raw(f"{raw.source}, joined", texts, [0] * len(texts), asked)


def _said(source: str, text: str) -> tuple[str | None, str]:
    """Who says a text, and what."""
    match = _SPEAKER.match(text) if source in SPOKEN else None
    return (match[1], match[2]) if match and match[2].strip() else (None, text)


def _message(raw: _Raw, number: int) -> dict[str, Any]:
    speaker, text = _said(raw.source, raw.texts[number])
    message: dict[str, Any] = {
        "role": "assistant" if speaker == "assistant" else "user",
        "content": text if text.strip() else "...",
        "metadata": {"number": number},
        "occurred_at": _BEGAN + timedelta(days=int(raw.threads[number]), minutes=number),
    }
    return message | ({"name": speaker} if speaker not in (None, "user", "assistant") else {})


async def _scored(mem: AgentMemory, raw: _Raw) -> Group | None:
    messages = [_message(raw, number) for number in range(len(raw.texts))]
    for thread in dict.fromkeys(raw.threads):
        said = [message for message, of in zip(messages, raw.threads, strict=True) if of == thread]
        await mem.remember(said, session=str(thread))
    view = await mem.store.view(mem.scope)
    memories = {memory.id: memory for memory in await mem.store.get_all(mem.scope, view.ids[: view.rows])}
    number_of_row = np.array([memories[id].metadata["number"] for id in view.ids[: view.rows]])
    by_words = np.full((len(raw.asked), len(raw.texts)), -np.inf, np.float32)
    allowed = np.ones(view.rows, np.bool_)
    for line, (question, _) in enumerate(raw.asked):
        asked = parse_query(question, _BEGAN)
        plan = policy.make_plan(asked, policy.BUILT_IN).weigh(near_vector=0.0, vector=0.0, recency=0.0)
        found = arms.score_rows(view, asked, arms.cut_terms(view, query_terms(view, question)), None, allowed)
        total = fusion.fuse(view, found, plan, allowed, _BEGAN.timestamp()).total
        by_words[line, number_of_row] = np.where(total == 0, _unasked(found, plan.weights), total)
    gold = np.zeros(by_words.shape, np.bool_)
    for line, (_, answers) in enumerate(raw.asked):
        gold[line, answers] = True
    gold &= np.isfinite(by_words)
    kept: NDArray[np.bool_] = np.any(gold, axis=1)
    if not kept.any():
        return None
    leaning = np.zeros(len(raw.texts), np.float32)
    leaning[number_of_row] = view.threads.context_weight
    return Group(
        source=raw.source,
        texts=[message["content"] for message in messages],
        threads=np.array(raw.threads, np.int32),
        questions=[question for (question, _), keep in zip(raw.asked, kept, strict=True) if keep],
        gold=gold[kept],
        by_words=by_words[kept],
        leaning=leaning,
    )


def _unasked(found: arms.ArmScores, weights: policy.Weights) -> Floats:
    """What a row gets that no word leads to, as soon as its meaning does."""
    marks, leaning = found.marks, found.context_weight
    score: Floats = leaning * (weights.fullness * marks.fullness + weights.question * marks.asks)
    score += weights.dated * marks.dated + weights.counted * marks.counted
    return score - (1 - leaning) * weights.reply * marks.reply
