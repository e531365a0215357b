"""Spreads, and what designs detect: against the formula, the core and components worked by hand."""

from math import nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.extensions.plan.spread import Design, Spread, detectable, spread_of, units_needed
from karat.scoring.stats import compare

DESIGN = {"level": 0.95, "power": 0.8}


def test_the_usual_formula() -> None:
    # (1.96 + 0.8416) * 0.3 / sqrt(10000); the interval must agree, which costs 2 % of power.
    found = detectable(Spread(0.3), Design(10_000), **DESIGN)
    assert found == pytest.approx((1.95996 + 0.91537) * 0.3 / 100, rel=1e-3)


def test_a_pilot_at_its_own_size_is_the_comparison_of_the_core() -> None:
    rng = np.random.default_rng(1)
    scores = rng.uniform(size=(2, 80))
    ones = (rng.uniform(size=(2, 80)) < 0.6).astype(float)
    for values, hits in ((scores, False), (ones, True)):
        first, second = ([[value] for value in row] for row in values)
        spread = spread_of(first, second, hits=hits)
        assert spread is not None
        stated = compare(values[:, :, None], systems=["a", "b"], metrics=["m"], bounds=(0, 1))
        found = detectable(spread, Design(80), **DESIGN)
        assert found == pytest.approx(stated.differences[0].detectable)


def test_a_pilot_with_clusters_has_the_standard_error_of_the_core() -> None:
    rng = np.random.default_rng(2)
    sizes = [30, 12, 9, 5, 2, 2]
    labels = [f"c{number}" for number, size in enumerate(sizes) for _ in range(size)]
    effects = {label: rng.normal(0, 0.4) for label in set(labels)}
    first = rng.uniform(size=len(labels))
    second = (
        first + np.array([effects[label] for label in labels]) + rng.normal(0, 0.1, len(labels))
    )
    spread = spread_of([[x] for x in second], [[x] for x in first], labels)
    assert spread is not None
    values = np.stack([first, second])[:, :, None]
    stated = compare(values, systems=["a", "b"], metrics=["m"], clusters=labels)
    design = Design(6, len(labels) / 6)
    assert detectable(spread, design, **DESIGN) == pytest.approx(
        stated.differences[0].detectable, rel=1e-6
    )
    # Within them, the differences deviate by 0.1.
    assert spread.queries == pytest.approx(0.1, abs=0.02)


def test_components_by_hand() -> None:
    # Differences 1, 0, 1, 0 with a mean of 0.5: a variance of 1 / 3.
    spread = spread_of([[1], [0], [1], [0]], [[0], [0], [0], [0]])
    assert spread == Spread(sqrt(1 / 3), changed=0.5)
    # Two trials of the first system: within each query a variance of 0.5, or of 0. The means are
    # 0.5, 1, 0.5, 0 with a variance of 1 / 6, of which 0.25 / 2 is due to trials.
    spread = spread_of([[1, 0], [1, 1], [0, 1], [0, 0]], [[0, 0]] * 4)
    assert spread is not None
    assert spread.trials == pytest.approx(0.5)
    assert spread.queries == pytest.approx(sqrt(1 / 6 - 0.25 / 2))
    assert spread.of_unit(Design(4, trials=2)) == pytest.approx(sqrt(1 / 6))
    assert spread.of_unit(Design(4, trials=1)) == pytest.approx(sqrt(1 / 6 + 0.125))


def test_missing_scores_and_too_few() -> None:
    assert spread_of([[1], [nan], [0]], [[0], [0], [0]]) == spread_of([[1], [0]], [[0], [0]])
    assert spread_of([[1]], [[0]]) is None
    assert detectable(Spread(0.2), Design(1), **DESIGN) is None
    # Five changed queries are never significant.
    assert detectable(Spread(0.2, changed=0.1), Design(50), **DESIGN) is None


@given(
    st.floats(0.05, 1.0),
    st.floats(0.0, 0.5),
    st.floats(0.0, 1.0),
    st.floats(0.02, 0.4),
    st.integers(1, 20),
    st.integers(1, 5),
)
def test_what_is_needed_is_the_least_that_detects(
    queries: float, clusters: float, trials: float, difference: float, size: int, repeated: int
) -> None:
    spread, design = Spread(queries, clusters, trials), Design(1, size, repeated)
    needed = units_needed(spread, difference, design, **DESIGN)
    assert needed is not None
    found = detectable(spread, design._replace(units=needed), **DESIGN)
    assert found is not None
    assert found <= difference * (1 + 1e-6)
    fewer = detectable(spread, design._replace(units=needed - 1), **DESIGN)
    assert fewer is None or fewer > difference
    more = units_needed(spread, difference, design._replace(trials=repeated + 1), **DESIGN)
    assert more is not None
    assert more <= needed


def test_a_difference_that_no_set_detects() -> None:
    assert units_needed(Spread(1.0), 1e-6, Design(1), **DESIGN) is None
