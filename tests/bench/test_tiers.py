"""Multi-level recall finds at least what flat recall finds, at equal numbers of tokens."""

import itertools

from benchmarks import tiers
from benchmarks.embedders import WordHashEmbedder
from benchmarks.evaluation import files
from longmind import Longmind


async def test_levels_hold_no_less_than_a_flat_list() -> None:
    cases = list(itertools.islice(files.cases(), 1))
    async with Longmind.open("memory:", embedder=WordHashEmbedder()) as longmind:
        figures = {name: value for name, value, _ in await tiers.measure(longmind, cases, lambda done: None)}
    for tokens in tiers.BUDGETS:
        flat = figures[f"{tokens} tokens, flat: evidence in the context"]
        assert figures[f"{tokens} tokens, levels: evidence in the context"] >= flat > 0
        assert figures[f"{tokens} tokens, levels: the longest context"] <= tokens
