"""The reranker that is shipped: it reads questions and texts apart from each other, and is taught by a large one.

    python -m training.distil --prepared prepared --taught OUT/reranked.npz --out OUT \\
        [--layers 6] [--minutes 5] [--start OUT/matcher6] [--tiny]

The teacher (``training.rerank``) has scored all candidates of the training questions, side by side and over long
inputs; students learn its numbers, and which texts are right, over the shorter inputs that are shipped. All texts lie
on the device, so that a step costs only the student.
The scores of students for the candidates of the evaluation sets and of held-out groups are written beside the weights:
mixtures and calibration are chosen where the texts are.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from longmind.models import rerank_pairs as pairs
from training.bert import WIDTH, Bert, unpack
from training.listwise import Loss, train_by_lists
from training.loop import begin
from training.texts import (
    HELD_OUT,
    SHARES,
    Questions,
    Texts,
    batch,
    first_of_list,
    load_state,
    make_texts,
    save,
)

LIST = 24
"""How many candidates of a question a step compares."""
TEMPERATURE = 1.5
VECTOR = 96
"""The width of the vector of a word piece."""


class Matcher(nn.Module):
    """Gives each piece of a question or a text a vector, from one encoder for both.

    The number of a text is a mean over the question's pieces of the best product with a piece of the text. How much a
    piece of the question counts, and what the mean is worth for this question, is learnt too.
    """

    def __init__(self, layers: int, drop: float = 0.1) -> None:
        super().__init__()
        self.bert = Bert(layers, drop)
        self.vector = nn.Linear(WIDTH, VECTOR)
        self.strength = nn.Linear(WIDTH, 1)
        """How strong a piece of a text is: names more than marks, the text more than what stands around it."""
        self.weight = nn.Linear(WIDTH, 1)
        self.level = nn.Linear(WIDTH, 2)
        nn.init.zeros_(self.strength.weight)
        nn.init.constant_(self.strength.bias, 2.0)
        for end in (self.weight, self.level):
            nn.init.zeros_(end.weight)
            nn.init.zeros_(end.bias)

    def texts(self, ids: Tensor, segments: Tensor, lengths: Tensor) -> Tensor:
        """Return a vector for each piece of texts, zeros after their ends."""
        tokens = self.bert(ids, segments, lengths)
        vectors = functional.normalize(self.vector(tokens), dim=-1) * torch.sigmoid(self.strength(tokens))
        real = torch.arange(ids.shape[1], device=ids.device)[None] < lengths[:, None]
        return vectors * real[..., None]

    def questions(self, ids: Tensor, segments: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return vectors of questions' pieces, how much each counts, and what the mean is worth: factor and addend."""
        tokens = self.bert(ids, segments, lengths)
        real = torch.arange(ids.shape[1], device=ids.device)[None] < lengths[:, None]
        weights = self.weight(tokens).squeeze(-1).float().masked_fill(~real, float("-inf")).softmax(-1)
        level = self.level(tokens[:, 0]).float()
        factor, addend = 20 * torch.exp(level[:, 0]), 10 * (level[:, 1] - 1)
        return functional.normalize(self.vector(tokens), dim=-1), weights, torch.stack((factor, addend), -1)


def numbers(vectors: Tensor, weights: Tensor, level: Tensor, texts: Tensor) -> Tensor:
    """Return the numbers of texts, the same count for each question: [questions, texts of each]."""
    count = len(texts) // len(vectors)
    texts = texts.view(len(vectors), count * texts.shape[1], -1)
    products = (vectors @ texts.transpose(1, 2)).view(len(vectors), vectors.shape[1], count, -1)
    best = products.amax(-1).float()
    return level[:, :1] * (best * weights[..., None]).sum(1) + level[:, 1:]


@torch.no_grad()
def apart(model: Matcher, questions: Questions, chosen: np.ndarray, made: Texts, device: str) -> np.ndarray:
    """Return a student's number of every candidate of the chosen questions, one after another."""
    model.eval()
    scores = []
    for place, question in enumerate(chosen):
        rows = torch.arange(int(made.ends[place]), int(made.ends[place + 1]), device=device)
        if not len(rows):
            continue
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            asked = model.questions(*asked_batch(questions, [int(question)], device))
            scores.append(numbers(*asked, model.texts(*made.batch(rows)))[0])
    return torch.cat(scores).float().cpu().numpy() if scores else np.zeros(0, np.float32)


def asked_batch(questions: Questions, chosen: list[int], device: str) -> tuple[Tensor, Tensor, Tensor]:
    """Return questions as padded tensors, all of the first segment."""
    rows = [pairs.asked_alone(questions.questions[question]) for question in chosen]
    return batch([(row, len(row)) for row in rows], device)


