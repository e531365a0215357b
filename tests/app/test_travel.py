"""The parts of an experiment can be sent to another machine, defaults included."""

import copy
import pickle

import pytest

from karat.app.resolve import resolve
from karat.corpus import from_texts
from karat.experiments.snapshots import Repository
from karat.experiments.target_check import Where
from karat.experiments.workers import Configuration, RunEvent, RunSettings, SnapshotQueries
from karat.experiments.workers.sources import Source
from karat.model import Dataset, Query, Target
from karat.model.spec import Spec

GOLD = Dataset.of([Query("1", "log in", (Target("auth.py"), Target("gone.py")))])
BM25 = Spec("engine", "bm25", {"k1": 1.2})


@pytest.mark.parametrize(
    "original",
    [
        RunEvent("started", "bm25"),
        Configuration("bm25", BM25),
        SnapshotQueries(Source.of_texts({"auth.py": "login"}), (0,)),
        RunSettings(),
        Where(),
        Repository("", "flask"),
        resolve(GOLD, from_texts({"auth.py": "login"})),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_part_of_an_experiment_equals_its_copies(original: object) -> None:
    assert pickle.loads(pickle.dumps(original)) == original  # noqa: S301 - our own bytes
    assert copy.deepcopy(original) == original
