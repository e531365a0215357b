"""The weights of a small BERT-like encoder, whatever file they came in."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Encoder", "Layer", "Linear", "Norm", "WordTable", "quantised"]

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
    """A product with bytes [inputs, outputs], one scale an output, plus a bias.

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


def quantised(weights: Floats, bias: Floats, apart: tuple[int, ...] = ()) -> Linear:
    """Return *weights* [outputs, inputs] as bytes with one scale an output.

    An input that is sometimes a hundred times as large as all others belongs *apart*: bytes with
    one scale for all inputs would leave nothing of the others.

    >>> quantised(np.array([[1.0, -0.5]], np.float32), np.zeros(1, np.float32)).codes.tolist()
    [[127], [-64]]
    """
    exact = np.ascontiguousarray(weights[:, list(apart)].T) if apart else None
    weights = weights.copy()
    weights[:, list(apart)] = 0
    scales = np.abs(weights).max(axis=1) / 127
    scales = np.where(scales > 0, scales, 1).astype(np.float32)
    codes = np.rint(weights / scales[:, None]).astype(np.int8)
    return Linear(np.ascontiguousarray(codes.T), scales, bias, apart, exact)
