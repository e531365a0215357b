"""The law of losses: why targets were lost is kept for each run."""

# A suite of tests asserts, wherever it is kept.

from dataclasses import replace

import pytest

from karat.errors import KaratError
from karat.extensions.service.store import Benchmark, ServiceStore
from karat.extensions.service.store.datasets import LossRecord
from karat.scoring.loss_reasons import LossReason
from karat.testing.store import PLAN
from tests.extensions.service.store.conftest import GOLD


def test_it_comes_back_and_is_replaced(service: ServiceStore) -> None:
    """As a whole, with the reason of each."""
    run = f"{service.results.experiment(replace(PLAN, dataset=GOLD))}.1"
    assert service.losses.of(run) == []
    lost = [
        LossRecord("q1", "auth.py", 3, 9, "", LossReason.FUSION),
        LossRecord("q1", "süß.py", 0, 0, "login", LossReason.NO_CHUNK),
    ]
    service.losses.keep(run, lost)
    assert service.losses.of(run) == lost
    assert service.losses.of(run)[0].reason is LossReason.FUSION
    service.losses.keep(run, [])
    assert service.losses.of(run) == []


def test_it_goes_with_its_run(service: ServiceStore, benchmark: Benchmark) -> None:
    """And is kept for no run that is gone."""
    experiment = service.results.experiment(replace(PLAN, dataset=GOLD))
    service.benchmarks.attach(benchmark.id, experiment)
    service.losses.keep(f"{experiment}.1", [LossRecord("q1", "a", 0, 0, "", LossReason.THRESHOLD)])
    service.benchmarks.delete(benchmark.id)
    assert service.losses.of(f"{experiment}.1") == []
    with pytest.raises(KaratError, match="the database failed"):
        service.losses.keep(f"{experiment}.1", [])
