"""Open the embedder that the settings name, or the one whose vectors a store holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longmind.errors import InvalidSetting, ModelMissing

if TYPE_CHECKING:
    from longmind.models.embed import Embedder

CHOICES = 'Choose "static", "minilm", "minilm-int8" or the address of a server, "https://host/v1#model".'

_RECORDED = {
    "static/longmind-1-256": "static",
    "static/wordllama-l2-supercat-256": "static-plain",
    "minilm/all-MiniLM-L6-v2": "minilm",
    "minilm-int8/all-MiniLM-L6-v2": "minilm-int8",
}


def open_embedder(spec: str, *, api_key: str | None = None) -> Embedder:
    """Open the embedder that ``spec`` names. Its first use loads it; a missing package is reported here."""
    match spec:
        case "static" | "static-plain":
            from longmind.models.embed_static import StaticEmbedder

            return StaticEmbedder(trained=spec == "static")
        case "minilm" | "minilm-int8":
            from longmind.models.embed_minilm import MiniLmEmbedder

            return MiniLmEmbedder(int8=spec == "minilm-int8")
    if not spec.startswith(("http://", "https://")):
        raise InvalidSetting(f"There is no embedder {spec[:80]!r}.", hint=CHOICES)
    address, _, model = spec.partition("#")
    if not model.strip():
        raise InvalidSetting(
            "The address of an embedding server does not say which model.",
            hint='Add the model after a #, as in "https://host/v1#model".',
        )
    from longmind.models.embed_http import HttpEmbedder

    return HttpEmbedder(address, model, api_key=api_key)


def embedder_for(space_name: str) -> str:
    """Return the spec for ``open_embedder`` of a vector space by its name, so that a store keeps its model."""
    if space_name in _RECORDED:
        return _RECORDED[space_name]
    kind, _, model = space_name.partition("/")
    if kind == "http" and model:
        raise ModelMissing(
            f"The store's vectors come from the model {model!r} behind a server whose address is not recorded.",
            hint=f'Give the address of a server that has it, as "https://host/v1#{model}".',
            space=space_name,
        )
    raise ModelMissing(
        f"The store's vectors come from {space_name!r}, which this version does not know.",
        hint=f"Embed the store anew with another model. {CHOICES}",
        space=space_name,
    )
