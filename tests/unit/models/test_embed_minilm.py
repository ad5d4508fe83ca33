from __future__ import annotations

import asyncio
import logging
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longmind.errors import ModelError
from longmind.models import embed_minilm as module
from longmind.models.embed_minilm import MiniLmEmbedder, read_weights
from longmind.models.minilm_graph import HEADS, LAYERS, WIDTH

TEXTS = [
    "A man is eating food.",
    "A man is eating a piece of bread.",
    "The girl is carrying a baby.",
    "Größe, naïve café and 日本語",
    "short",
    "Longmind keeps what an agent has seen, and finds it again when it is asked. " * 3,
]


def _gelu(values: Any) -> Any:
    return values * 0.5 * (1.0 + np.vectorize(math.erf)(values / math.sqrt(2.0)))


def _reference(weights: dict[str, Any], ids: list[int]) -> Any:
    """The published forward pass of BERT in plain numpy, double precision, one text and no padding."""
    table = {name: value.astype(np.float64) for name, value in weights.items()}

    def dense(values: Any, layer: str) -> Any:
        return values @ table[f"{layer}.weight"].T + table[f"{layer}.bias"]

    def norm(values: Any, layer: str) -> Any:
        centred = values - values.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return scaled * table[f"{layer}.weight"] + table[f"{layer}.bias"]

    values = table["embeddings.word_embeddings.weight"][ids] + table["embeddings.token_type_embeddings.weight"][0]
    values = norm(values + table["embeddings.position_embeddings.weight"][: len(ids)], "embeddings.LayerNorm")
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        query, key, value = (
            dense(values, f"{layer}.attention.self.{part}").reshape(len(ids), HEADS, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = np.exp(query @ key.transpose(0, 2, 1) / math.sqrt(WIDTH / HEADS))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ value
        mixed = dense(mixed.transpose(1, 0, 2).reshape(len(ids), WIDTH), f"{layer}.attention.output.dense")
        values = norm(mixed + values, f"{layer}.attention.output.LayerNorm")
        wide = _gelu(dense(values, f"{layer}.intermediate.dense"))
        values = norm(dense(wide, f"{layer}.output.dense") + values, f"{layer}.output.LayerNorm")
    mean = values.mean(0)
    return mean / np.linalg.norm(mean)


async def test_equals_a_plain_numpy_forward_pass(minilm: MiniLmEmbedder) -> None:
    texts = TEXTS[1:5]  # of different lengths, so that padding is there and must not show
    rows = await minilm.embed(texts)
    weights, tokenizer = read_weights(), minilm._load().tokenizer
    for text, row in zip(texts, rows, strict=True):
        np.testing.assert_allclose(row, _reference(weights, tokenizer.encode(text).ids), atol=1e-5)


async def test_known_similarities(minilm: MiniLmEmbedder) -> None:
    eats, bread, baby = (await minilm.embed(TEXTS))[:3]
    assert eats @ bread == pytest.approx(0.7553, abs=0.01)  # as published for this model
    assert eats @ baby < 0.2


async def test_int8_stays_close(minilm: MiniLmEmbedder, minilm_int8: MiniLmEmbedder) -> None:
    full, coarse = await minilm.embed(TEXTS), await minilm_int8.embed(TEXTS)
    assert (full * coarse).sum(axis=1).min() > 0.96
    assert coarse[0] @ coarse[1] > 0.6
    assert coarse[0] @ coarse[2] < 0.2
    assert minilm.name != minilm_int8.name


@pytest.mark.parametrize(("which", "tolerance"), [("minilm", 1e-5), ("minilm_int8", 0.0)])
async def test_a_vector_does_not_depend_on_its_neighbours(
    request: pytest.FixtureRequest, which: str, tolerance: float
) -> None:
    embedder: MiniLmEmbedder = request.getfixturevalue(which)
    texts = [f"{text} {number}" for number in range(6) for text in TEXTS]
    together = await embedder.embed(texts)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-5)
    alone = np.concatenate([await embedder.embed([text]) for text in texts[:8]])
    np.testing.assert_allclose(together[:8], alone, atol=tolerance)
    np.testing.assert_array_equal(together, await embedder.embed(texts))


async def test_no_texts_and_no_known_tokens(minilm: MiniLmEmbedder) -> None:
    assert (await minilm.embed([])).shape == (0, 384)
    rows = await minilm.embed(["", " \n", "😀", "word"])
    assert not rows[:3].any()
    assert rows[3].any()


async def test_a_megabyte_counts_by_its_first_tokens(minilm: MiniLmEmbedder) -> None:
    long = "an agent remembers what it has seen " * 28_000
    assert len(long) > 1_000_000
    rows = await minilm.embed([long, long[:4_000], "x\ud800"])
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-5)


