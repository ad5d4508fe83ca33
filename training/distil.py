"""A small reranker taught by large ones.

    python -m training.distil --prepared prepared --teachers OUT/reranker6,OUT2/reranker6 --out OUT3 \\
        [--students 4x128,3x384] [--minutes 3] [--tiny]

The teachers score all candidates of the training questions once, over long inputs; students learn their mean, and
which texts are right, over the shorter inputs that are shipped. All pairs lie on the device, so that a step costs only
the student. The scores of students for the candidates of the evaluation sets and of held-out groups are written beside
the weights: mixtures and calibration are chosen where the texts are.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from longmind.models import rerank_pairs as pairs
from training.bert import WIDTH, unpack
from training.rerank import HELD_OUT, Questions, Reranker, save

LIST = 24
"""How many candidates of a question a step compares."""
MOST_GOLD = 6
TEMPERATURE = 1.5


@dataclass(slots=True)
class Pairs:
    """Pairs as arrays on a device, question by question."""

    ids: Tensor
    heads: Tensor
    lengths: Tensor
    ends: np.ndarray
    """Where the pairs of each question end; one more than there are questions, from 0."""
    right: np.ndarray
    """Which pairs hold a right text."""
    places: np.ndarray

    def batch(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return pieces, segments and lengths of some pairs."""
        lengths = self.lengths[rows].long()
        longest = int(lengths.max())
        ids = self.ids[rows, :longest].long()
        inside = torch.arange(longest, device=ids.device)[None]
        segments = ((inside >= self.heads[rows].long()[:, None]) & (inside < lengths[:, None])).long()
        return ids, segments, lengths


_SHARED: tuple[Questions, pairs.Sizes] | None = None


