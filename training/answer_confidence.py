"""Fit the confidence of answers: asks the questions of the LoCoMo conversations that are used for tuning.

    python -m training.answer_confidence --data ../shared/data [--every 1]

Prints the weights for ``longmind.answering.confidence``, and the confidence above which four of five questions without
an answer are refused, found with each conversation left out once.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

import numpy as np

from benchmarks import answers, locomo, quality
from benchmarks.answer_scores import score_answer
from longmind.answering.answerer import MOST_READ
from longmind.answering.confidence import Signs
from longmind.answering.passages import is_evidence, passages_of
from longmind.answering.reading import draft_answer
from longmind.memory import Longmind
from longmind.text.questions import read_question

REFUSED = 0.8


async def collect(data: Path, every: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the signs of every answer, its score, whether there is an answer at all, and its conversation."""
    signs, scores, answerable, conversations = [], [], [], []
    async with Longmind.open("memory:") as longmind:
        reader = await longmind.span_reader()
        for number, case in enumerate(case for case in locomo.cases(data) if case.tuned):
            mem = await quality.load(longmind, "confidence", case)
            for question, right, category in answers.questions(data)[case.name][::every]:
                hits = [hit for hit in await mem.recall(question) if is_evidence(hit.memory)][:MOST_READ]
                passages = await passages_of(mem.store, mem.scope, hits)
                readings = await reader.read(question, [passage.read for passage in passages])
                draft = draft_answer(question, read_question(question), passages, readings)
                if draft is None:
                    continue
                there = category != answers.ADVERSARIAL
                signs.append(draft.signs)
                scores.append(score_answer(draft.text, True, right, category) if there else 0.0)
                answerable.append(there)
                conversations.append(number)
    return np.array(signs), np.array(scores), np.array(answerable), np.array(conversations)


def fit(signs: np.ndarray, scores: np.ndarray, weight: float = 1.0) -> np.ndarray:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1)
    call = parser.parse_args()
    signs, scores, answerable, conversations = asyncio.run(collect(call.data, call.every))
    confidence = np.zeros(len(scores))
    for number in set(conversations):
        left_out = conversations == number
        confidence[left_out] = 1 / (1 + np.exp(-signs[left_out] @ fit(signs[~left_out], scores[~left_out])))
    least = np.quantile(confidence[~answerable], REFUSED)
    given = (confidence >= least)[answerable]
    sys.stdout.write(
        f"answer_confidence {least:.3f}: F1 {100 * scores[answerable].mean():.1f} always answering, "
        f"{100 * (scores[answerable] * given).mean():.1f} with it\n"
        f"{Signs(*(round(float(weight), 3) for weight in fit(signs, scores)))}\n"
    )


if __name__ == "__main__":
    main()
