"""A file of an engine's run scores like the run, whatever rule its reader has for equal scores."""

from array import array
from itertools import pairwise
from math import inf, nan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.formats.base import in_strict_order
from karat.model import Answer, Hit, Run
from tests.formats.roundtrip import check_order_survives, live

# Equal scores, and scores that only float32 takes for equal.
SCORES = st.lists(
    st.sampled_from([3.0, 1.0 + 1e-12, 1.0, 0.0, -1e-50, -2.0, 1e30]), min_size=1, max_size=8
).map(lambda scores: sorted(scores, reverse=True))


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


@pytest.mark.parametrize("name", ["live.run", "live.jsonl", "live.json"])
@pytest.mark.parametrize("ties", [None, "trec10", "trec9", "order", "best", "worst"])
def test_a_file_scores_like_the_run(tmp_path: Path, name: str, ties: str | None) -> None:
    check_order_survives(tmp_path / name, ties)
