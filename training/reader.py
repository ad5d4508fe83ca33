"""Training of the answer reader: where in a text the answer to a question stands, or that it stands there not.

    python -m training.reader --prepared prepared --out OUT [--epochs 3] [--minutes 6] [--tiny]

It reads a question beside a window of neighbouring turns. A third of the windows do not hold the answer: they are
another part of the same conversation, or of another one; then the first token is the right place.
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
from training.texts import batch, lists_of, save

WINDOW = 250
"""The most pieces that are read at once."""
WITHOUT = 0.35
"""The share of windows that do not hold the answer."""
HELD_OUT = 40
STRANGE = {"tweetqa", "squadshifts_reddit", "squadshifts_amazon_reviews"}
"""Their questions name "the author" and may fit any text, so they get no texts of others."""


class Reader(nn.Module):
    """The encoder and two numbers for each token: that an answer begins or ends there."""

    def __init__(self, layers: int = 6, drop: float = 0.1) -> None:
        super().__init__()
        self.bert = Bert(layers, drop)
        self.span = nn.Linear(WIDTH, 2)

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
    workers = max(1, min(14, multiprocessing.cpu_count() - 1))
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
        for rows in pool.map(_make, jobs, chunksize=4):
            spans = torch.tensor([[first, last] for _, _, first, last in rows], device=device)
            yield batch([(pieces, head) for pieces, head, _, _ in rows], device), spans


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--questions", default="answers", choices=["answers", "plain_answers"])
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--size", type=int, default=192)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--minutes", type=float, default=6.0)
    parser.add_argument("--tiny", action="store_true")
    call = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    call.out.mkdir(parents=True, exist_ok=True)
    answers = Answers(call.prepared / f"{call.questions}.npz.xz")
    model = Reader().to(device)
    model.bert.load_state_dict(unpack(call.prepared / "trunk.npz.xz"))
    held = answers.context_of % HELD_OUT == 5
    chance = np.random.default_rng(4)
    size = 4 if call.tiny else call.size
    plan = [chance.permutation(np.flatnonzero(~held)) for _ in range(call.epochs)]
    if call.tiny:
        plan = [order[: size * 3] for order in plan]
    total = sum(len(order) // size for order in plan)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=call.rate, weight_decay=0.01, betas=(0.9, 0.98))
    began, step, curve, losses = time.time(), 0, [], []
    deadline = began + 60 * call.minutes
    for epoch, order in enumerate(plan):
        model.train()
        for inputs, spans in batches(answers, order, size, device, 1000 * epoch + 3):
            progress = max(step / total, (time.time() - began) / max(deadline - began, 1e-9))
            if progress >= 1:
                break
            warm = min(1.0, (step + 1) / max(1, total * 0.06))
            for entry in optimizer.param_groups:
                entry["lr"] = call.rate * warm * max(0.02, 0.5 * (1 + math.cos(math.pi * min(progress, 1.0))))
            with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                numbers = model(*inputs)
            loss = (
                functional.cross_entropy(numbers[..., 0], spans[:, 0])
                + functional.cross_entropy(numbers[..., 1], spans[:, 1])
            ) / 2
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            losses.append(loss.detach())
            step += 1
            if step % 100 == 0 or call.tiny:
                recent = torch.stack(losses[-100:]).mean().item()
                curve.append({"step": step, "seconds": round(time.time() - began, 1), "loss": round(recent, 4)})
                sys.stdout.write(f"step {step}/{total} {time.time() - began:.0f} s loss {recent:.4f}\n")
                sys.stdout.flush()
        figures = measure(model, answers, np.flatnonzero(held)[: 8 if call.tiny else 2000], device)
        curve.append({"step": step, **figures})
        sys.stdout.write(f"epoch {epoch + 1}: {figures}\n")
        sys.stdout.flush()
        if time.time() > deadline:
            break
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
