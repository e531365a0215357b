"""Every writable format gives back what it was given, within what it says it can express."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat.formats import FORMATS
from karat.formats.base import losses
from karat.model import Answer, Hit, Run
from tests.formats.roundtrip import again, check_dataset_survives, check_losses, datasets, runs

WRITABLE = [name for name in FORMATS.core() if FORMATS.get(name).write]
# Quepid has no ids of queries; test_table.py has its round trip.
DATASETS = [name for name in WRITABLE if FORMATS.get(name).kind == "dataset" and name != "quepid"]
RUNS = [name for name in WRITABLE if FORMATS.get(name).kind == "run"]


@pytest.mark.parametrize("name", DATASETS)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_dataset_survives(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    check_dataset_survives(data.draw(datasets(name)), name, tmp_path_factory.mktemp("trip"))


@pytest.mark.parametrize("name", RUNS)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_run_survives(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    before = data.draw(runs(name))
    assert losses(before, FORMATS.get(name)) == ()
    after = again(before, name, tmp_path_factory.mktemp("trip"))
    assert isinstance(after, Run)
    assert list(after.answers()) == list(before.answers())
    if name in {"karat-run", "trec-run"}:
        assert after.name == before.name
    if "metadata" in FORMATS.get(name).keeps:
        assert after.metadata == before.metadata


@pytest.mark.parametrize("name", DATASETS)
def test_what_is_lost_is_named_and_what_is_left_can_be_read(name: str, tmp_path: Path) -> None:
    check_losses(name, tmp_path)


def test_a_run_of_chunks_becomes_a_ranking_of_files(tmp_path: Path) -> None:
    hits = (Hit("a.py", 0.1, 1, 5), Hit("a.py", 0.7, 9, 9), Hit("b.py", 0.9, 1, 2))
    run = Run.of([Answer("q", hits), Answer("empty")], name="my run")
    assert losses(run, FORMATS.get("trec-run")) == (
        "queries without targets, or answers without hits",
        "line ranges",
        "scores that do not descend from hit to hit",
        "further hits of a file already returned",
    )
    after = again(run, "trec-run", tmp_path)
    assert isinstance(after, Run)
    assert [hit.path for hit in after.answer(0).hits] == ["a.py", "b.py"]
    assert after.name == "my_run"
