import numpy as np
import pytest

from karat.errors import InputError
from karat.stats import bootstrap_intervals, compare, compare_by, intervals_by, slices

VALUES = np.random.default_rng(0).random((2, 40, 1))
CODES = [0, 1, 0, 1, -1] * 8
NAMES = ["standard", "hard", "unused"]


def test_each_slice_has_its_own_intervals() -> None:
    found = intervals_by(VALUES[0], codes=CODES, names=NAMES, bounds=(0, 1), draws=999)
    assert [(part.name, part.n) for part in found] == [
        ("standard", 16),
        ("hard", 16),
        ("unused", 0),
    ]
    rows = [place for place, code in enumerate(CODES) if code == 1]
    assert found[1].intervals == bootstrap_intervals(VALUES[0][rows], bounds=(0, 1), draws=999)
    assert found[2].intervals[0].method == "none"


def test_each_slice_has_its_own_comparison() -> None:
    options = {"systems": ["A", "B"], "metrics": ["mrr"], "draws": 999}
    found = compare_by(VALUES, codes=CODES, names=NAMES, **options)  # type: ignore[arg-type]
    rows = [place for place, code in enumerate(CODES) if code == 0]
    assert found[0].name == "standard"
    assert found[0].comparison == compare(VALUES[:, rows], **options)  # type: ignore[arg-type]
    assert found[2].comparison.queries == 0


def test_clusters_are_cut_like_the_scores() -> None:
    clusters = np.arange(40) // 4
    found = compare_by(
        VALUES,
        codes=CODES,
        names=NAMES[:2],
        systems=["A", "B"],
        metrics=["mrr"],
        draws=99,
        clusters=clusters,
    )
    assert [part.comparison.queries for part in found] == [16, 16]
    parts = intervals_by(VALUES[0], codes=CODES, names=NAMES[:2], draws=99, clusters=clusters)
    assert parts[0].intervals[0].method == "cluster bootstrap-t"


def test_codes_must_fit_names_and_queries() -> None:
    with pytest.raises(InputError, match="beyond the 1 names"):
        slices([0, 1], ["a"])
    with pytest.raises(InputError, match="2 axes"):
        slices([[0], [0]], ["a"])
    with pytest.raises(InputError, match="got 2 slice codes; expected 3"):
        intervals_by([0.1, 0.2, 0.3], codes=[0, 0], names=["a"])
    with pytest.raises(InputError, match="got 0 slice codes"):
        intervals_by([0.1, 0.2, 0.3], codes=0, names=["a"])
    with pytest.raises(InputError, match="2 axes; expected"):
        compare_by([[0.1]], codes=[0], names=["a"], systems=["A"], metrics=["m"])


def test_no_queries_give_empty_slices() -> None:
    assert [len(part.rows) for part in slices([], ["a", "b"])] == [0, 0]