def _made(chosen: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the pairs of some questions: their candidates, and right texts that are not among them."""
    assert _SHARED is not None
    questions, sizes = _SHARED
    rows, counts, right, places = [], [], [], []
    for question in chosen:
        gold = list(dict.fromkeys(questions.gold[question]))
        group = questions.group_of[question]
        count = questions.first[group + 1] - questions.first[group]
        listed = [place for place in questions.candidates[question] if place < count]
        listed += [place for place in gold[:MOST_GOLD] if place < count and place not in set(listed)]
        rows += [questions.pair(int(question), place, sizes=sizes) for place in listed]
        counts.append(len(listed))
        right += [place in gold for place in listed]
        places += listed
    ids = np.zeros((len(rows), sizes.total), np.uint16)
    for row, (pieces, _) in enumerate(rows):
        ids[row, : len(pieces)] = pieces
    heads = np.array([head for _, head in rows], np.uint8)
    lengths = np.array([len(pieces) for pieces, _ in rows], np.uint8)
    return ids, heads, lengths, np.array(counts), np.array(right, np.bool_), np.array(places, np.int32)


def make_pairs(questions: Questions, chosen: np.ndarray, sizes: pairs.Sizes, device: str) -> Pairs:
    """Build the pairs of questions in several processes."""
    global _SHARED
    _SHARED = (questions, sizes)
    workers = max(1, min(15, multiprocessing.cpu_count() - 1))
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
        parts = list(pool.map(_made, [chosen[start : start + 400] for start in range(0, len(chosen), 400)]))
    ids, heads, lengths, counts, right, places = (np.concatenate(part) for part in zip(*parts, strict=True))
    tensors = [torch.from_numpy(array.astype(np.int16)).to(device) for array in (ids, heads, lengths)]
    return Pairs(*tensors, np.concatenate(([0], np.cumsum(counts))), right, places)


@torch.no_grad()
def score_all(model: Reranker, made: Pairs, device: str, size: int = 4096) -> Tensor:
    """Return the number of every pair, batched by length."""
    model.eval()
    scores = torch.zeros(len(made.lengths), device=device)
    for rows in torch.argsort(made.lengths).split(size):
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            scores[rows] = model(*made.batch(rows)).float()
    return scores


def lists_of(made: Pairs, chance: np.random.Generator, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each question the rows of one list, a right text first, and the question's number."""
    lists, asked = [], []
    for question in kept:
        rows = np.arange(made.ends[question], made.ends[question + 1])
        right = rows[made.right[rows]]
        wrong = rows[~made.right[rows]]
        if not len(right) or len(wrong) < LIST - 1:
            continue
        lists.append(np.concatenate((chance.choice(right, 1), chance.permutation(wrong)[: LIST - 1])))
        asked.append(question)
    return np.array(lists), np.array(asked)


def train(
    model: Reranker,
    made: Pairs,
    taught: Tensor,
    kept: np.ndarray,
    device: str,
    minutes: float,
    call: argparse.Namespace,
) -> list[dict[str, float]]:
    """Teach a student until its time is over; the rate follows the clock."""
    trained = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in trained if p.ndim > 1], "weight_decay": 0.01},
        {"params": [p for p in trained if p.ndim <= 1], "weight_decay": 0.0},
    ]
    rate = call.rate * (4 if model.score.in_features < WIDTH else 1)
    optimizer = torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98))
    chance, began, step, curve, losses = np.random.default_rng(3), time.time(), 0, [], []
    progress, epoch = 0.0, 0
    while progress < 1:
        lists, _ = lists_of(made, chance, kept)
        longest = made.lengths.cpu().numpy()[lists].max(1)
        # lists of about one length share a batch; batches come in random order
        order = np.argsort(longest + chance.random(len(longest)) * 16, kind="stable")
        starts = chance.permutation(range(0, len(order), call.lists))
        for start in starts[: 3 if call.tiny else None]:
            progress = (time.time() - began) / (60 * minutes)
            if progress >= 1 or (call.tiny and step >= 6):
                progress = 1.0
                break
            rows = torch.from_numpy(lists[order[start : start + call.lists]]).to(device)
            for entry in optimizer.param_groups:
                entry["lr"] = (
                    rate * min(1.0, progress / 0.05 + 0.01) * max(0.01, 0.5 * (1 + math.cos(math.pi * progress)))
                )
            with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                scores = model(*made.batch(rows.flatten())).float().view(len(rows), LIST)
            wanted = taught[rows]
            right = torch.zeros(len(rows), dtype=torch.long, device=device)
            divergence = functional.kl_div(
                functional.log_softmax(scores / TEMPERATURE, 1),
                functional.softmax(wanted / TEMPERATURE, 1),
                reduction="batchmean",
            )
            # the level of a score tells whether any text answers at all, so it is learnt too
            level = functional.smooth_l1_loss(scores, wanted.clamp(-8, 8))
            loss = TEMPERATURE**2 * divergence + 0.3 * functional.cross_entropy(scores, right) + 0.1 * level
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            losses.append(loss.detach())
            step += 1
            if step % 300 == 0:
                recent = torch.stack(losses[-300:]).mean().item()
                curve.append({"step": step, "seconds": round(time.time() - began, 1), "loss": round(recent, 4)})
                sys.stdout.write(f"  step {step} epoch {epoch} {time.time() - began:.0f} s loss {recent:.4f}\n")
                sys.stdout.flush()
        epoch += 1
    return curve


def first_of_list(scores: np.ndarray, made: Pairs, kept: np.ndarray) -> float:
    """Return how often the best of all candidates of a question is right."""
    best = [
        bool(made.right[start + int(scores[start:end].argmax())])
        for start, end in ((made.ends[q], made.ends[q + 1]) for q in kept)
        if end > start
    ]
    return float(np.mean(best)) if best else 0.0


def load(prefix: Path, layers: int, device: str, trunk: dict[str, Tensor]) -> Reranker:
    """Return a trained reranker."""
    state: dict[str, Tensor] = {"bert.words.weight": trunk["words.weight"]}
    for path in sorted(prefix.parent.glob(f"{prefix.name}.*.npz")):
        with np.load(path) as stored:
            state |= {name: torch.from_numpy(stored[name].astype(np.float32)) for name in stored.files}
    model = Reranker(layers)
    model.load_state_dict(state)
    return model.to(device).eval()


