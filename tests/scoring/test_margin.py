"""Margins: non-inferiority and equivalence, decided by the interval of a difference."""

from dataclasses import replace

import numpy as np
import pytest

from karat.errors import InputError
from karat.model.comparison import IDENTICAL, Comparison, Difference, Interval
from karat.scoring.margin import MarginOutcome, margin_notes, margin_outcome, parse_margins
from karat.scoring.stats import compare


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    rng = np.random.default_rng(0)
    old = rng.uniform(0.2, 0.8, 200)
    new = old + rng.normal(0.001, 0.01, 200)
    scores = np.stack([old, new, old - 0.1 + rng.normal(0, 0.01, 200)])[:, :, None]
    return compare(scores, systems=["old", "new", "bad"], metrics=["f1"], bounds=(0, 1), draws=999)


def entry(comparison: Comparison, low: float | None, high: float | None) -> Difference:
    known = comparison.difference("old", "new", "f1")
    return replace(known, interval=Interval(low, high, 0.95, "bootstrap-t"))


@pytest.mark.parametrize(
    ("low", "high", "outcome", "if_lower"),
    [
        (-0.01, 0.01, "EQUIVALENT", "EQUIVALENT"),
        (-0.01, 0.03, "NOT_WORSE", "UNCLEAR"),
        (0.03, 0.05, "NOT_WORSE", "WORSE"),
        (-0.03, 0.01, "UNCLEAR", "NOT_WORSE"),
        (-0.05, -0.03, "WORSE", "NOT_WORSE"),
        (-0.02, 0.02, "UNCLEAR", "UNCLEAR"),
        (None, None, "UNCLEAR", "UNCLEAR"),
    ],
)
def test_outcomes(
    comparison: Comparison, low: float | None, high: float | None, outcome: str, if_lower: str
) -> None:
    known = entry(comparison, low, high)
    assert margin_outcome(known, 0.02).name == outcome
    assert margin_outcome(known, 0.02, lower=True).name == if_lower


def test_identical_systems_are_equivalent(comparison: Comparison) -> None:
    same = replace(entry(comparison, None, None), interval=Interval(None, None, 0.95, IDENTICAL))
    assert margin_outcome(same, 0.001) is MarginOutcome.EQUIVALENT


def test_a_sentence_for_each_pair_with_the_baseline(comparison: Comparison) -> None:
    new, bad = margin_notes(comparison, ["0.02"])
    assert new.startswith("margin: new and old are equivalent within 0.020 on f1 (")
    assert new.endswith("one-sided at 2.5 %, not corrected)")
    assert bad.startswith("margin: bad is worse than old by more than 0.020 on f1 (-0.1")
    assert list(margin_notes(comparison, [])) == []


@pytest.mark.parametrize("text", ["0", "-1", "x", "f1=", "nan"])
def test_margins_are_positive_numbers(text: str) -> None:
    with pytest.raises(InputError, match="expected a number above 0"):
        parse_margins([text], ["f1"])


def test_margins_name_measures_that_are_compared() -> None:
    with pytest.raises(InputError, match="'mrr' is not compared; expected f1 and ndcg@10"):
        parse_margins(["mrr=0.1"], ["f1", "ndcg@10"])
