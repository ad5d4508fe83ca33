"""all-MiniLM-L6-v2 as an ONNX graph, built by hand from its weights, so that no torch is needed to export it.

BERT with 6 layers, 384 wide, 12 heads: token ids and mask in, unit vectors out (mean over the tokens, then L2).
Attention is ONNX Runtime's own fused operator; the rest are standard operators that it fuses by itself.

The models that are trained from it read one pair of texts at a time. They get word vectors, which they share, and
segments, and return a vector for each token (``build_encoder``).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Weights = Mapping[str, NDArray[Any]]

REVISION = 1
"""Increased whenever the graph changes, so that an older cached file is not used."""
LAYERS, HEADS, WIDTH = 6, 12, 384
WINDOW = 256
"""The most tokens a text may have: what the model was trained with."""
_OPSET, _IR = 20, 9
_EPSILON = 1e-12


class _Graph:
    """Collects nodes and constants; each method returns the name of its result, so that calls read like a formula."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def constant(self, name: str, value: NDArray[Any]) -> str:
        import numpy as np
        from onnx import numpy_helper

        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def axis(self, number: int) -> str:
        import numpy as np

        return self.constant(f"axis:{number}", np.array([number], dtype=np.int64))

    def node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def norm(self, value: str, layer: str) -> str:
        scale = self.constant(f"{layer}.weight", self.weights[f"{layer}.weight"])
        shift = self.constant(f"{layer}.bias", self.weights[f"{layer}.bias"])
        return self.node("LayerNormalization", [value, scale, shift], f"{layer}:out", axis=-1, epsilon=_EPSILON)

    def dense(self, value: str, layer: str) -> str:
        matrix = self.constant(f"{layer}.weight", self.weights[f"{layer}.weight"].T)
        shift = self.constant(f"{layer}.bias", self.weights[f"{layer}.bias"])
        product = self.node("MatMul", [value, matrix], f"{layer}:product")
        return self.node("Add", [product, shift], f"{layer}:out")

    def embeddings(self, *, segments: bool = False) -> str:
        """Word vectors plus positions; where there is only one segment, its vector is added to the positions here."""
        table = self.weights["embeddings.token_type_embeddings.weight"]
        positions = self.weights["embeddings.position_embeddings.weight"][:WINDOW]
        places = self.constant("places", positions if segments else positions + table[0])
        length = self.node("Shape", ["segments" if segments else "ids"], "length", start=1, end=2)
        used = self.node("Slice", [places, self.axis(0), length, self.axis(0)], "places:used")
        vectors = "vectors"
        if not segments:
            words = self.constant("words", self.weights["embeddings.word_embeddings.weight"])
            vectors = self.node("Gather", [words, "ids"], "words:out")
        total = self.node("Add", [vectors, used], "embeddings:sum")
        if segments:
            part = self.node("Gather", [self.constant("segment:table", table), "segments"], "segments:out")
            total = self.node("Add", [total, part], "embeddings:with-segments")
        return self.norm(total, "embeddings.LayerNorm")

    def attention(self, value: str, layer: str, *, masked: bool) -> str:
        """Every token attends to all of them."""
        import numpy as np

        parts = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        matrix = np.concatenate([self.weights[f"{part}.weight"].T for part in parts], axis=1)
        shift = np.concatenate([self.weights[f"{part}.bias"] for part in parts])
        inputs = [value, self.constant(f"{layer}:qkv", matrix), self.constant(f"{layer}:qkv-bias", shift)]
        if masked:
            inputs.append("mask")
        return self.node("Attention", inputs, f"{layer}:attention", domain="com.microsoft", num_heads=HEADS)

    def layer(self, value: str, layer: str, *, masked: bool) -> str:
        attended = self.dense(self.attention(value, layer, masked=masked), f"{layer}.attention.output.dense")
        first = self.node("Add", [attended, value], f"{layer}:first")
        first = self.norm(first, f"{layer}.attention.output.LayerNorm")
        wide = self.node("Gelu", [self.dense(first, f"{layer}.intermediate.dense")], f"{layer}:gelu")
        second = self.node("Add", [self.dense(wide, f"{layer}.output.dense"), first], f"{layer}:second")
        return self.norm(second, f"{layer}.output.LayerNorm")

    def pooled(self, value: str) -> None:
        """Add the sum over real tokens, scaled to unit length: it has the same direction as their mean."""
        from onnx import TensorProto

        real = self.node("Cast", ["mask"], "mask:float", to=TensorProto.FLOAT)
        real = self.node("Unsqueeze", [real, self.axis(-1)], "mask:column")
        kept = self.node("Mul", [value, real], "tokens:real")
        total = self.node("ReduceSum", [kept, self.axis(1)], "tokens:sum", keepdims=0)
        self.node("LpNormalization", [total], "vectors", axis=-1, p=2)


def build(weights: Weights) -> Any:
    """Build the embedder from the published weights."""
    graph = _Graph(weights)
    graph.pooled(_encoded(graph, LAYERS, segments=False))
    return _model(graph, "all-MiniLM-L6-v2", "vectors", ["texts", WIDTH], segments=False)


def build_encoder(weights: Weights, layers: int) -> Any:
    """Build an encoder of two segments: word vectors and segments of one text in, a vector for each token out."""
    graph = _Graph(weights)
    graph.node("Identity", [_encoded(graph, layers, segments=True)], "tokens")
    return _model(graph, "encoder", "tokens", [1, "tokens", WIDTH], segments=True)


def _encoded(graph: _Graph, layers: int, *, segments: bool) -> str:
    value = graph.embeddings(segments=segments)
    for number in range(layers):
        value = graph.layer(value, f"encoder.layer.{number}", masked=not segments)
    return value


def _model(graph: _Graph, name: str, output: str, shape: list[str | int], *, segments: bool) -> Any:
    import onnx
    from onnx import TensorProto, helper

    if segments:
        inputs = [
            helper.make_tensor_value_info("vectors", TensorProto.FLOAT, [1, "tokens", WIDTH]),
            helper.make_tensor_value_info("segments", TensorProto.INT64, [1, "tokens"]),
        ]
    else:
        tokens = ["texts", "tokens"]
        inputs = [
            helper.make_tensor_value_info("ids", TensorProto.INT64, tokens),
            helper.make_tensor_value_info("mask", TensorProto.INT32, tokens),
        ]
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            name,
            inputs,
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
            list(graph.constants.values()),
        ),
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid("com.microsoft", 1)],
        ir_version=_IR,
        producer_name="longmind",
    )
    onnx.checker.check_model(model)
    return model


def quantise(model: Any, path: Path) -> None:
    """Write the model with 8-bit weights.

    Per channel, because one scale per matrix changes which texts are nearest. In seven of the eight bits, because
    processors without VNNI instructions add pairs of products in 16 bits, which eight bits would overflow.
    """
    from onnx import TensorProto
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.quant_utils import add_pre_process_metadata

    add_pre_process_metadata(model)  # there is nothing to prepare in this graph; without it, advice goes to stderr
    quantize_dynamic(
        model,
        path,
        op_types_to_quantize=["Gather", "MatMul", "Attention"],
        per_channel=True,
        reduce_range=True,
        weight_type=QuantType.QInt8,
        extra_options={"DefaultTensorType": TensorProto.FLOAT},
    )
