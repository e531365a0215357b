"""karat sweep: the configurations to compare, from a matrix or from a suite."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError
from karat.experiments.matrix import Matrix
from karat.experiments.matrix_file import read_matrix, read_service_matrix
from karat.experiments.plan import request_depth
from karat.experiments.suites import BUNDLED, suite, suites
from karat.experiments.workers import Configuration
from karat.model import Dataset
from karat.scoring.settings import Scoring

__all__ = [
    "Matrix",
    "Sweep",
    "list_suites",
    "matrix_sweep",
    "read_matrix",
    "read_service_matrix",
    "suite_sweep",
]

FIRST_SUITE = "quick_test"


class Sweep(NamedTuple):
    """The configurations of a sweep, its name, and the measures that a matrix asks for."""

    name: str
    configurations: tuple[Configuration, ...]
    measures: tuple[str, ...] = ()


def matrix_sweep(matrix: Matrix, path: str) -> Sweep:
    """Return all combinations of *matrix*, which was read from *path*."""
    return Sweep(Path(path).stem, matrix.configurations(), matrix.measures())


def suite_sweep(
    name: str | None,
    path: str | None,
    *,
    k: int | None,
    scoring: Scoring,
    gold: Dataset,
    single: bool = False,
) -> Sweep:
    """Return the suite *name* of the file *path*, or of the built-in suites.

    Without a name it is the first one if only a *single* configuration is wanted; otherwise
    InputError lists the names.
    """
    source = path or BUNDLED
    if name is None:
        known = suites(source)
        if not single:
            raise InputError(f"expected --matrix FILE, or --suite with one of: {', '.join(known)}")
        name = FIRST_SUITE if path is None else next(iter(known))
    return Sweep(name, suite(name, source, k=request_depth(k, scoring, gold)))


def list_suites(path: str | os.PathLike[str] | None = None) -> Mapping[str, list[str]]:
    """Return the names of the configurations of each suite."""
    return {
        name: [config.name for config in configs]
        for name, configs in suites(path or BUNDLED).items()
    }
