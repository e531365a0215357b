import pytest

from karat.scoring.stats.moments import paired_effect, relative_improvement, win_tie_loss


def test_effect_by_hand() -> None:
    assert paired_effect([0.0, 1.0, 2.0]) == 1.0


@pytest.mark.parametrize("differences", [[], [0.5], [0.5, 0.5], [0.1 + 0.2, 0.3]])
def test_no_variance_has_no_effect_size(differences: list[float]) -> None:
    assert paired_effect(differences) is None


def test_win_tie_loss_counts_every_scored_query() -> None:
    assert win_tie_loss([1, 1, 0, -1, float("nan")]) == (2, 1, 1)
    assert win_tie_loss([]) == (0, 0, 0)


def test_improvement_from_zero_is_null() -> None:
    assert relative_improvement(0.5, 0.0) is None
    assert relative_improvement(0.0, 0.0) is None
    assert relative_improvement(None, 0.5) is None
    assert relative_improvement(0.5, None) is None
    assert relative_improvement(0.25, 0.5) == -0.5