def new_student(layers: int, width: int, teacher: Reranker, trunk: dict[str, Tensor], device: str) -> Reranker:
    """Return a student: of MiniLM's width with some layers of its teacher, or narrow, with main components of words."""
    student = Reranker(layers, drop=0.05 if width < WIDTH else 0.1, width=width)
    student.bert.words.weight.data.copy_(trunk["words.weight"])
    if width == WIDTH:
        learnt = teacher.state_dict()
        chosen = np.linspace(0, 5, layers + 1).round().astype(int)[1:]
        kept = {key: value for key, value in learnt.items() if ".layers." not in key}
        for ours, theirs in enumerate(chosen):
            prefix = f"bert.layers.{theirs}."
            kept |= {
                f"bert.layers.{ours}.{k.removeprefix(prefix)}": v for k, v in learnt.items() if k.startswith(prefix)
            }
        student.load_state_dict(kept)
    else:
        words = trunk["words.weight"].float()
        directions = torch.linalg.svd(words - words.mean(0), full_matrices=False)[2]
        student.bert.narrowed.weight.data.copy_(directions[:width] * math.sqrt(WIDTH / width))
    return student.to(device)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--teachers", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--students", default="4x128,3x384")
    parser.add_argument("--minutes", default="3,3")
    parser.add_argument("--lists", type=int, default=64)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--tiny", action="store_true")
    call = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    call.out.mkdir(parents=True, exist_ok=True)
    began = time.time()

    def tell(line: str) -> None:
        sys.stdout.write(f"{time.time() - began:5.0f} s: {line}\n")
        sys.stdout.flush()

    questions = Questions(call.prepared / "questions.npz.xz")
    sets = {path.name.split(".")[0]: Questions(path) for path in sorted(call.prepared.glob("set_*.npz.xz"))}
    trunk = unpack(call.prepared / "trunk.npz.xz")
    teachers = [load(Path(prefix), 6, device, trunk) for prefix in call.teachers.split(",")]
    chosen = np.arange(len(questions))[:: 2000 if call.tiny else 1]
    made = make_pairs(questions, chosen, pairs.TEACHER, device)
    tell(f"{len(chosen)} questions, {len(made.right)} pairs")
    taught = torch.stack([score_all(teacher, made, device, 64 if call.tiny else 4096) for teacher in teachers]).mean(0)
    held = np.flatnonzero(questions.group_of[chosen] % HELD_OUT == 7)
    kept = np.flatnonzero(questions.group_of[chosen] % HELD_OUT != 7)
    tell(f"teachers: the best candidate is right in {100 * first_of_list(taught.cpu().numpy(), made, held):.1f} %")
    made = make_pairs(questions, chosen, pairs.SHIPPED, device)
    evaluated = {
        name: make_pairs(asked, np.arange(len(asked))[: 2 if call.tiny else None], pairs.SHIPPED, device)
        for name, asked in sets.items()
    }
    scores: dict[str, np.ndarray] = {}
    for name, part in evaluated.items():
        scores |= {f"{name}|ends": part.ends, f"{name}|places": part.places, f"{name}|right": part.right}
    chosen_rows = np.concatenate([np.arange(made.ends[q], made.ends[q + 1]) for q in held] or [np.zeros(0, int)])
    scores["held|questions"], scores["held|places"] = chosen[held], made.places[chosen_rows]
    scores["held|ends"] = np.concatenate(([0], np.cumsum(np.diff(made.ends)[held])))
    curves = {}
    for spec, minutes in zip(call.students.split(","), map(float, call.minutes.split(",")), strict=True):
        layers, width = map(int, spec.split("x"))
        student = new_student(layers, width, teachers[0], trunk, device)
        curves[spec] = train(student, made, taught, kept, device, minutes, call)
        save(student, call.out, f"student{spec}")
        own = score_all(student, made, device, 64 if call.tiny else 4096).cpu().numpy()
        tell(
            f"{spec}: the best candidate is right in {100 * first_of_list(own, made, held):.1f} % of held-out questions"
        )
        scores[f"held|{spec}"] = own[chosen_rows].astype(np.float16)
        for name, part in evaluated.items():
            scores[f"{name}|{spec}"] = (
                score_all(student, part, device, 64 if call.tiny else 4096).cpu().numpy().astype(np.float16)
            )
        np.savez_compressed(call.out / "scores.npz", **scores)
        (call.out / "curves.json").write_text(json.dumps(curves))
    tell("done")


if __name__ == "__main__":
    main()
