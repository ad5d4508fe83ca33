"""Training of the answer reader: where in a text the answer to a question stands, or that it stands there not.

    python -m training.reader --prepared prepared --out OUT [--teacher-minutes 2.5] [--minutes 4] [--tiny]

It reads a question beside a window of neighbouring turns. A third of the windows do not hold the answer: they are
another part of the same conversation, or of another one; then the first token is the right place.

MPNet is trained first. Then it teaches the reader that is shipped: both read the same windows, and the reader learns
where its teacher would begin and end, beside what is right.
"""

from __future__ import annotations

import argparse
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
from training.loop import begin
from training.mpnet import MPNET_WIDTH, new_trunk
from training.texts import batch, lists_of, load_state, save

WINDOW = 250
"""The most pieces that are read at once."""
TAUGHT = 0.5
"""How much the teacher counts beside what is right."""
WITHOUT = 0.35
"""The share of windows that do not hold the answer."""
HELD_OUT = 40
STRANGE = {"tweetqa", "squadshifts_reddit", "squadshifts_amazon_reviews"}
"""Their questions name "the author" and may fit any text, so they get no texts of others."""


class Reader(nn.Module):
    """An encoder and two numbers for each token: that an answer begins or ends there."""

    def __init__(self, trunk: nn.Module, width: int) -> None:
        super().__init__()
        self.bert = trunk
        self.span = nn.Linear(width, 2)

    def forward(self, ids: Tensor, segments: Tensor, lengths: Tensor) -> Tensor:
        numbers = self.span(self.bert(ids, segments, lengths)).float()
        places = torch.arange(ids.shape[1], device=ids.device)[None]
        readable = ((segments == 1) & (places < lengths[:, None])) | (places == 0)
        return numbers.masked_fill(~readable[..., None], -1e4)


