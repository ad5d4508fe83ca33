"""Train the weights and the map of the static embedder.

    python -m tools.static_vectors.train --data ../shared/data/train

No accelerator is needed: about twelve minutes on one core. The file is the mean of several runs, each with a chance of
its own: what one of them learns by accident the others do not.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from safetensors.numpy import save_file

from longmind.models.embed_static import ADAPTER, read_table
from longmind.models.word_pieces import WordPieces
from tools.static_vectors.adapter import Adam, Adapter, Tokens
from tools.static_vectors.groups import Group, groups
from tools.static_vectors.losses import SHARPNESS, Ranking, loss, neighbours

HELD_OUT = 0.12
DROPPED = 0.1
"""The share of tokens left out of each text, so that no word is leant on alone."""
WEIGHT_RATE, MAP_RATE = 1e-2, 4e-4
KEPT = np.float32(1e-3)
"""How strongly weights and map are held to where they begin."""
TOGETHER = 12
"""Groups to a step; the texts of the others are what is clearly no answer."""
Examples = dict[str, list["Example"]]


class Example:
    """A group, split into word pieces."""

    def __init__(self, group: Group, pieces: WordPieces) -> None:
        self.group = group
        self.asked = _tokens(pieces, group.questions)
        self.told = _tokens(pieces, group.texts)
        self.around = neighbours(group.threads)

    def scores(self, adapter: Adapter) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        asked, told = adapter.forward(self.asked).unit, adapter.forward(self.told).unit
        ranking = Ranking(asked, told, self.around, self.group.leaning, self.group.by_words)
        return np.where(np.isfinite(self.group.by_words), ranking.cosines, -np.inf), ranking.together


def learn(batch: list[Example], adapter: Adapter, chance: np.random.Generator) -> float:
    """Add up the slopes of some groups: each alone with its words, and by meaning among the texts of all of them."""
    asked = [adapter.forward(one.asked.some(chance.random(len(one.asked.flat)) > DROPPED)) for one in batch]
    told = [adapter.forward(one.told.some(chance.random(len(one.told.flat)) > DROPPED)) for one in batch]
    questions, texts = np.concatenate([made.unit for made in asked]), np.concatenate([made.unit for made in told])
    lines = np.cumsum([0, *(len(made.unit) for made in asked)])
    columns = np.cumsum([0, *(len(made.unit) for made in told)])
    cosines = SHARPNESS * (questions @ texts.T)
    gold = np.zeros(cosines.shape, np.bool_)
    for number, one in enumerate(batch):
        here = np.s_[lines[number] : lines[number + 1], columns[number] : columns[number + 1]]
        gold[here] = one.group.gold
        cosines[here] = np.where(np.isfinite(one.group.by_words), cosines[here], -np.inf)
    lost, slope = loss(cosines, gold)
    slope *= SHARPNESS
    by_question, by_text = slope @ texts, slope.T @ questions
    for number, one in enumerate(batch):
        ranking = Ranking(asked[number].unit, told[number].unit, one.around, one.group.leaning, one.group.by_words)
        together, together_slope = loss(ranking.together, one.group.gold)
        together_slope /= np.float32(len(batch))
        slopes = ranking.backward(np.zeros_like(together_slope), together_slope)
        adapter.backward(asked[number], by_question[lines[number] : lines[number + 1]] + slopes[0])
        adapter.backward(told[number], by_text[columns[number] : columns[number + 1]] + slopes[1])
        lost += together / len(batch)
    return lost


def _tokens(pieces: WordPieces, texts: list[str]) -> Tokens:
    return Tokens.of([pieces.ids(text) for text in texts])


def split(examples: list[Example], seed: int) -> tuple[Examples, Examples]:
    """By source: what is learnt from, and what is held out."""
    chosen = random.Random(seed)
    learnt: Examples = defaultdict(list)
    held: Examples = defaultdict(list)
    for example in examples:
        (held if chosen.random() < HELD_OUT else learnt)[example.group.source].append(example)
    return learnt, held


def measured(adapter: Adapter, examples: Examples) -> dict[str, tuple[float, float]]:
    """By source: the share of answers among the first ten, by meaning alone and together with the words."""
    found = {}
    for source, of_source in examples.items():
        shares = []
        for example in of_source:
            gold = example.group.gold
            most = np.minimum(gold.sum(axis=1), 10)
            tens = [np.argsort(-scores, axis=1, kind="stable")[:, :10] for scores in example.scores(adapter)]
            shares.append(np.stack([np.take_along_axis(gold, ten, axis=1).sum(axis=1) / most for ten in tens], axis=1))
        alone, together = 100 * np.concatenate(shares).mean(axis=0)
        found[source] = (float(alone), float(together))
    return found


def train(adapter: Adapter, examples: Examples, steps: int, seed: int, progress: Progress) -> None:
    chosen, chance = random.Random(seed), np.random.default_rng(seed)
    sources = sorted(examples)
    questions = [sum(len(example.group.questions) for example in examples[source]) for source in sources]
    weights, mapping = Adam(adapter.log_weights, WEIGHT_RATE), Adam(adapter.map, MAP_RATE)
    beginning = adapter.map.copy()
    task = progress.add_task("learning", total=steps)
    for step in range(steps):
        batch = [chosen.choice(examples[source]) for source in chosen.choices(sources, questions, k=TOGETHER)]
        lost = learn(list(dict.fromkeys(batch)), adapter, chance)
        adapter.weights_slope += KEPT * adapter.log_weights
        adapter.map_slope += KEPT * (adapter.map - beginning)
        share = min(1.0, 10 * (step + 1) / steps) * (1 - step / steps)
        weights.step(adapter.weights_slope, share)
        mapping.step(adapter.map_slope, share)
        progress.update(task, advance=1, description=f"learning, loss {lost:.2f}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True, help="the folder with the training questions")
    options.add_argument("--out", type=Path, default=ADAPTER, help="where the trained file goes")
    options.add_argument("--questions", type=int, default=26_000)
    options.add_argument("--steps", type=int, default=600)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--seed", type=int, default=11)
    given = options.parse_args()
    console = Console(stderr=True)
    pieces, table = read_table()
    adapter = Adapter(table.astype(np.float32))
    with Progress(console=console) as progress:
        reading = progress.add_task("reading", total=1.0)
        read = asyncio.run(
            groups(given.data, given.questions, given.seed, lambda done: progress.update(reading, completed=done))
        )
        learnt, held = split([Example(group, pieces) for group in read], given.seed)
        before = measured(adapter, held)
        runs = [Adapter(adapter.table) for _ in range(given.runs)]
        for number, run in enumerate(runs):
            train(run, learnt, given.steps, given.seed + number, progress)
        adapter.log_weights = np.mean([run.log_weights for run in runs], axis=0)
        adapter.map = np.mean([run.map for run in runs], axis=0)
    after = measured(adapter, held)
    save_file({"log_weights": adapter.log_weights.astype(np.float16), "map": adapter.map.astype(np.float16)}, given.out)
    shown = Table("held out", "alone before", "after", "with words before", "after")
    for source in sorted(held):
        shown.add_row(source, *(f"{n[source][part]:.1f}" for part in (0, 1) for n in (before, after)))
    means = [np.mean([n[source][part] for source in held]) for part in (0, 1) for n in (before, after)]
    shown.add_row("mean", *(f"{mean:.2f}" for mean in means))
    console.print(shown)


if __name__ == "__main__":
    main()