def loss_of(model: Matcher, questions: Questions, chosen: np.ndarray, made: Texts, taught: Tensor, device: str) -> Loss:
    """Return the loss of lists: how far a student is from its teacher, and from what is right."""

    def loss(rows: Tensor, asked: np.ndarray) -> Tensor:
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            vectors = model.questions(*asked_batch(questions, [int(chosen[q]) for q in asked], device))
            scores = numbers(*vectors, model.texts(*made.batch(rows.flatten())))
        wanted = taught[rows]
        right = torch.zeros(len(rows), dtype=torch.long, device=device)
        divergence = functional.kl_div(
            functional.log_softmax(scores / TEMPERATURE, 1),
            functional.softmax(wanted / TEMPERATURE, 1),
            reduction="batchmean",
        )
        # the level of a score tells whether any text answers at all, so it is learnt too
        level = functional.smooth_l1_loss(scores, wanted.clamp(-8, 8))
        return TEMPERATURE**2 * divergence + 0.3 * functional.cross_entropy(scores, right) + 0.1 * level

    return loss


def new_student(layers: int, trunk: dict[str, Tensor], start: Path | None, device: str) -> Matcher:
    """Return a student that begins as MiniLM, or as every so many of its layers, or where a training has ended."""
    student = Matcher(layers)
    if start is not None:
        student.load_state_dict(load_state(start) | {"bert.words.weight": trunk["words.weight"]})
        return student.to(device)
    chosen = np.linspace(0, 5, layers + 1).round().astype(int)[1:] if layers < 6 else range(6)
    kept = {key: value for key, value in trunk.items() if not key.startswith("layers.")}
    for ours, theirs in enumerate(chosen):
        prefix = f"layers.{theirs}."
        kept |= {f"layers.{ours}.{k.removeprefix(prefix)}": v for k, v in trunk.items() if k.startswith(prefix)}
    student.bert.load_state_dict(kept)
    return student.to(device)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--taught", type=Path, required=True, help="the teacher's scores")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--layers", default="6", help="of one or several students, with commas between them")
    parser.add_argument("--minutes", type=float, default=5.0, help="for each student")
    parser.add_argument("--start", type=Path, help="weights of a student to go on from")
    parser.add_argument("--lists", type=int, default=64)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--tiny", action="store_true")
    call = parser.parse_args()
    device = begin(call.out, 1)
    began = time.time()

    def tell(line: str) -> None:
        sys.stdout.write(f"{time.time() - began:5.0f} s: {line}\n")
        sys.stdout.flush()

    questions = Questions(call.prepared / "questions.npz.xz")
    sets = {path.name.split(".")[0]: Questions(path) for path in sorted(call.prepared.glob("set_*.npz.xz"))}
    trunk = unpack(call.prepared / "trunk.npz.xz")
    chosen = np.arange(len(questions))[:: 2000 if call.tiny else 1]
    held = np.flatnonzero(questions.group_of[chosen] % HELD_OUT == 7)
    kept = np.flatnonzero(questions.group_of[chosen] % HELD_OUT != 7)
    shares = np.array([SHARES.get(questions.source(int(chosen[q])), 1.0) for q in kept])
    with np.load(call.taught) as stored:
        taught = torch.from_numpy(stored["scores"].astype(np.float32)).to(device)
    made = make_texts(questions, chosen, pairs.text_alone, device)
    asked_sets = {name: np.arange(len(asked))[: 2 if call.tiny else None] for name, asked in sets.items()}
    evaluated = {name: make_texts(sets[name], asked, pairs.text_alone, device) for name, asked in asked_sets.items()}
    scores: dict[str, np.ndarray] = {}
    for name, part in evaluated.items():
        scores |= {f"{name}|ends": part.ends, f"{name}|places": part.places, f"{name}|right": part.right}
    curves = {}
    for layers in filter(None, call.layers.split(",")):
        student = new_student(int(layers), trunk, call.start, device)
        loss = loss_of(student, questions, chosen, made, taught, device)
        curves[layers] = train_by_lists(student, loss, made, kept, shares, LIST, device, call)
        save(student, call.out, f"matcher{layers}")
        tell(f"{layers} layers are trained")
        for name, part in evaluated.items():
            own = apart(student, sets[name], asked_sets[name], part, device)
            scores[f"{name}|{layers}"] = own.astype(np.float16)
        np.savez_compressed(call.out / "scores.npz", **scores)
        (call.out / "curves.json").write_text(json.dumps(curves))
        tell("the evaluation sets are scored")
        if not len(held):
            continue
        part = make_texts(questions, chosen[held], pairs.text_alone, device)
        own = apart(student, questions, chosen[held], part, device)
        right = 100 * first_of_list(own, part, np.arange(len(held)))
        tell(f"{layers} layers: the best candidate is right in {right:.1f} % of held-out questions")
    tell("done")


if __name__ == "__main__":
    main()
