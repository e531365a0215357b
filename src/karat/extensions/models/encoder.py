"""The weights of a small BERT-like encoder, independent of their file format."""

from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError, MissingExtra
from karat.installation import install_hint

if TYPE_CHECKING:
    from onnx import GraphProto


Floats = NDArray[np.float32]
Bytes = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class WordTable:
    """Token vectors as bytes: *codes* [token, group, width] times *scales* [token, group]."""

    codes: Bytes
    scales: Floats

    def rows(self) -> Floats:
        """Return the vectors themselves, [token, dimension]."""
        scaled: Floats = self.codes * self.scales[..., None]
        return scaled.reshape(len(scaled), -1)


@dataclass(frozen=True, slots=True)
class Linear:
    """A product with bytes [inputs, outputs], one scale per output, plus a bias.

    The inputs *apart* are multiplied as floats with *exact* [apart, outputs]; their codes are 0.
    """

    codes: Bytes
    scales: Floats
    bias: Floats
    apart: tuple[int, ...] = ()
    exact: Floats | None = None


@dataclass(frozen=True, slots=True)
class Norm:
    """Gain and bias of a layer normalisation."""

    gain: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Layer:
    """One transformer layer, normalised after each half; *attend_in* makes query, key and value."""

    attend_in: Linear
    attend_out: Linear
    attend_norm: Norm
    wide: Linear
    narrow: Linear
    norm: Norm


@dataclass(frozen=True, slots=True)
class Encoder:
    """An encoder; *positions* begin at the first token and include the type of all tokens."""

    words: WordTable
    positions: Floats
    norm: Norm
    layers: tuple[Layer, ...]
    heads: int
    epsilon: float


def quantise(weights: Floats, bias: Floats, apart: tuple[int, ...] = ()) -> Linear:
    """Return *weights* [outputs, inputs] as bytes with one scale per output.

    An input that is sometimes a hundred times as large as all others belongs *apart*: with one
    scale for all inputs, the others would round to 0.

    >>> quantise(np.array([[1.0, -0.5]], np.float32), np.zeros(1, np.float32)).codes.tolist()
    [[127], [-64]]
    """
    exact = np.ascontiguousarray(weights[:, list(apart)].T) if apart else None
    weights = weights.copy()
    weights[:, list(apart)] = 0
    scales = np.abs(weights).max(axis=1) / 127
    scales = np.where(scales > 0, scales, 1).astype(np.float32)
    codes = np.rint(weights / scales[:, None]).astype(np.int8)
    return Linear(np.ascontiguousarray(codes.T), scales, bias, apart, exact)


# Raise it when the same weights give other vectors: it is part of an embedder's digest.
GRAPH_VERSION = 1

# Operators that ONNX Runtime adds to the standard ones.
RUNTIME = "com.microsoft"


def encoder_graph(encoder: Encoder) -> bytes:
    """Return a model from ``input_ids`` [batch, length] to ``tokens`` [batch, length, dimension].

    It has no attention mask, so the texts of a batch must have one length. Activations become bytes
    with one scale for the whole batch: a text that runs alone gets the vector it always gets.
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


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A file of a data package, and the SHA-256 that it must have.

    *package* is the name that pip knows, *module* the folder that it installs.
    """

    package: str
    module: str
    path: str
    sha256: str

    def read(self) -> bytes:
        """Return the file's bytes; raise MissingExtra where it is not installed.

        The package is found but never imported, so that none of its code runs.
        """
        spec = find_spec(self.module)
        if spec is None or not spec.submodule_search_locations:
            raise MissingExtra(self.package, extra="dense", purpose="dense or hybrid search")
        file = Path(next(iter(spec.submodule_search_locations)), self.path)
        if not file.is_file():
            raise InputError(
                f"{file}: no such file; the installed {self.package} is not the expected one: "
                + install_hint("dense")
            )
        return check_digest(file.read_bytes(), self.sha256, str(file))


def check_digest(content: bytes, expected: str, where: str) -> bytes:
    """Return *content*, or raise InputError unless its SHA-256 is the expected one."""
    digest = sha256(content).hexdigest()
    if digest != expected:
        raise InputError(
            f"{where}: the weights are damaged or replaced: SHA-256 is {digest}; "
            f"expected {expected}"
        )
    return content
