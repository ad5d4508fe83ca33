"""Training of the reranker: a cross-encoder over a question and a text with its neighbours.

    python -m training.rerank --prepared prepared --out OUT [--epochs 3] [--minutes 7] [--tiny]

Listwise: one right text against 15 wrong ones, of the same session, of the best that recall returned, and of the rest.
Afterwards a model with half the layers is taught by the first one. The scores of both for the candidates of the
evaluation sets are written beside the weights, so that weights are chosen where the texts are.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from longmind.models import rerank_pairs as pairs
from training.bert import WIDTH, Bert, load_arrays, unpack

LIST = 16
"""How many texts stand against each other."""
HELD_OUT = 50
"""One group of so many is kept for measuring."""
LENGTHENED = 0.3
"""The share of lists whose texts are made long by their neighbours: answers of assistants are long."""
CAPS = {"sgd_templated": 0.6, "dstc9_faq": 0.6, "squad_nqg_test": 0.7}
"""The share of a source's questions that an epoch takes, where they are many and alike."""


class Reranker(nn.Module):
    """The encoder and a number for its first token."""

    def __init__(self, layers: int, drop: float = 0.1, width: int = WIDTH) -> None:
        super().__init__()
        self.bert = Bert(layers, drop, width)
        self.score = nn.Linear(width, 1)

    def forward(self, ids: Tensor, segments: Tensor, lengths: Tensor) -> Tensor:
        return self.score(self.bert(ids, segments, lengths)[:, 0]).squeeze(-1)


class Questions:
    """Prepared questions: builds the pairs that the model reads."""

    def __init__(self, path: Path) -> None:
        data = load_arrays(path)
        self.data = data
        self.texts = lists_of(data, "texts")
        self.questions = lists_of(data, "questions")
        self.gold = lists_of(data, "gold")
        self.candidates = lists_of(data, "candidates")
        ends = data["candidates_ends"]
        self.scores = [data["scores"][a:b] for a, b in itertools.pairwise(ends)]
        self.group_of = data["group_of"].astype(int)
        self.first = data["first_text"].astype(int)
        self.sessions = data["sessions"]

    def __len__(self) -> int:
        return len(self.questions)

    def source(self, question: int) -> str:
        return str(self.data["source_names"][self.data["sources"][self.group_of[question]]])

    def pair(
        self, question: int, place: int, lead: int = 0, trail: int = 0, sizes: pairs.Sizes = pairs.TEACHER
    ) -> tuple[list[int], int]:
        """The pieces of a question and a text of its group, which may be made longer by its neighbours."""
        group = self.group_of[question]
        begin, last = self.first[group], self.first[group + 1]
        text = first = final = begin + place
        while lead and first > begin and self.sessions[first - 1] == self.sessions[text]:
            first, lead = first - 1, lead - 1
        while trail and final + 1 < last and self.sessions[final + 1] == self.sessions[text]:
            final, trail = final + 1, trail - 1
        whole = (
            self.texts[text] if first == final else [piece for n in range(first, final + 1) for piece in self.texts[n]]
        )
        before = after = ()
        if first > begin and self.sessions[first - 1] == self.sessions[text]:
            before = self.texts[first - 1]
        if final + 1 < last and self.sessions[final + 1] == self.sessions[text]:
            after = self.texts[final + 1]
        return pairs.pair(self.questions[question], whole, before, after, sizes)

    def sample(self, question: int, chance: np.random.Generator) -> list[int] | None:
        """Return the place of a right text and of 15 wrong ones, or nothing if there are not enough."""
        gold = set(self.gold[question])
        group = self.group_of[question]
        count = self.first[group + 1] - self.first[group]
        right = [place for place in gold if place < count and len(self.texts[self.first[group] + place])]
        if not right or count < LIST:
            return None
        chosen = int(chance.choice(right))
        wrong = [place for place in self.candidates[question] if place not in gold]
        session = self.sessions[self.first[group] + chosen]
        same = [place for place in wrong if self.sessions[self.first[group] + place] == session]
        picked = list(chance.permutation(same[:20])[:6])
        rest = [place for place in wrong if place not in set(picked)]
        picked += list(chance.permutation(rest[:16])[:6])
        rest = [place for place in rest if place not in set(picked)]
        picked += list(chance.permutation(rest)[: LIST - 1 - len(picked)])
        while len(picked) < LIST - 1:
            place = int(chance.integers(count))
            if place not in gold and place not in picked:
                picked.append(place)
        return [chosen, *(int(place) for place in picked[: LIST - 1])]


