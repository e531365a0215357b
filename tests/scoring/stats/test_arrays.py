import math

import numpy as np
import pytest

from karat.errors import InputError
from karat.scoring.stats.arrays import (
    as_columns,
    cluster_codes,
    cluster_sums,
    drop_missing,
    paired_differences,
)


def test_a_flat_list_is_one_column_and_a_table_stays() -> None:
    assert as_columns([1, 2, 3]).shape == (3, 1)
    assert as_columns([[1, 2], [3, 4], [5, 6]]).shape == (3, 2)


def test_wrong_shapes_and_infinite_scores_are_refused() -> None:
    with pytest.raises(InputError, match="3 axes"):
        as_columns(np.zeros((1, 1, 1)))
    with pytest.raises(InputError, match="infinite"):
        as_columns([1.0, math.inf])
    with pytest.raises(InputError, match="2 columns"):
        drop_missing([[1.0, 2.0]])


def test_missing_scores_stay_missing_and_rounding_is_no_difference() -> None:
    system = np.array([0.1 + 0.2, math.nan, 0.5, 1e-9])
    baseline = np.array([0.3, 0.1, math.nan, 0.0])
    result = paired_differences(system, baseline)
    assert result[0] == 0.0
    assert np.isnan(result[1:3]).all()
    assert result[3] == 1e-9


def test_clusters_are_numbered_and_summed() -> None:
    codes = cluster_codes(["b", "a", "b"], 3)
    sums = cluster_sums(np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]]), codes)
    assert sums.tolist() == [[2.0, 20.0], [5.0, 50.0]]


def test_clusters_must_name_every_query() -> None:
    with pytest.raises(InputError, match="one per query, 3"):
        cluster_codes(["a", "b"], 3)