class Answers:
    """Prepared questions with answer spans: builds the windows that the model reads."""

    def __init__(self, path: Path) -> None:
        data = load_arrays(path)
        self.texts, self.questions = lists_of(data, "texts"), lists_of(data, "questions")
        self.first = data["first_text"].astype(int)
        self.context_of = data["context_of"].astype(int)
        self.spans, self.near = data["spans"].astype(int), data["near"].astype(int)
        self.names = [str(name) for name in data["source_names"]]
        self.sources = data["sources"].astype(int)
        self.contexts_of_source = {
            source: np.unique(self.context_of[self.sources == source]) for source in range(len(self.names))
        }

    def window(self, question: int, chance: np.random.Generator) -> tuple[list[int], int, int, int]:
        """Return pieces, how many belong to the question, and the first and last piece of the answer (0: none)."""
        context, (text, start, end) = self.context_of[question], self.spans[question]
        texts = range(self.first[context], self.first[context + 1])
        head = [pairs.CLS, *self.questions[question][: pairs.TEACHER.question], pairs.SEP]
        room = WINDOW - len(head) - 1
        if self.near[question] >= 0:  # of the wrong person, or of something else than is said there
            body, _ = self._around(list(texts), texts[0] + int(self.near[question]), room, chance)
            return head + body, len(head), 0, 0
        if chance.random() < WITHOUT or text < 0:
            source = self.sources[question]
            if text >= 0:
                far = [place for place in texts if abs(place - texts[0] - text) > 1]
                if far and chance.random() < 0.6:
                    return head + self._around(far, int(chance.choice(far)), room, chance)[0], len(head), 0, 0
                if self.names[source] in STRANGE:
                    return self._right(head, texts, text, start, end, room, chance)
                context = int(chance.choice(self.contexts_of_source[source]))
                if context == self.context_of[question]:
                    return self._right(head, texts, text, start, end, room, chance)
                texts = range(self.first[context], self.first[context + 1])
            body, _ = self._around(list(texts), int(chance.choice(texts)), room, chance)
            return head + body, len(head), 0, 0
        return self._right(head, texts, text, start, end, room, chance)

    def _right(
        self, head: list[int], texts: range, text: int, start: int, end: int, room: int, chance: np.random.Generator
    ) -> tuple[list[int], int, int, int]:
        body, at = self._around(list(texts), texts[0] + text, room, chance, start)
        first, last = len(head) + at + start, len(head) + at + end
        if at + end >= len(body) or at + start < 0:
            return head + body, len(head), 0, 0
        return head + body, len(head), first, last

    def _around(
        self, texts: list[int], middle: int, room: int, chance: np.random.Generator, needed: int = 0
    ) -> tuple[list[int], int]:
        """Return a text with some of its neighbours, and where it begins; a long text is cut around what is needed."""
        own = self.texts[middle]
        cut = 0
        if len(own) > room - 8:
            cut = int(max(0, min(needed - chance.integers(10, room // 2), len(own) - room + 8)))
            own = own[cut : cut + room - 8]
        place = texts.index(middle)
        before, after = int(chance.integers(0, 4)), int(chance.integers(0, 4))
        left: list[int] = []
        for index in range(place - 1, max(-1, place - 1 - before), -1):
            piece = [*self.texts[texts[index]], pairs.SEP]
            if texts[index] != texts[index + 1] - 1 or len(left) + len(piece) + len(own) > room - 4:
                break
            left = piece + left
        body = [*left, *own, pairs.SEP]
        for index in range(place + 1, min(len(texts), place + 1 + after)):
            piece = [*self.texts[texts[index]], pairs.SEP]
            if texts[index] != texts[index - 1] + 1 or len(body) + len(piece) > room:
                break
            body += piece
        return body, len(left) - cut


_SHARED: Answers | None = None


def _make(job: tuple[np.ndarray, int]) -> list[tuple[list[int], int, int, int]]:
    assert _SHARED is not None
    chance = np.random.default_rng(job[1])
    return [_SHARED.window(int(question), chance) for question in job[0]]


def batches(
    answers: Answers, chosen: np.ndarray, size: int, device: str, seed: int
) -> Iterator[tuple[tuple[Tensor, Tensor, Tensor], Tensor]]:
    """Yield batches of windows with the places of their answers, made ahead of the model in other processes."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    global _SHARED
    _SHARED = answers
    jobs = [(chosen[start : start + size], seed + start) for start in range(0, len(chosen) - size + 1, size)]
    workers = max(1, min(9, multiprocessing.cpu_count() - 1))
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
        for rows in pool.map(_make, jobs, chunksize=4):
            spans = torch.tensor([[first, last] for _, _, first, last in rows], device=device)
            yield batch([(pieces, head) for pieces, head, _, _ in rows], device), spans


def loss_of(numbers: Tensor, spans: Tensor, taught: Tensor | None) -> Tensor:
    """Return how far beginnings and ends are from what is right, and from what a teacher says."""
    right = functional.cross_entropy(numbers[..., 0], spans[:, 0]) + functional.cross_entropy(
        numbers[..., 1], spans[:, 1]
    )
    if taught is None:
        return right / 2
    own = functional.log_softmax(numbers.transpose(1, 2), -1)
    divergence = functional.kl_div(own, functional.softmax(taught.transpose(1, 2), -1), reduction="none").sum(-1)
    return (1 - TAUGHT) * right / 2 + TAUGHT * divergence.mean()


def fit(
    model: Reader,
    answers: Answers,
    minutes: float,
    rate: float,
    device: str,
    call: argparse.Namespace,
    teacher: Reader | None,
) -> list[dict[str, float]]:
    """Train until the time is over, measuring after each epoch; return how it went."""
    held = answers.context_of % HELD_OUT == 5
    chance = np.random.default_rng(4)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=rate, weight_decay=0.01, betas=(0.9, 0.98))
    began, step, progress, epoch = time.time(), 0, 0.0, 0
    curve, losses = list[dict[str, float]](), list[Tensor]()
    size = 4 if call.tiny else call.size
    while progress < 1:
        model.train()
        order = chance.permutation(np.flatnonzero(~held))[: size * 3 if call.tiny else None]
        for inputs, spans in batches(answers, order, size, device, 1000 * epoch + call.seed):
            progress = (time.time() - began) / (60 * minutes)
            if progress >= 1:
                break
            for entry in optimizer.param_groups:
                entry["lr"] = (
                    rate * min(1.0, progress / 0.06 + 0.01) * max(0.02, 0.5 * (1 + math.cos(math.pi * progress)))
                )
            with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                numbers = model(*inputs)
                taught = None
                if teacher is not None:
                    with torch.no_grad():
                        taught = teacher(*inputs)
            loss = loss_of(numbers, spans, taught)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            losses.append(loss.detach())
            step += 1
            if step % 200 == 0 or call.tiny:
                recent = torch.stack(losses[-200:]).mean().item()
                curve.append({"step": step, "seconds": round(time.time() - began, 1), "loss": round(recent, 4)})
                sys.stdout.write(f"step {step}, epoch {epoch}, {time.time() - began:.0f} s, loss {recent:.4f}\n")
                sys.stdout.flush()
        figures = measure(model, answers, np.flatnonzero(held)[: 8 if call.tiny else 2000], device)
        curve.append({"step": step, **figures})
        sys.stdout.write(f"epoch {epoch + 1}: {figures}\n")
        sys.stdout.flush()
        epoch += 1
        if call.tiny:
            break
    return curve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--size", type=int, default=192)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--teacher-rate", type=float, default=6e-5)
    parser.add_argument("--teacher-minutes", type=float, default=2.5)
    parser.add_argument("--start", type=Path, help="weights of a reader to go on from")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--tiny", action="store_true")
    call = parser.parse_args()
    device = begin(call.out, call.seed)
    answers = Answers(call.prepared / "answers.npz.xz")
    teacher = Reader(new_trunk(call.prepared), MPNET_WIDTH).to(device)
    curve = {"teacher": fit(teacher, answers, call.teacher_minutes, call.teacher_rate, device, call, None)}
    teacher.eval()
    model = Reader(Bert(6, 0.1), WIDTH)
    model.bert.load_state_dict(unpack(call.prepared / "trunk.npz.xz"))
    if call.start is not None:
        model.load_state_dict(load_state(call.start), strict=False)
    model.to(device)
    curve["reader"] = fit(model, answers, call.minutes, call.rate, device, call, teacher)
    save(model, call.out, "reader6")
    (call.out / "reader_curve.json").write_text(json.dumps(curve))


@torch.no_grad()
def measure(model: Reader, answers: Answers, chosen: np.ndarray, device: str) -> dict[str, float]:
    """Return, on held-out contexts, how often span and absence of an answer are right."""
    model.eval()
    exact = have = absent = lack = 0
    for inputs, spans in batches(answers, chosen, min(64, len(chosen)), device, 9):
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            numbers = model(*inputs)
        best = numbers.argmax(1)
        there = spans[:, 0] > 0
        exact += int(((best == spans).all(1) & there).sum())
        have += int(there.sum())
        absent += int(((best[:, 0] == 0) & ~there).sum())
        lack += int((~there).sum())
    return {"exact": round(exact / max(have, 1), 4), "absent": round(absent / max(lack, 1), 4)}


if __name__ == "__main__":
    main()
