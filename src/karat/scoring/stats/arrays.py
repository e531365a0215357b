"""Input arrays of the statistics: float columns, one row per query, NaN for not scored."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.errors import InputError

__all__ = [
    "FloatArray",
    "IntArray",
    "as_columns",
    "cluster_codes",
    "cluster_sums",
    "drop_missing",
    "paired_differences",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Scores that agree in twelve digits differ only by rounding.
TIE = 1e-12


def as_columns(values: ArrayLike) -> FloatArray:
    """Return *values* as ``[query, column]``; a flat list is one column.

    Raise InputError for other shapes and for infinite numbers.

    >>> as_columns([0.5, 1.0]).shape
    (2, 1)
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InputError(f"scores have {array.ndim} axes; expected [query] or [query, column]")
    if np.isinf(array).any():
        raise InputError("scores contain an infinite number; expected finite numbers, or NaN")
    return array


def drop_missing(values: ArrayLike) -> FloatArray:
    """Return the numbers of one column that are not NaN.

    >>> drop_missing([0.5, float("nan")]).tolist()
    [0.5]
    """
    column = as_columns(values)
    if column.shape[1] != 1:
        raise InputError(f"got {column.shape[1]} columns of scores; expected one")
    flat = column[:, 0]
    return flat[~np.isnan(flat)]


def paired_differences(system: FloatArray, baseline: FloatArray) -> FloatArray:
    """Return system - baseline; 0 if they agree to twelve digits, NaN if either is missing.

    >>> paired_differences(np.array([0.1 + 0.2, 1.0]), np.array([0.3, 0.5])).tolist()
    [0.0, 0.5]
    """
    difference = system - baseline
    noise = TIE * np.maximum(np.abs(system), np.abs(baseline))
    return np.where(np.abs(difference) <= noise, 0.0, difference)


def cluster_codes(clusters: ArrayLike, queries: int) -> IntArray:
    """Return the cluster of each query as numbers from 0, without gaps.

    >>> cluster_codes(["flask", "click", "flask"], 3).tolist()
    [1, 0, 1]
    """
    labels = np.asarray(clusters)
    if labels.shape != (queries,):
        raise InputError(f"clusters have shape {labels.shape}; expected one per query, {queries}")
    _, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64)


def cluster_sums(columns: FloatArray, codes: IntArray) -> FloatArray:
    """Return ``[cluster, column]``: the sum of each column over the queries of each cluster.

    Added one by one and not as a matrix product, whose last digit may depend on the threads.

    >>> cluster_sums(np.array([[1.0], [2.0], [4.0]]), np.array([1, 0, 1])).tolist()
    [[2.0], [5.0]]
    """
    clusters = int(codes.max(initial=-1)) + 1
    sums = np.zeros((clusters, columns.shape[1]))
    np.add.at(sums, codes, columns)
    return sums
