"""karat.compare_scores on rows, data frames and files."""

from pathlib import Path

import pytest

import karat
from karat.errors import InputError

ROWS = [
    {"query": f"q{n}", "system": name, "passed": n < hits, "cost": 0.1 * n}
    for n in range(10)
    for name, hits in (("old", 2), ("new", 9))
]


def test_rows_and_frames_give_one_result(tmp_path: Path) -> None:
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    pytest.importorskip("narwhals")
    polars.DataFrame(ROWS).write_csv(tmp_path / "scores.csv")
    sources = [
        ROWS,
        polars.DataFrame(ROWS),
        polars.LazyFrame(ROWS),
        pandas.DataFrame(ROWS),
        tmp_path / "scores.csv",
        [str(tmp_path / "scores.csv")],
    ]
    contests = [karat.compare_scores(source) for source in sources]
    assert contests[0]["new"]["passed"] == 0.9
    assert contests[0].comparison.lower_is_better == ("cost",)
    entries = [each.comparison.difference("old", "new", "passed") for each in contests]
    assert all(entry == entries[0] for entry in entries)
    # Seven queries improve: the sign test gives 2 / 2**7.
    assert entries[0].p == 2 / 2**7


def test_settings() -> None:
    contest = karat.compare_scores(
        ROWS, "cost", columns={"query": "query"}, lower=["passed"], margin=0.5, pairs="baseline"
    )
    assert contest.comparison.metrics == ("cost",)
    assert contest.further_tests[0].startswith("margin: new and old are equivalent within 0.500")
    with pytest.raises(InputError, match="no rows of scores"):
        karat.compare_scores([])
    with pytest.raises(InputError, match="cannot read int as scores"):
        karat.compare_scores(3)  # type: ignore[arg-type] # as a user might


def test_missing_values_of_a_frame_are_no_scores() -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("narwhals")
    frame = pandas.DataFrame(
        {"query": ["a", "a", "b", "b"], "system": ["x", "y"] * 2, "score": [1.0, 0.5, None, 0.25]}
    )
    contest = karat.compare_scores(frame)
    assert contest["x"]["score"] == 1.0
    assert contest.comparison.difference("x", "y", "score").n == 1
