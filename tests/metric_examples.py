"""Metrics whose average over queries is not a mean, for tests of the core, which has only one."""

from math import inf

import pytest

from karat.model import JudgedQuery
from karat.scoring.metrics import Metric
from tests.extension_kit import install_objects


def found(judged: JudgedQuery) -> float:
    """Return the number of relevant hits."""
    return float(len(judged.relevant()))


FOUND = Metric(
    "found", found, "Number of relevant hits.", "summed", cut="none", high=inf, average="sum"
)
GEOMETRIC = Metric(
    "geometric", found, "Geometric mean.", "of relevant hits", cut="none", average="geometric"
)


@pytest.fixture
def other_averages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the metrics ``found``, a sum, and ``geometric``."""
    metrics = {
        "found": "tests.metric_examples:FOUND",
        "geometric": "tests.metric_examples:GEOMETRIC",
    }
    install_objects(monkeypatch, "metric", metrics)
