"""Prepared questions with their candidates, as a reranker reads them: on the device, so that a step costs only it."""

from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from longmind.models import rerank_pairs as pairs
from training.bert import load_arrays

HELD_OUT = 50
"""One group of so many is kept for measuring."""
SHARES = {"sgd_templated": 0.6, "dstc9_faq": 0.6, "squad_nqg_test": 0.7, "chats": 2.0}
"""How often an epoch takes the questions of a source: less than once where many are alike, and more than once where
they are what a memory is asked."""
MOST_GOLD = 6
Reading = Callable[[list[int], list[int], Sequence[int], Sequence[int]], tuple[list[int], int]]
"""Makes pieces of a question, a text, and the texts before and after it."""


class Questions:
    """Prepared questions, and what is read of their candidates."""

    def __init__(self, path: Path) -> None:
        data = load_arrays(path)
        self.data = data
        self.texts = lists_of(data, "texts")
        self.questions = lists_of(data, "questions")
        self.gold = lists_of(data, "gold")
        self.candidates = lists_of(data, "candidates")
        self.group_of = data["group_of"].astype(int)
        self.first = data["first_text"].astype(int)
        self.sessions = data["sessions"]

    def __len__(self) -> int:
        return len(self.questions)

    def source(self, question: int) -> str:
        return str(self.data["source_names"][self.data["sources"][self.group_of[question]]])

    def pieces(self, question: int, place: int, read: Reading) -> tuple[list[int], int]:
        """What is read of a question and a text of its group."""
        group = self.group_of[question]
        begin, last = self.first[group], self.first[group + 1]
        text = begin + place
        before: Sequence[int] = ()
        after: Sequence[int] = ()
        if text > begin and self.sessions[text - 1] == self.sessions[text]:
            before = self.texts[text - 1]
        if text + 1 < last and self.sessions[text + 1] == self.sessions[text]:
            after = self.texts[text + 1]
        return read(self.questions[question], self.texts[text], before, after)


def lists_of(data: dict[str, np.ndarray], name: str) -> list[list[int]]:
    ends, values = data[f"{name}_ends"], data[name]
    return [values[a:b].tolist() for a, b in itertools.pairwise(ends)]


@dataclass(slots=True)
class Texts:
    """What is read of candidates, as arrays on a device, question by question."""

    ids: Tensor
    heads: Tensor
    lengths: Tensor
    ends: np.ndarray
    """Where the candidates of each question end; one more than there are questions, from 0."""
    right: np.ndarray
    """Which candidates are right."""
    places: np.ndarray

    def batch(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return pieces, segments and lengths of some candidates."""
        lengths = self.lengths[rows].long()
        longest = int(lengths.max())
        ids = self.ids[rows, :longest].long()
        inside = torch.arange(longest, device=ids.device)[None]
        segments = ((inside >= self.heads[rows].long()[:, None]) & (inside < lengths[:, None])).long()
        return ids, segments, lengths


_SHARED: tuple[Questions, Reading] | None = None


def _made(chosen: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return what is read for some questions: their candidates, and right texts that are not among them."""
    assert _SHARED is not None
    questions, read = _SHARED
    rows, counts, right, places = [], [], [], []
    for question in chosen:
        gold = list(dict.fromkeys(questions.gold[question]))
        group = questions.group_of[question]
        count = questions.first[group + 1] - questions.first[group]
        listed = [place for place in questions.candidates[question] if place < count]
        listed += [place for place in gold[:MOST_GOLD] if place < count and place not in set(listed)]
        rows += [questions.pieces(int(question), place, read) for place in listed]
        counts.append(len(listed))
        right += [place in gold for place in listed]
        places += listed
    ids = np.zeros((len(rows), pairs.TEACHER.total), np.uint16)
    for row, (pieces, _) in enumerate(rows):
        ids[row, : len(pieces)] = pieces
    heads = np.array([head for _, head in rows], np.uint8)
    lengths = np.array([len(pieces) for pieces, _ in rows], np.uint8)
    return ids, heads, lengths, np.array(counts), np.array(right, np.bool_), np.array(places, np.int32)


def make_texts(questions: Questions, chosen: np.ndarray, read: Reading, device: str) -> Texts:
    """Build what is read for questions in several processes."""
    global _SHARED
    _SHARED = (questions, read)
    workers = max(1, min(15, multiprocessing.cpu_count() - 1))
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
        parts = list(pool.map(_made, [chosen[start : start + 400] for start in range(0, len(chosen), 400)]))
    ids, heads, lengths, counts, right, places = (np.concatenate(part) for part in zip(*parts, strict=True))
    ids = ids[:, : int(lengths.max())]
    tensors = [torch.from_numpy(array.astype(np.int16)).to(device) for array in (ids, heads, lengths)]
    return Texts(*tensors, np.concatenate(([0], np.cumsum(counts))), right, places)


def epoch_lists(
    made: Texts, kept: np.ndarray, shares: np.ndarray, size: int, chance: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lists of an epoch, the rows of a right text and of wrong ones, and the question of each."""
    lists, asked = [], []
    times = (shares + chance.random(len(kept))).astype(int)
    for question in np.repeat(kept, times):
        rows = np.arange(made.ends[question], made.ends[question + 1])
        right = rows[made.right[rows]]
        wrong = rows[~made.right[rows]]
        if not len(right) or len(wrong) < size - 1:
            continue
        lists.append(np.concatenate((chance.choice(right, 1), chance.permutation(wrong)[: size - 1])))
        asked.append(question)
    return np.array(lists), np.array(asked)


def batches_by_length(
    lengths: np.ndarray, lists: np.ndarray, count: int, chance: np.random.Generator
) -> list[np.ndarray]:
    """Return batches of lists in random order; lists of about one length share a batch."""
    longest = lengths[lists].max(1)
    order = np.argsort(longest + chance.random(len(longest)) * 16, kind="stable")
    return [order[start : start + count] for start in chance.permutation(range(0, len(order), count))]


def first_of_list(scores: np.ndarray, made: Texts, kept: np.ndarray) -> float:
    """Return how often the best of all candidates of a question is right."""
    best = [
        bool(made.right[start + int(scores[start:end].argmax())])
        for start, end in ((made.ends[q], made.ends[q + 1]) for q in kept)
        if end > start
    ]
    return float(np.mean(best)) if best else 0.0


def save(model: nn.Module, out: Path, name: str) -> None:
    """Write weights in half precision, without the word vectors, in pieces of at most 14 MB."""
    state = {key: value.half().cpu().numpy() for key, value in model.state_dict().items() if "words" not in key}
    part: dict[str, np.ndarray] = {}
    number, size = 0, 0
    for key, value in state.items():
        if size + value.nbytes > 14_000_000:
            np.savez(out / f"{name}.{number}.npz", **part)
            part, size, number = {}, 0, number + 1
        part[key] = value
        size += value.nbytes
    np.savez(out / f"{name}.{number}.npz", **part)


def load_state(prefix: Path) -> dict[str, Tensor]:
    """Return what ``save`` wrote."""
    state: dict[str, Tensor] = {}
    for path in sorted(prefix.parent.glob(f"{prefix.name}.*.npz")):
        with np.load(path) as stored:
            state |= {name: torch.from_numpy(stored[name].astype(np.float32)) for name in stored.files}
    return state
