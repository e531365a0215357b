import math

import pytest
from scipy import stats

from karat.errors import InputError
from karat.scoring.stats.moments import check_power, reach


def detectable(sd: float, n: int) -> float:
    return reach(n - 1, level=0.95, power=0.8) * sd / math.sqrt(n)


@pytest.mark.parametrize(
    ("sd", "n", "expected"),
    [(0.2, 30, 0.106), (0.3, 30, 0.159), (0.4, 127, 0.100), (0.3, 500, 0.038), (0.2, 1_000, 0.018)],
)
def test_known_table(sd: float, n: int, expected: float) -> None:
    assert detectable(sd, n) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("n", [20, 127, 1_000])
def test_the_t_test_has_the_promised_power(n: int) -> None:
    shift = detectable(0.3, n) / 0.3 * math.sqrt(n)
    power = stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, shift)
    assert power == pytest.approx(0.8, abs=0.01)


def test_a_power_of_one_half_or_less_is_rejected() -> None:
    check_power(0.8)
    with pytest.raises(InputError, match="power"):
        check_power(0.5)
