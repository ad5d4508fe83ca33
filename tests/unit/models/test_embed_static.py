from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from longmind.errors import ModelMissing
from longmind.models import embed_static as static
from longmind.models.embed_static import StaticEmbedder

TEXTS = [
    "I moved to Lisbon in May.",
    "where does she live?",
    "  two   spaces\tand\na line\n",
    "日本語のテキスト und Größe, naïve café 😀",
    "x",
    "The quick brown fox jumps over the lazy dog. " * 40,
    "\x00 control",
]

REFERENCE = """
import json, sys
from pathlib import Path
import numpy as np
import wordllama
# Its own folder as the cache: otherwise it looks for the tokenizer in a folder it does not ship, and downloads it.
model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
np.save(sys.argv[1], model.embed(json.loads(sys.stdin.read()), norm=True))
"""


def test_untrained_it_equals_the_vectors_of_wordllama_itself(tmp_path: Path) -> None:
    saved = tmp_path / "reference.npy"
    # In a process of its own: importing wordllama configures logging for the whole process.
    command = [sys.executable, "-c", REFERENCE, str(saved)]
    subprocess.run(command, input=json.dumps(TEXTS), text=True, check=True, capture_output=True)
    ours = asyncio.run(StaticEmbedder(trained=False).embed(TEXTS))
    np.testing.assert_allclose(ours, np.load(saved), atol=2e-6)


@pytest.mark.parametrize("trained", [True, False])
async def test_shape_type_length_and_order(trained: bool) -> None:
    embedder = StaticEmbedder(trained=trained)
    together = await embedder.embed(TEXTS)
    assert together.shape == (len(TEXTS), embedder.dimensions)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-6)
    alone = np.concatenate([await embedder.embed([text]) for text in TEXTS])
    np.testing.assert_array_equal(together, alone)


async def test_no_texts_and_no_tokens() -> None:
    embedder = StaticEmbedder()
    assert (await embedder.embed([])).shape == (0, 256)
    rows = await embedder.embed(["", "word"])
    assert not rows[0].any()
    assert rows[1].any()


async def test_related_texts_are_nearer() -> None:
    query, near, far = await StaticEmbedder().embed(
        ["a cat sat on the mat", "a kitten rests on the rug", "quarterly revenue grew by nine percent"]
    )
    assert query @ near > query @ far + 0.1


async def test_a_megabyte_is_cut_and_a_bad_character_is_replaced() -> None:
    long = "memory of an agent " * 53_000
    assert len(long) > 1_000_000
    rows = await StaticEmbedder().embed([long, long[: static.MAX_CHARACTERS], "a\udfffb", "a?b"])
    np.testing.assert_array_equal(rows[0], rows[1])
    np.testing.assert_array_equal(rows[2], rows[3])


async def test_small_batches_stay_on_the_loop_and_large_ones_leave_it(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = StaticEmbedder()
    await embedder.embed(["load"])
    places: list[bool] = []
    vectors = static._vectors

    def noted(table: static.Table, adapter: static._Adapter | None, texts: list[str]) -> static.Vectors:
        places.append(threading.current_thread() is threading.main_thread())
        return vectors(table, adapter, texts)

    monkeypatch.setattr(static, "_vectors", noted)
    await embedder.embed(["small"] * static.INLINE_TEXTS)
    large = [f"text number {number}" for number in range(static.PART + 10)]
    rows = await embedder.embed(large)
    assert places == [True, False, False]
    np.testing.assert_array_equal(rows[-1:], await embedder.embed(large[-1:]))


async def test_many_calls_at_once_agree() -> None:
    embedder = StaticEmbedder()
    first, *others = await asyncio.gather(*(embedder.embed(TEXTS * 20) for _ in range(6)))
    for other in others:
        np.testing.assert_array_equal(first, other)


async def test_works_after_close() -> None:
    embedder = StaticEmbedder()
    before = await embedder.embed(["again"])
    await embedder.close()
    await embedder.close()
    np.testing.assert_array_equal(before, await embedder.embed(["again"]))


def test_missing_weights_say_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(static, "TABLE", tmp_path / "absent.safetensors")
    with pytest.raises(ModelMissing, match="absent"):
        static.read_table.__wrapped__()


def test_a_package_without_what_was_trained_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(static, "ADAPTER", tmp_path / "absent.safetensors")
    with pytest.raises(ModelMissing, match="absent"):
        static._read_adapter.__wrapped__()


async def test_a_trained_vector_is_the_weighted_sum_mapped() -> None:
    """Worked out the long way, and told apart from the plain one by its name: vectors of the two never mix."""
    trained, plain = StaticEmbedder(), StaticEmbedder(trained=False)
    assert trained.name != plain.name
    text = "My sister moved to Lisbon in May."
    table, adapter = static.read_table(), static._read_adapter()
    ids = table.pieces.ids(text)
    summed = sum(adapter.weights[token] * table.rows[token].astype(np.float64) for token in ids)
    expected = summed @ adapter.map
    (row,) = await trained.embed([text])
    np.testing.assert_allclose(row, expected / np.linalg.norm(expected), atol=1e-5)
    assert float(row @ (await plain.embed([text]))[0]) < 0.999
