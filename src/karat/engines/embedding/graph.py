"""An encoder as an ONNX graph that runs on the integer units of a plain processor."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from karat.engines.embedding.encoder import Encoder, Layer, Linear, Norm
from karat.errors import MissingExtra

if TYPE_CHECKING:
    from onnx import GraphProto

__all__ = ["GRAPH_VERSION", "encoder_graph"]

# Raise it when the same weights give other vectors: it is part of an embedder's digest.
GRAPH_VERSION = 1

# Operators that ONNX Runtime adds to the standard ones.
RUNTIME = "com.microsoft"


def encoder_graph(encoder: Encoder) -> bytes:
    """Return a model from ``input_ids`` [batch, length] to ``tokens`` [batch, length, dimension].

    It knows no mask, so the texts of a batch must have one length. Activations become bytes with
    one scale for the whole batch: a text that runs alone gets the vector it always gets.
    """
    try:
        from onnx import TensorProto, helper
    except ImportError:
        raise MissingExtra("onnx", extra="dense", purpose="dense or hybrid search") from None
    graph = _Graph()
    tokens = graph.tokens(encoder)
    made: GraphProto = helper.make_graph(
        graph.nodes,
        "encoder",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])],
        [helper.make_tensor_value_info(tokens, TensorProto.FLOAT, ["batch", "length", "width"])],
        graph.constants,
    )
    operators = [helper.make_opsetid("", 20), helper.make_opsetid(RUNTIME, 1)]
    content: bytes = helper.make_model(
        made, opset_imports=operators, ir_version=9
    ).SerializeToString()
    return content


class _Graph:
    """Nodes and constants in the making; each method returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def tokens(self, encoder: Encoder) -> str:
        state = self.norm(self.embedded(encoder), encoder.norm, encoder.epsilon)
        for layer in encoder.layers:
            state = self.layer(state, layer, heads=encoder.heads, epsilon=encoder.epsilon)
        return self.add("Identity", state, out="tokens")

    def embedded(self, encoder: Encoder) -> str:
        from onnx import TensorProto

        # Rows are picked first and scaled afterwards, so that the table stays in bytes.
        codes = self.add("Gather", self.constant(encoder.words.codes), "input_ids")
        scales = self.add("Gather", self.constant(encoder.words.scales[..., None]), "input_ids")
        grouped = self.add("Mul", self.add("Cast", codes, to=TensorProto.FLOAT), scales)
        width = np.array([0, 0, encoder.positions.shape[1]])
        words = self.add("Reshape", grouped, self.constant(width))
        length = self.add("Shape", "input_ids", start=1, end=2)
        start = self.constant(np.array([0]))
        positions = self.add("Slice", self.constant(encoder.positions), start, length)
        return self.add("Add", words, positions)

    def layer(self, state: str, layer: Layer, *, heads: int, epsilon: float) -> str:
        together = self.linear(state, layer.attend_in)
        parts = [f"{together}.{part}" for part in ("query", "key", "value")]
        self.node("Split", [together], parts, axis=-1, num_outputs=3)
        attended = self.add("MultiHeadAttention", *parts, domain=RUNTIME, num_heads=heads)
        # Two plain nodes: the fused SkipLayerNormalization takes five times as long.
        added = self.add("Add", self.linear(attended, layer.attend_out), state)
        middle = self.norm(added, layer.attend_norm, epsilon)
        wide = self.add("Gelu", self.linear(middle, layer.wide))
        return self.norm(
            self.add("Add", self.linear(wide, layer.narrow), middle), layer.norm, epsilon
        )

    def linear(self, state: str, linear: Linear) -> str:
        if linear.exact is None:
            return self.product(state, linear)
        picked = self.add("Gather", state, self.constant(np.array(linear.apart)), axis=2)
        exact = self.add("MatMul", picked, self.constant(linear.exact))
        others = np.ones(len(linear.codes), np.float32)
        others[list(linear.apart)] = 0
        rest = self.product(self.add("Mul", state, self.constant(others)), linear)
        return self.add("Add", rest, exact)

    def product(self, state: str, linear: Linear) -> str:
        return self.add(
            "DynamicQuantizeMatMul",
            state,
            self.constant(linear.codes),
            self.constant(linear.scales),
            self.constant(np.zeros(len(linear.scales), np.int8)),
            self.constant(linear.bias),
            domain=RUNTIME,
        )

    def norm(self, state: str, norm: Norm, epsilon: float) -> str:
        gain, bias = self.constant(norm.gain), self.constant(norm.bias)
        return self.add("LayerNormalization", state, gain, bias, axis=-1, epsilon=epsilon)

    def constant(self, values: NDArray[Any]) -> str:
        from onnx import numpy_helper

        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, operator: str, *inputs: str, out: str = "", **attributes: Any) -> str:
        name = out or f"{operator}{len(self.nodes)}"
        self.node(operator, list(inputs), [name], **attributes)
        return name

    def node(self, operator: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        from onnx import helper

        self.nodes.append(helper.make_node(operator, inputs, outputs, **attributes))
