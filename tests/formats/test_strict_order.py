"""A file of an engine's run scores like the run, whatever rule its reader has for equal scores."""

from array import array
from itertools import pairwise
from math import inf, nan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.formats import write
from karat.formats.base import in_strict_order
from karat.formats.load import read_run
from karat.model import Answer, Hit, Run

LIVE = {"ties": "order", "k": 10}
# Equal scores, and scores that only float32 takes for equal.
SCORES = st.lists(
    st.sampled_from([3.0, 1.0 + 1e-12, 1.0, 0.0, -1e-50, -2.0, 1e30]), min_size=1, max_size=8
).map(lambda scores: sorted(scores, reverse=True))


def live(*scores: float) -> Run:
    hits = tuple(Hit(f"{number:02}.py", score) for number, score in enumerate(scores))
    return Run.of([Answer("q1", hits)], name="live", metadata=LIVE)


@given(scores=SCORES)
def test_equal_scores_descend_in_every_precision(scores: list[float]) -> None:
    ordered = in_strict_order(live(*scores))
    assert ordered.paths == live(*scores).paths
    assert all(first > second for first, second in pairwise(ordered.scores))
    assert all(first > second for first, second in pairwise(array("f", ordered.scores)))
    assert ordered.metadata == {"k": 10}
    assert in_strict_order(ordered) is ordered


def test_other_scores_stay() -> None:
    assert list(in_strict_order(live(0.3, 0.2, 0.1)).scores) == [0.3, 0.2, 0.1]
    for scores in ((nan, nan), (inf, 1.0), (1e300, 1e300)):
        assert repr(in_strict_order(live(*scores)).scores) == repr(live(*scores).scores)
    file = Run.of([Answer("q1", (Hit("a", 1.0), Hit("b", 1.0)))])
    assert in_strict_order(file) is file


@pytest.mark.parametrize("name", ["live.run", "live.jsonl", "live.json", "live.parquet"])
@pytest.mark.parametrize("ties", [None, "trec10", "trec9", "order", "best", "worst"])
def test_a_file_scores_like_the_run(tmp_path: Path, name: str, ties: str | None) -> None:
    run = live(2.0, 2.0, 1.0, 1.0, 1.0, 0.0, 0.0)
    gold = {"q1": {"00.py": 1, "03.py": 2, "06.py": 1}}
    measures = ["mrr", "ap", "ndcg@5", "precision@3"]
    expected = karat.evaluate(gold, run, measures, confidence=None)
    write(run, tmp_path / name)
    for read in (tmp_path / name, read_run(tmp_path / name)):
        evaluation = karat.evaluate(gold, read, measures, ties=ties, confidence=None)
        assert [evaluation[one] for one in measures] == [expected[one] for one in measures]
