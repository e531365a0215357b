from karat.scoring.stats.moments import relative_improvement


def test_improvement_from_zero_is_null() -> None:
    assert relative_improvement(0.5, 0.0) is None
    assert relative_improvement(0.0, 0.0) is None
    assert relative_improvement(None, 0.5) is None
    assert relative_improvement(0.5, None) is None
    assert relative_improvement(0.25, 0.5) == -0.5
