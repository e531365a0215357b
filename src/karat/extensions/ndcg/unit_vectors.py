"""Embeddings as unit vectors in single precision."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.errors import InputError


def unit_vector(embedding: ArrayLike, where: str) -> NDArray[np.float32]:
    """Return *embedding* scaled to length 1, as cosine similarity needs it.

    >>> unit_vector([3.0, 4.0], "the query").tolist()
    [0.6000000238418579, 0.800000011920929]
    >>> unit_vector([0.0, 0.0], "the query")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: the query: the embedding is all zeros, which has no direction
    """
    try:
        numbers = np.asarray(embedding)
        if numbers.dtype.kind not in "fiu":
            raise TypeError
        row = numbers.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{where}: the embedding is not a list of numbers") from None
    if row.ndim != 1 or not row.size:
        raise InputError(
            f"{where}: the embedding has shape {row.shape}; expected one row of numbers"
        )
    if not np.isfinite(row).all():
        index = int(np.flatnonzero(~np.isfinite(row))[0])
        raise InputError(
            f"{where}: component {index} of the embedding is {row[index]}; expected finite numbers"
        )
    largest = np.abs(row).max()
    if not largest:
        raise InputError(f"{where}: the embedding is all zeros, which has no direction")
    # Scaled by the largest first: squares of 1e300 would overflow, those of 1e-300 vanish.
    row = row / largest
    unit: NDArray[np.float32] = (row / np.linalg.norm(row)).astype(np.float32)
    return unit


def unit_rows(keys: Sequence[str], embeddings: Sequence[ArrayLike]) -> NDArray[np.float32]:
    """Return the embeddings of *keys* as unit rows; raise InputError unless all are as long."""
    try:
        numbers = np.array(embeddings)
    except (ValueError, OverflowError):
        numbers = np.empty(0)
    if numbers.ndim == 2 and numbers.size and numbers.dtype.kind in "fiu":
        rows = numbers.astype(np.float64)
        largest = np.abs(rows).max(axis=1, keepdims=True)
        # NaN fails both comparisons.
        if ((largest > 0) & (largest < np.inf)).all():
            rows /= largest
            unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(
                np.float32
            )
            return unit
    raise InputError(first_problem(keys, embeddings))


def first_problem(keys: Sequence[str], embeddings: Sequence[ArrayLike]) -> str:
    """Return the problem of the first embedding that does not fit the others."""
    expected = 0
    for key, embedding in zip(keys, embeddings, strict=True):
        try:
            dimensions = len(unit_vector(embedding, f"item {key!r}"))
        except InputError as error:
            return str(error)
        expected = expected or dimensions
        if dimensions != expected:
            return (
                f"item {key!r}: the embedding has {dimensions} dimensions; "
                f"expected {expected}, as in item {keys[0]!r}"
            )
    return "the embeddings cannot be combined; expected numbers of one type"
