"""karat sweep: the configurations to compare, from a matrix or from a suite."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from karat.engines.engine_file import check_engine_file, write_engine
from karat.errors import InputError
from karat.experiments.matrix import Matrix
from karat.experiments.matrix_file import read_matrix, read_service_matrix
from karat.experiments.plan import DEPTH, has_threshold, request_depth
from karat.experiments.suites import BUNDLED, suite, suites
from karat.experiments.workers import Configuration
from karat.model import Dataset
from karat.model.spec import Spec
from karat.report.findings.cheapest import RECOMMENDED
from karat.report.findings.contenders import Advice
from karat.scoring.settings import Scoring

__all__ = [
    "Matrix",
    "Sweep",
    "check_engine_file",
    "list_suites",
    "matrix_sweep",
    "read_matrix",
    "read_service_matrix",
    "recommended_configuration",
    "suite_sweep",
    "write_configuration",
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


def recommended_configuration(
    configurations: Sequence[Configuration], advice: Sequence[Advice]
) -> Configuration | None:
    """Return the recommended configuration, or a single one; None where none is recommended."""
    if len(configurations) == 1:
        return configurations[0]
    names = [each.run for each in advice if each.purpose == RECOMMENDED]
    return next((one for one in configurations if one.name in names), None)


def write_configuration(configuration: Configuration, path: str) -> str:
    """Write the engine of *configuration* to *path*, and return the options that use it."""
    spec = configuration.spec
    if configuration.threshold:
        if not has_threshold(spec):
            raise InputError(
                f"{path}: {configuration.name} drops hits below a threshold, which an engine file "
                f"cannot hold for the engine {spec.name}; write it without score_thresholds"
            )
        spec = Spec(spec.kind, spec.name, {**spec.params, "threshold": configuration.threshold})
    depth = "" if configuration.k == DEPTH else f" -k {configuration.k}"
    options = f"-e {quote(path)}{depth}"
    write_engine(spec, path, comment=f"{configuration.name}, recommended by karat sweep: {options}")
    return options


def list_suites(path: str | os.PathLike[str] | None = None) -> Mapping[str, list[str]]:
    """Return the names of the configurations of each suite."""
    return {
        name: [config.name for config in configs]
        for name, configs in suites(path or BUNDLED).items()
    }
