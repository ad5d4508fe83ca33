"""The small models: what is loaded is what was published."""

from __future__ import annotations

import json

import numpy as np
import pytest

from longmind.errors import ModelError, ModelMissing
from longmind.models import small_models
from longmind.models.small_models import CLS, SEP, checked, load

installed = pytest.mark.skipif(bool(small_models.missing()), reason="longmind-models is not installed")


def test_a_file_with_another_checksum_is_refused(tmp_path):
    (tmp_path / "words.npz").write_bytes(b"published")
    (tmp_path / "manifest.json").write_text(json.dumps({"files": {"words.npz": "0" * 64}}))
    with pytest.raises(ModelError, match="not the file that was published"):
        checked(tmp_path / "words.npz")
    with pytest.raises(ModelError, match="cannot be read"):
        checked(tmp_path / "absent.onnx")


def test_what_is_missing_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(small_models, "PACKAGES", ("no_such_package",))
    monkeypatch.setattr(small_models, "_loaded", {})
    with pytest.raises(ModelMissing, match="no_such_package") as caught:
        load("reranker")
    assert "pip install" in str(caught.value.hint)


@installed
@pytest.mark.parametrize("name", ["reranker", "answers", "statements", "changes"])
def test_the_vector_of_a_piece_depends_on_the_others(name):
    model = load(name)
    question, text = model.pieces(["Where does Alice live?", "Alice lives in Porto."])
    ids = [CLS, *question.ids, SEP, *text.ids, SEP]
    tokens = model.encode(ids, len(question.ids) + 2)
    assert tokens.shape == (len(ids), 384)
    assert np.isfinite(tokens).all()
    assert not np.allclose(tokens[-2], model.encode([CLS, *text.ids, SEP], 1)[-2], atol=0.05)
    assert load(name) is model


@installed
def test_pieces_know_where_they_stand():
    [pieces] = load("reranker").pieces(["Café in Zürich"])
    assert pieces.offsets[0][0] == 0
    assert pieces.offsets[-1][1] == len("Café in Zürich")
