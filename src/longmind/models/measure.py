"""Measure the speed of the embedders on this machine: ``python -m longmind.models.measure [embedder ...]``.

Each embedder runs in a process of its own, so that the load time counts its imports and no other's. The texts are the
same every time: sentences of 5 to 39 words from a fixed vocabulary, 23 MiniLM tokens on average.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time

from longmind.errors import LongmindError
from longmind.models.embed_open import open_embedder

EMBEDDERS = ("static", "minilm", "minilm-int8")
AT_LEAST_SECONDS = 3.0
TEXTS = 512
_WORDS = (
    "the agent moved to lisbon in may and she likes tea more than coffee when it rains but her brother plays "
    "football every sunday near harbour"
).split()
_HEAD = f"{'embedder':<14}{'dimensions':>12}{'load s':>10}{'texts/s':>10}{'texts/CPU s':>13}{'one text ms':>13}\n"


def sentences(count: int) -> list[str]:
    """Return sentences that are the same on every machine."""
    chosen = random.Random(7)
    return [" ".join(chosen.choices(_WORDS, k=chosen.randint(5, 39))) for _ in range(count)]


async def measure(spec: str) -> str:
    """Return one line of the table: load the model, then embed the texts repeatedly for some seconds."""
    texts = sentences(TEXTS)
    began = time.perf_counter()
    embedder = open_embedder(spec)
    await embedder.embed(texts[:1])
    load = time.perf_counter() - began
    await embedder.embed(texts)
    done, wall, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - wall < AT_LEAST_SECONDS:
        await embedder.embed(texts)
        done += len(texts)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    alone = time.perf_counter()
    for text in texts[:32]:
        await embedder.embed([text])
    alone = (time.perf_counter() - alone) / 32 * 1000
    await embedder.close()
    return f"{spec:<14}{embedder.dimensions:>12}{load:>10.2f}{done / wall:>10.0f}{done / cpu:>13.0f}{alone:>13.2f}\n"


def main(specs: list[str]) -> int:
    """Print the table; an embedder that is not installed says so in its line."""
    if len(specs) == 1:
        try:
            sys.stdout.write(asyncio.run(measure(specs[0])))
        except LongmindError as error:
            sys.stdout.write(f"{specs[0]:<14}{error}\n")
            return 1
        return 0
    sys.stdout.write(_HEAD)
    sys.stdout.flush()
    codes = [subprocess.run([sys.executable, "-m", __spec__.name, spec]).returncode for spec in specs or EMBEDDERS]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
