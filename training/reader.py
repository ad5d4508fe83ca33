"""Training of the answer reader: where in a text the answer to a question stands, or that it stands there not.

    python -m training.reader --prepared prepared --start start/answers12 --out OUT [--teacher-minutes 2.5] [--tiny]

It reads a question beside a window of neighbouring turns. A third of the windows do not hold the answer: they are
another part of the same conversation, or of another one; then the first token is the right place.

MPNet is trained first. Then it teaches the reader that is shipped: both read the same windows, and the reader learns
where its teacher would begin and end, beside what is right.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from longmind.models import rerank_pairs as pairs
from training import loop
from training.bert import WIDTH, load_arrays, new_encoder
from training.figures import area
from training.mpnet import MPNET_WIDTH, new_trunk
from training.texts import lists_of, load_state, save

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


class Windows:
    """The windows that an epoch reads, made anew each time, on the device that trains."""

    def __init__(self, answers: Answers, device: str) -> None:
        self._answers, self._device = answers, device

    def make(self, chosen: np.ndarray, size: int, chance: np.random.Generator) -> list[np.ndarray]:
        """Make a window for each question, and return the batches in random order; those of one length share one."""
        rows = [self._answers.window(int(question), chance) for question in chosen]
        lengths = np.array([len(pieces) for pieces, *_ in rows])
        ids = np.zeros((len(rows), WINDOW + -WINDOW % 8), np.int16)
        for row, (pieces, *_) in zip(ids, rows, strict=True):
            row[: len(pieces)] = pieces
        table = np.stack((lengths, [row[1] for row in rows], [row[2] for row in rows], [row[3] for row in rows]))
        self._lengths = lengths
        self._ids = torch.from_numpy(ids).to(self._device)
        self._table = torch.from_numpy(table).to(self._device)
        order = np.argsort(lengths + chance.random(len(lengths)) * 8, kind="stable")
        return [order[start : start + size] for start in chance.permutation(range(0, len(order), size))]

    def batch(self, rows: np.ndarray) -> tuple[tuple[Tensor, Tensor, Tensor], Tensor]:
        """Return the inputs of some windows, and where their answers begin and end."""
        longest = int(self._lengths[rows].max())
        longest += -longest % 8
        index = torch.from_numpy(rows).to(self._device)
        lengths, heads, *spans = self._table[:, index]
        places = torch.arange(longest, device=self._device)[None]
        segments = ((places >= heads[:, None]) & (places < lengths[:, None])).long()
        return (self._ids[index, :longest].long(), segments, lengths), torch.stack(spans, 1)


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
    model: Reader, answers: Answers, device: str, call: argparse.Namespace, teacher: Reader | None
) -> tuple[Reader, list[dict[str, Any]]]:
    """Train, beside a teacher if there is one; return the moving mean of the weights, and the curve."""
    held = answers.context_of % HELD_OUT == 5
    chance, windows = np.random.default_rng(call.seed), Windows(answers, device)
    chosen = np.flatnonzero(~held)[: call.size * 3 if call.tiny else None]

    def loss(rows: np.ndarray) -> Tensor:
        inputs, spans = windows.batch(rows)
        taught = None
        if teacher is not None:
            with torch.no_grad():
                taught = teacher(*inputs)
        return loss_of(model(*inputs), spans, taught)

    mean, curve = loop.run(
        model,
        device,
        call.epochs * math.ceil(len(chosen) / call.size),
        lambda: windows.make(chosen, call.size, chance),
        loss,
        lambda mean: measure(mean, answers, np.flatnonzero(held)[: 8 if call.tiny else None], device),
        call,
    )
    assert isinstance(mean, Reader)
    return mean, curve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    loop.arguments(parser, epochs=8, size=192, rate=2e-4, minutes=4.0)
    parser.add_argument("--teacher-rate", type=float, default=6e-5)
    parser.add_argument("--teacher-minutes", type=float, default=2.5)
    parser.add_argument("--teacher-epochs", type=int, default=4)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--start", type=Path, help="weights of a reader to go on from")
    call = parser.parse_args()
    device = loop.begin(call.out, call.seed)
    model = Reader(new_encoder(call.prepared, 0.1, call.layers, call.start), WIDTH)
    answers = Answers(call.prepared / "answers.npz.xz")
    limits = {"rate": call.teacher_rate, "minutes": call.teacher_minutes, "epochs": call.teacher_epochs}
    teaching = argparse.Namespace(**(vars(call) | limits))
    teacher = Reader(new_trunk(call.prepared), MPNET_WIDTH).to(device)
    teacher, taught = fit(teacher, answers, device, teaching, None)
    teacher.eval()
    if call.start is not None:
        model.load_state_dict(load_state(call.start), strict=False)
    model, learnt = fit(model.to(device), answers, device, call, teacher)
    save(model, call.out, f"reader{call.layers}")
    (call.out / "reader_curve.json").write_text(json.dumps({"teacher": taught, "reader": learnt}))


@torch.no_grad()
def measure(model: nn.Module, answers: Answers, chosen: np.ndarray, device: str) -> dict[str, float]:
    """Return, on held-out contexts, how often span and absence of an answer are right, and how well one is told."""
    model.eval()
    windows = Windows(answers, device)
    right, there, sure = list[Tensor](), list[Tensor](), list[Tensor]()
    for rows in windows.make(chosen, min(256, len(chosen)), np.random.default_rng(9)):
        inputs, spans = windows.batch(rows)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            numbers = model(*inputs)
        right.append((numbers.argmax(1) == spans).all(1))
        there.append(spans[:, 0] > 0)
        sure.append((numbers[:, 1:].amax(1) - numbers[:, 0]).sum(1))
    exact, answered, margin = (torch.cat(part).cpu().numpy() for part in (right, there, sure))
    return {
        "exact": round(float(exact[answered].mean()), 4),
        "absent": round(float(exact[~answered].mean()), 4),
        "auroc": round(area(margin, answered), 4),
    }


if __name__ == "__main__":
    main()
