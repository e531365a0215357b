from dataclasses import replace
from datetime import UTC, datetime

import pytest

from karat.experiments.store import Experiment, ExperimentKind, RunStatus, StoredRun
from karat.testing.store import PLAN

MOMENT = datetime(2025, 1, 2, tzinfo=UTC)


def experiment(*statuses: RunStatus) -> Experiment:
    runs = tuple(
        StoredRun(
            label="bm25",
            engine=PLAN.runs[0].engine,
            id="x.1",
            status=status,
            error="",
            answers=0,
            begun=None,
            ended=None,
        )
        for status in statuses
    )
    return Experiment("x", "x", ExperimentKind.SWEEP, "", 1, {}, 0, "", {}, MOMENT, runs)


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ("completed completed", "completed"),
        ("completed failed", "failed"),
        ("cancelled completed", "cancelled"),
        ("cancelled failed", "failed"),
        ("failed pending", "pending"),
        ("pending indexing failed", "running"),
        ("evaluating completed", "running"),
    ],
)
def test_an_experiment_stands_where_its_runs_stand(statuses: str, expected: str) -> None:
    assert experiment(*map(RunStatus, statuses.split())).status == expected


def test_an_id_is_the_same_everywhere() -> None:
    assert PLAN.id == "bnsz754eeb"
    assert replace(PLAN).id == PLAN.id
    assert replace(PLAN, config={"depth": 100, "command": ["karat", "compare"]}).id == PLAN.id
