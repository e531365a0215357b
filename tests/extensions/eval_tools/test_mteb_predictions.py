"""Predictions of MTEB are runs."""

import pytest

from karat.errors import FormatError
from karat.formats import read_run
from tests.command_line import Karat
from tests.extensions.eval_tools.conftest import Write

ABOUT = {"model_name": "org/a", "revision": "r"}
RANKINGS = {"q1": {"d1": 0.25, "d2": 0.75}, "q2": {"d3": 1.0}}


def test_a_run_is_scored_by_query(karat: Karat, write: Write) -> None:
    path = write("T_predictions.json", {"mteb_model_meta": ABOUT, "default": {"test": RANKINGS}})
    run = read_run(path)
    assert run.name == "org/a"
    assert [hit.path for hit in run.answer(0).hits] == ["d2", "d1"]
    qrels = write("gold.qrels", "q1 0 d1 1\nq2 0 d3 1\n")
    done = karat("score", str(qrels), str(path), "-m", "rr")
    # The first relevant hits have the ranks 2 and 1.
    assert "0.750" in done.stdout


def test_a_model_that_is_named_at_the_end_or_not_at_all(write: Write) -> None:
    rankings = {"q": {f"d{number}": float(-number) for number in range(10_000)}}
    predictions = {"default": {"test": rankings}}
    for more, name in (({"mteb_model_meta": ABOUT}, "org/a"), ({}, "T")):
        run = read_run(write("T_predictions.json", predictions | more))
        assert run.name == name
        assert run.answer(0).hits[0].path == "d0"


def test_several_subsets_and_splits(write: Write) -> None:
    two = {"mteb_model_meta": {}, "en": {"test": RANKINGS}, "de": {"dev": {}, "test": RANKINGS}}
    assert read_run(write("T_predictions.json", two)).query_ids == (
        "en/q1",
        "en/q2",
        "de/q1",
        "de/q2",
    )
    unclear = {"mteb_model_meta": {}, "default": {"a": RANKINGS, "b": RANKINGS}}
    with pytest.raises(FormatError, match="several splits: a, b; expected one, or one called test"):
        read_run(write("T_predictions.json", unclear))
    with pytest.raises(FormatError, match="no ranking; expected"):
        read_run(write("T_predictions.json", {"mteb_model_meta": {}}))
