import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from karat.scoring.stats.signflip import benjamini_hochberg, holm

ps = st.lists(st.floats(1e-6, 1), min_size=1, max_size=20)


def test_holm_by_hand() -> None:
    assert holm([0.04, 0.01, 0.03, 0.5]) == pytest.approx([0.09, 0.04, 0.09, 0.5])


def test_no_p_values_stay_none() -> None:
    assert holm([]) == []
    assert benjamini_hochberg([]) == []


@given(ps)
def test_benjamini_hochberg_agrees_with_scipy(values: list[float]) -> None:
    expected = stats.false_discovery_control(values).tolist()
    assert benjamini_hochberg(values) == pytest.approx(expected)


@given(ps)
def test_holm_lies_between_benjamini_hochberg_and_bonferroni(values: list[float]) -> None:
    rows = zip(values, benjamini_hochberg(values), holm(values), strict=True)
    for raw, weaker, corrected in rows:
        assert raw <= weaker + 1e-12
        assert weaker <= corrected + 1e-12
        assert corrected <= min(1.0, raw * len(values)) + 1e-12