async def test_more_than_one_part_keeps_the_order(minilm: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = await minilm.embed(TEXTS)
    monkeypatch.setattr(module, "PART", 4)
    np.testing.assert_allclose(await minilm.embed(TEXTS), whole, atol=1e-5)


async def test_the_event_loop_keeps_running(minilm: MiniLmEmbedder) -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await asyncio.gather(*(minilm.embed(TEXTS) for _ in range(3)))
    counting.cancel()
    assert turns > 10


async def test_loads_again_after_close(model_cache: Path) -> None:
    embedder = MiniLmEmbedder(cache=model_cache)
    before = await embedder.embed(TEXTS[:2])
    await embedder.close()
    await embedder.close()
    np.testing.assert_array_equal(before, await embedder.embed(TEXTS[:2]))


@pytest.mark.parametrize("damage", [b"not a model", None])
def test_a_damaged_cache_is_made_anew(
    tmp_path: Path,
    model_cache: Path,
    minilm_int8: MiniLmEmbedder,
    caplog: pytest.LogCaptureFixture,
    damage: bytes | None,
) -> None:
    expected = asyncio.run(minilm_int8.embed(TEXTS[:1]))
    (whole,) = model_cache.glob("*int8*.onnx")
    broken = tmp_path / whole.name
    broken.write_bytes(whole.read_bytes()[:1_000_000] if damage is None else damage)
    with caplog.at_level(logging.WARNING):
        rows = asyncio.run(MiniLmEmbedder(int8=True, cache=tmp_path).embed(TEXTS[:1]))
    np.testing.assert_array_equal(rows, expected)
    assert "damaged" in caplog.text
    assert [entry.name for entry in tmp_path.iterdir()] == [whole.name]


async def test_a_cache_that_cannot_be_written_costs_only_time(
    tmp_path: Path, minilm: MiniLmEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder should be")
    with caplog.at_level(logging.WARNING):
        rows = await MiniLmEmbedder(cache=blocked / "folder").embed(TEXTS[:1])
    np.testing.assert_allclose(rows, await minilm.embed(TEXTS[:1]), atol=1e-6)
    assert "cannot be kept" in caplog.text


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"something else")
    tokenizer = module.weights_folder() / "tokenizer.json"
    (tmp_path / "tokenizer.json").write_bytes(tokenizer.read_bytes())
    monkeypatch.setattr(module, "weights_folder", lambda: tmp_path)
    cache = tmp_path / "cache"
    with pytest.raises(ModelError, match="not the published ones") as caught:
        asyncio.run(MiniLmEmbedder(cache=cache).embed(["text"]))
    assert caught.value.details["expected"] == module.WEIGHTS_SHA256
    assert list(cache.iterdir()) == []


async def test_a_failure_of_the_runtime_is_a_model_error(minilm: MiniLmEmbedder) -> None:
    class Broken:
        def run(self, *_: Any) -> Any:
            raise RuntimeError("out of memory")

    broken = MiniLmEmbedder()
    broken._loaded = module._Loaded(minilm._load().tokenizer, Broken())
    with pytest.raises(ModelError, match="out of memory"):
        await broken.embed(["text"])