def lists_of(data: dict[str, np.ndarray], name: str) -> list[list[int]]:
    ends, values = data[f"{name}_ends"], data[name]
    return [values[a:b].tolist() for a, b in itertools.pairwise(ends)]


def batch(rows: list[tuple[list[int], int]], device: str) -> tuple[Tensor, Tensor, Tensor]:
    """Return pairs as padded tensors: pieces, segments, lengths."""
    longest = max(len(ids) for ids, _ in rows)
    longest += -longest % 8
    ids = np.zeros((len(rows), longest), np.int64)
    segments = np.zeros((len(rows), longest), np.int64)
    lengths = np.zeros(len(rows), np.int64)
    for row, (pieces, head) in enumerate(rows):
        ids[row, : len(pieces)] = pieces
        segments[row, head : len(pieces)] = 1
        lengths[row] = len(pieces)
    return tuple(torch.from_numpy(array).to(device, non_blocking=True) for array in (ids, segments, lengths))  # type: ignore[return-value]


def batches(
    questions: Questions, chosen: np.ndarray, lists: int, device: str, seed: int
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield batches of lists made in worker threads ahead of the model."""
    from concurrent.futures import ProcessPoolExecutor

    jobs = [(chosen[start : start + lists], seed + start) for start in range(0, len(chosen) - lists + 1, lists)]
    global _SHARED
    _SHARED = questions
    import multiprocessing

    with ProcessPoolExecutor(
        max(1, min(14, (multiprocessing.cpu_count() or 2) - 1)), multiprocessing.get_context("fork")
    ) as pool:
        for rows in pool.map(_make, jobs, chunksize=4):
            if rows:
                yield batch(rows, device)


_SHARED: Questions | None = None


def _make(job: tuple[np.ndarray, int]) -> list[tuple[list[int], int]]:
    assert _SHARED is not None
    chance = np.random.default_rng(job[1])
    rows = []
    for question in job[0]:
        sample = _SHARED.sample(int(question), chance)
        if sample is None:
            continue
        if chance.random() >= LENGTHENED:
            rows.extend(_SHARED.pair(int(question), place) for place in sample)
            continue
        gold = set(_SHARED.gold[question])
        for place in sample:
            lead, trail = (int(n) for n in chance.integers(0, 9, 2))
            if place != sample[0]:  # a wrong text must not be joined with a right one
                lead = min([lead, *(place - g - 1 for g in gold if g < place)])
                trail = min([trail, *(g - place - 1 for g in gold if g > place)])
            rows.append(_SHARED.pair(int(question), place, max(lead, 0), max(trail, 0)))
    return rows


def train(
    model: Reranker,
    questions: Questions,
    device: str,
    *,
    epochs: int,
    lists: int,
    rate: float,
    deadline: float,
    teacher: Reranker | None = None,
    tiny: bool = False,
) -> list[dict[str, float]]:
    """Train a model; with a teacher it also learns how that one spreads its belief over a list."""
    group = questions.group_of
    held = group % HELD_OUT == 7
    everything = np.flatnonzero(~held)
    shares = np.array([CAPS.get(questions.source(int(q)), 1.0) for q in everything])
    chance = np.random.default_rng(3)
    plan = [chance.permutation(everything[chance.random(len(everything)) < shares]) for _ in range(epochs)]
    if tiny:
        plan = [order[: lists * 3] for order in plan]
    total = sum(len(order) // lists for order in plan)
    trained = [p for p in model.parameters() if p.requires_grad]
    decay = [p for p in trained if p.ndim > 1]
    plain = [p for p in trained if p.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decay, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}], lr=rate, betas=(0.9, 0.98)
    )
    step, began, curve, losses = 0, time.time(), [], []
    for epoch, order in enumerate(plan):
        model.train()
        for ids, segments, lengths in batches(questions, order, lists, device, 1000 * epoch + 11):
            # when the time is short the rate follows the clock, so that it always ends near zero
            progress = max(step / total, (time.time() - began) / max(deadline - began, 1e-9))
            if progress >= 1:
                break
            warm = min(1.0, (step + 1) / max(1, total * 0.06))
            for entry in optimizer.param_groups:
                entry["lr"] = rate * warm * max(0.02, 0.5 * (1 + math.cos(math.pi * min(progress, 1.0))))
            with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                scores = model(ids, segments, lengths).float().view(-1, LIST)
            loss = functional.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long, device=device))
            if teacher is not None:
                with torch.no_grad(), torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                    taught = teacher(ids, segments, lengths).float().view(-1, LIST)
                kept = functional.kl_div(
                    functional.log_softmax(scores, 1), functional.softmax(taught, 1), reduction="batchmean"
                )
                loss = 0.3 * loss + 0.7 * kept
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            losses.append(loss.detach())
            step += 1
            if step % 100 == 0 or tiny:
                recent = torch.stack(losses[-100:]).mean().item()
                curve.append({"step": step, "seconds": round(time.time() - began, 1), "loss": round(recent, 4)})
                sys.stdout.write(f"step {step}/{total} {time.time() - began:.0f} s loss {recent:.4f}\n")
                sys.stdout.flush()
        held_right = held_out(model, questions, np.flatnonzero(held)[: 4 if tiny else 1500], device)
        sys.stdout.write(f"epoch {epoch + 1}: first of 16 on held-out groups {100 * held_right:.1f} %\n")
        curve.append({"step": step, "held_out": held_right})
        if time.time() > deadline:
            break
    return curve


@torch.no_grad()
def held_out(model: Reranker, questions: Questions, chosen: np.ndarray, device: str) -> float:
    """Return how often the right text of a list is the first."""
    model.eval()
    right, count = 0, 0
    for ids, segments, lengths in batches(questions, chosen, min(32, len(chosen)), device, 5):
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            scores = model(ids, segments, lengths).float().view(-1, LIST)
        right += int((scores.argmax(1) == 0).sum())
        count += len(scores)
    return right / max(count, 1)


@torch.no_grad()
def score_set(model: Reranker, questions: Questions, device: str, most: int | None = None) -> np.ndarray:
    """Return the model's number for every candidate of every question, one after another."""
    model.eval()
    rows = [
        (number, questions.pair(question, place))
        for number, (question, place) in enumerate(
            (q, p) for q in range(len(questions) if most is None else most) for p in questions.candidates[q]
        )
    ]
    rows.sort(key=lambda row: len(row[1][0]))
    scores = np.zeros(len(rows), np.float32)
    for start in range(0, len(rows), 2048):
        part = rows[start : start + 2048]
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            values = model(*batch([pair for _, pair in part], device)).float().cpu().numpy()
        scores[[number for number, _ in part]] = values
    return scores


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--student-epochs", type=int, default=3)
    parser.add_argument("--lists", type=int, default=64)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--student-minutes", type=float, default=2.5)
    parser.add_argument("--tiny", action="store_true")
    call = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    call.out.mkdir(parents=True, exist_ok=True)
    began = time.time()
    questions = Questions(call.prepared / "questions.npz.xz")
    sets = {path.name.split(".")[0]: Questions(path) for path in sorted(call.prepared.glob("set_*.npz.xz"))}
    sys.stdout.write(f"{len(questions)} questions, {len(questions.texts)} texts, read in {time.time() - began:.0f} s\n")
    trunk = unpack(call.prepared / "trunk.npz.xz")
    teacher = Reranker(6).to(device)
    teacher.bert.load_state_dict(trunk)
    options = {"lists": 2 if call.tiny else call.lists, "rate": call.rate, "tiny": call.tiny}
    curves = {
        "reranker": train(
            teacher, questions, device, epochs=call.epochs, deadline=time.time() + 60 * call.minutes, **options
        )
    }
    save(teacher, call.out, "reranker6")
    student = Reranker(3).to(device)
    learnt = teacher.bert.state_dict()
    kept = {key: value for key, value in learnt.items() if not key.startswith("layers.")}
    for ours, theirs in enumerate((1, 3, 5)):
        prefix = f"layers.{theirs}."
        kept |= {f"layers.{ours}.{k.removeprefix(prefix)}": v for k, v in learnt.items() if k.startswith(prefix)}
    student.bert.load_state_dict(kept)
    student.score.load_state_dict(teacher.score.state_dict())
    curves["student"] = train(
        student,
        questions,
        device,
        epochs=call.student_epochs,
        deadline=time.time() + 60 * call.student_minutes,
        teacher=teacher.eval(),
        **options,
    )
    save(student, call.out, "reranker3")
    scores = {}
    for name, asked in sets.items():
        most = 1 if call.tiny else None
        scores[f"{name}_6"] = score_set(teacher, asked, device, most)
        scores[f"{name}_3"] = score_set(student, asked, device, most)
    held = np.flatnonzero(questions.group_of % HELD_OUT == 7)
    scores["held_questions"] = held
    np.savez_compressed(call.out / "scores.npz", **scores)
    (call.out / "curves.json").write_text(json.dumps(curves))
    sys.stdout.write(f"done in {time.time() - began:.0f} s\n")


if __name__ == "__main__":
    main()
