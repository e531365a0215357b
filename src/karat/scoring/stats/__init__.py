"""Confidence intervals, paired tests and corrections, over float arrays, with seeded randomness."""

from karat.scoring.stats.bootstrap import Bounds, bootstrap_intervals
from karat.scoring.stats.moments import (
    known_percentiles,
    percentiles,
    relative_improvement,
)
from karat.scoring.stats.paired import (
    LetterMark,
    Wilcoxon,
    compare,
    randomised_tukey,
    significance_letters,
    wilcoxon,
)
from karat.scoring.stats.prediction_powered import PoweredMean, prediction_powered
from karat.scoring.stats.signflip import FlipTest, benjamini_hochberg, holm, sign_flip
from karat.scoring.stats.verdict import verdict

__all__ = [
    "Bounds",
    "FlipTest",
    "LetterMark",
    "PoweredMean",
    "Wilcoxon",
    "benjamini_hochberg",
    "bootstrap_intervals",
    "compare",
    "holm",
    "known_percentiles",
    "percentiles",
    "prediction_powered",
    "randomised_tukey",
    "relative_improvement",
    "sign_flip",
    "significance_letters",
    "verdict",
    "wilcoxon",
]
