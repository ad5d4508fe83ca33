"""The numbers of the shipped reranker for the candidates of the evaluation sets, for ``training.weigh``.

    python -m training.score_sets --prepared prepared --out scores.npz

Every text is read as the package reads it, with 8-bit weights, and without a budget. Where texts are long only as many
candidates are read as recall compares there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from longmind.models import rerank_pairs as pairs
from longmind.models import small_models
from longmind.models.rerank_small import JUDGED, LONG, MOST, MOST_LONG, number_of, read_question, read_text
from training.texts import Questions

UNREAD = -30.0


def scored(questions: Questions, chosen: Sequence[int]) -> dict[str, np.ndarray]:
    """Return the candidates of questions one after another, with their numbers and what is right."""
    model = small_models.load("reranker")
    known: dict[tuple[int, ...], object] = {}
    ends, places, numbers, right = [0], list[int](), list[float](), list[bool]()
    for question in chosen:
        listed, first = questions.candidates[question], questions.first[questions.group_of[question]]
        is_long = np.mean([len(questions.texts[first + place]) for place in listed[:JUDGED]] or [0]) > LONG
        asked = read_question(model, questions.questions[question])
        for rank, place in enumerate(listed):
            number = UNREAD
            if rank < (MOST_LONG if is_long else MOST):
                ids, head = questions.pieces(question, place, pairs.text_alone)
                text = known.get(tuple(ids))
                if text is None:
                    text = known[tuple(ids)] = read_text(model, ids, head, len(ids))
                number = number_of(asked, text)  # type: ignore[arg-type]
            numbers.append(number)
        places += listed
        right += [place in questions.gold[question] for place in listed]
        ends.append(len(places))
    return {"ends": np.array(ends), "places": np.array(places), "6": np.array(numbers), "right": np.array(right)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    call = parser.parse_args()
    stored: dict[str, np.ndarray] = {}
    for path in sorted(call.prepared.glob("set_*.npz.xz")):
        name, questions = path.name.split(".")[0], Questions(path)
        stored |= {f"{name}|{key}": value for key, value in scored(questions, range(len(questions))).items()}
        np.savez_compressed(call.out, **stored)
        sys.stdout.write(f"{name}: {len(stored[f'{name}|places'])} candidates\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
